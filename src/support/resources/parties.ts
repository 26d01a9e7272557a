import { listTenantAccounts, readAccountDetails } from '../../accounts/read-accounts.js';
import { displayName } from '../../accounts/recipients.js';
import { limitsOf } from '../../operations/limits.js';
import type { Movement } from '../../accounts/movements.js';
import { searchMovements } from '../../accounts/movement-search.js';
import { searchNewest } from '../../operations/list-search.js';
import {
  type AccountOperation,
  listNewest,
  type OperationList,
} from '../../operations/operation-list.js';
import { BATCHES } from '../../batches/read-batches.js';
import { bonusList } from '../../bonuses/service.js';
import { listPolicies } from '../../approvals/policies.js';
import { ASSETS, formatAmount } from '../../core/amount.js';
import { monthOf } from '../../core/instant.js';
import { pageOf, type TimePosition } from '../../core/page.js';
import type { Reader } from '../../db/database.js';
import { accountLimits } from '../../db/entities/identity.js';
import { type Hold, holds, monthTotals, MOVEMENT_KINDS } from '../../db/entities/ledger.js';
import { adjustments } from '../../db/entities/operations.js';
import { type Account, accounts, type Tenant, tenants } from '../../db/entities/parties.js';
import { webhookEndpoints } from '../../db/entities/webhooks.js';
import { olderSql, literal } from '../../db/statements.js';
import { payoutList } from '../../payouts/service.js';
import { scheduleList } from '../../transfers/schedules/service.js';
import { transferList } from '../../transfers/service.js';
import { ACCOUNT_ACTIONS } from '../actions/proposals.js';
import { noSuchPage } from '../desk.js';
import { type Content, html, withValues } from '../html.js';
import { NO_ROWS } from '../pages/export.js';
import { type ListField, RANGE_FIELDS, rangesOf, TEXT } from '../pages/filter.js';
import {
  type Fact,
  link,
  metadataFact,
  money,
  relatedLink,
  section,
  sumFact,
  tableSection,
  tag,
} from '../pages/layout.js';
import { parsePosition } from '../pages/position.js';
import { listRows, tableOf } from '../pages/rows.js';
import { CANCELED } from '../pages/statuses.js';
import { totalsSection } from '../pages/tenants.js';
import { movementText } from '../reading/ledger.js';
import { inWords } from '../reading/payouts.js';
import type { Rows } from '../reading/search.js';
import { readTotals } from '../reading/totals.js';
import { type ListOfResource, type PageContext, type ResourceKind } from './resource-kind.js';

const SHOWN_OF_ACCOUNT = 20;
const DIRECTION: ListField = { name: 'direction', label: 'Direction', choices: ['in', 'out'] };
const KIND: ListField = {
  ...{ name: 'kind', label: 'Kind' },
  choices: [...new Set(MOVEMENT_KINDS.map((kind) => kind.replace(/_(?:in|out)$/, '')))],
};

export const accountKind: ResourceKind<Account> = {
  name: 'accounts',
  subjectType: 'account',
  actions: ACCOUNT_ACTIONS,
  async find({ database: { reader } }, id) {
    const account = await reader.find(accounts, { id });
    return account?.type === 'system' ? undefined : account;
  },
  rowOf: (account) => account,
  titleOf: ({ type, name }) => `Account of ${displayName(type, name)}`,
  lists: [
    {
      name: 'movements',
      fields: [DIRECTION, KIND, TEXT, ...RANGE_FIELDS],
      async read({ id }, context, after, limit, filter) {
        if (!/^[0-9]{0,18}$/.test(after)) throw noSuchPage();
        const last = after === '' ? null : BigInt(after);
        const ranges = rangesOf(filter, context.timeZone);
        if ('fault' in ranges) return { ...NO_ROWS, ...ranges };
        const { direction = '', kind = '', text = '' } = filter;
        const kinds = MOVEMENT_KINDS.filter(
          (one) => one.startsWith(kind) && one.endsWith(direction),
        );
        if (kinds.length === 0) return NO_ROWS;
        const isOfAll = direction === '' && kind === '';
        const search = { ...ranges, kinds: isOfAll ? undefined : kinds, text };
        const { items, nextBefore } = await searchMovements(
          context.reader,
          id,
          search,
          last,
          limit,
        );
        const rows = items.map((item) => movementRow(item, context));
        const ids = items.map(({ entry }) => entry.id);
        const amounts = items.map(({ entry }) => entry);
        return { ids, rows, amounts, next: nextBefore?.toString() ?? null };
      },
    },
    // Movements are only of what was paid. These wait, or were refused, too.
    listOf('transfers', (reader, payer, ...page) =>
      listNewest(transferList, reader, paidBy(payer), ...page),
    ),
    listOf('payouts', (reader, payer, ...page) =>
      listNewest(payoutList, reader, paidBy(payer), ...page),
    ),
  ],
  async describe(account, context) {
    const { reader, time, tenant } = context;
    const { id, type } = account;
    const owner = literal(holds, 'accountId', id);
    const [details, limits, held, own] = await Promise.all([
      readAccountDetails(reader, id),
      limitSection(account, context),
      // Ids are ordered by time, and the index has them: its rows need not be read.
      reader.list(
        holds,
        `h JOIN (SELECT resource_id AS id FROM holds FORCE INDEX (account) WHERE account_id=${owner} AND remaining>0
         ORDER BY resource_id DESC LIMIT ${SHOWN_OF_ACCOUNT}) newest ON newest.id=h.resource_id ORDER BY h.resource_id DESC`,
      ),
      reader.list(adjustments, `WHERE account_id=${owner} ORDER BY created_at DESC LIMIT 5`),
    ]);
    const [last] = own;
    const adjusted = await tableOf(context, 'adjustments', own, { without: 'Tenant' });
    return {
      status: tag(account.status),
      facts: [
        ['Type', type],
        ['Alias', account.alias],
        ['Phone', account.phone !== null && `****${account.phone.slice(-4)}`],
        ['Verified', time(account.verifiedAt) ?? 'no'],
        metadataFact(account.metadata),
        [
          'Members',
          details.members.map(({ name: member, role }) => html`<p>${member} (${role})</p>`),
        ],
        tenant,
        ['Opened', time(account.createdAt)],
      ],
      beforeLists: tableSection('balances', 'Balances', details.balances, (balance) => [
        ['Asset', balance.asset],
        sumFact('Available', balance.available, balance.asset),
        sumFact('Held', balance.held, balance.asset),
        sumFact('Total', balance.available + balance.held, balance.asset),
      ]),
      afterLists: [
        tableSection('holds', 'Newest holds', held, (hold) => holdRow(hold, context)),
        limits,
        adjusted && section('adjusted', 'Newest adjustments', adjusted),
      ],
      made: last && link('adjustments', last.id, `Adjustment of ${formatAmount(last)}`),
    };
  },
};

function paidBy({ id: sourceAccountId, tenantId }: Account) {
  return { sourceAccountId, tenantId };
}

function holdRow(hold: Hold, { time }: PageContext): readonly Fact[] {
  const { resourceId, resourceType, asset } = hold;
  return [
    ['For', relatedLink(resourceType, resourceId, inWords(resourceType))],
    sumFact('Placed', hold.raw, asset),
    sumFact('Still held', hold.remaining, asset),
    ['Since', time(hold.createdAt)],
    ['Expires', time(hold.expiresAt)],
  ];
}

async function limitSection(
  account: Account,
  { reader, now, timeZone }: PageContext,
): Promise<Content> {
  const { name: month } = monthOf(now, timeZone);
  const accountId = account.id;
  const [own, used, policies] = await Promise.all([
    reader.select(accountLimits, { accountId }),
    reader.select(monthTotals, { accountId, month }),
    listPolicies(reader, accountId, now),
  ]);
  return tableSection('limits', 'Limits', ASSETS, (asset) => {
    const set = own.find((one) => one.asset === asset);
    const limits = limitsOf(account, asset, set);
    const policy = policies.find((one) => one.asset === asset);
    return [
      ['Asset', asset],
      sumFact('Smallest amount', limits.minimum, asset),
      sumFact('Largest amount', limits.maximum, asset),
      sumFact('Per month', limits.month, asset),
      sumFact(`Used in ${month}`, used.find((one) => one.asset === asset)?.used ?? 0n, asset),
      ['Set for', set === undefined ? 'all accounts of this type' : 'this account'],
      [
        'Approvals needed',
        policy && `${policy.approvals}, from ${formatAmount({ raw: policy.threshold, asset })} on`,
      ],
    ];
  });
}

function movementRow(movement: Movement, { time }: PageContext): readonly Fact[] {
  const { kind, raw, asset, totalAfter, createdAt } = movement.entry;
  const { relatedType, relatedId } = movement;
  const text = movementText(movement).replace(/ (?:in|out)$/, '');
  const shown = relatedLink(relatedType, relatedId, text);
  return [
    ['Movement', withValues(html`${shown}`, { '': kind, 'Related id': relatedId })],
    ['Direction', raw < 0n ? 'out' : 'in'],
    ['Amount', money({ raw, asset }, raw < 0n ? '' : '+'), 'number'],
    sumFact('Balance after', totalAfter, asset),
    ['With', movement.counterparty.displayName],
    ['Description', movement.description],
    ['Time', time(createdAt)],
  ];
}

type OperationKind = 'transfers' | 'schedules' | 'bonuses' | 'payouts' | 'batches';

/** Returns a list of the tenant's operations of a kind, with a filter. */
function operationsOf<K extends OperationKind>(
  name: K,
  list: Pick<OperationList<Rows[K] & AccountOperation>, 'table' | 'statuses' | 'amountColumn'>,
): ListOfResource<Tenant> {
  const isOfTransfers = name === 'transfers';
  const statuses = isOfTransfers ? [...list.statuses, CANCELED] : list.statuses;
  const status = { name: 'status', label: 'Status', choices: statuses };
  return {
    name,
    fields: [...(statuses.length === 0 ? [] : [status]), TEXT, ...RANGE_FIELDS],
    async read({ id: tenantId }, context, after, limit, filter) {
      const ranges = rangesOf(filter, context.timeZone);
      if ('fault' in ranges) return { ...NO_ROWS, ...ranges };
      const status = statuses.find((one) => one === filter.status);
      if (status === undefined && (filter.status ?? '') !== '')
        return { ...NO_ROWS, fault: `"${filter.status}" is not a status.` };
      const isCanceled = status === CANCELED;
      const search = {
        ...{ ...ranges, tenantId, text: filter.text ?? '' },
        status: isOfTransfers && isCanceled ? 'rejected' : status,
        ...(isOfTransfers && (isCanceled || status === 'rejected') && { isCanceled }),
      };
      const position = parsePosition(after);
      const { items, next } = await searchNewest(list, context.reader, search, position, limit);
      return listRows(context, name, items, next, { without: 'Tenant' });
    },
  };
}

/** Returns a list of the party's resources of a kind. */
function listOf<Party, K extends keyof Rows>(
  name: K,
  read: (
    reader: Reader,
    party: Party,
    limit: number,
    before: TimePosition | null,
  ) => Promise<readonly (Rows[K] & TimePosition)[]>,
): ListOfResource<Party> {
  return {
    name,
    async read(party, context, after, limit) {
      const found = await read(context.reader, party, limit + 1, parsePosition(after));
      const { items, next } = pageOf(found, limit);
      return listRows(context, name, items, next, { without: 'Tenant' });
    },
  };
}

export const tenantKind: ResourceKind<Tenant> = {
  name: 'tenants',
  subjectType: 'tenant',
  actions: [],
  find: ({ database: { reader } }, id) => reader.find(tenants, { id }),
  rowOf: ({ id }) => ({ id, tenantId: id }),
  titleOf: ({ name }) => `Tenant ${name}`,
  lists: [
    operationsOf('transfers', transferList),
    operationsOf('schedules', scheduleList),
    operationsOf('bonuses', bonusList),
    operationsOf('payouts', payoutList),
    operationsOf('batches', BATCHES),
    listOf('endpoints', (reader, { id: tenantId }, limit, before) =>
      reader.list(
        webhookEndpoints,
        `FORCE INDEX (tenant) WHERE tenant_id=${literal(webhookEndpoints, 'tenantId', tenantId)}
         ${before === null ? '' : `AND ${olderSql(webhookEndpoints.name, before)}`}
         AND status<>'deleted' ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
      ),
    ),
    listOf('accounts', (reader, { id }, ...page) => listTenantAccounts(reader, id, ...page)),
  ],
  async describe({ id, network, createdAt }, { reader, now, timeZone, time }) {
    return {
      status: '',
      facts: [
        ['Time zone', timeZone],
        ['Network', network ?? 'none'],
        ['Opened', time(createdAt)],
      ],
      beforeLists: totalsSection(await readTotals(reader, [id], now)),
    };
  },
};
