import { listAccounts, readAccountDetails } from '../../accounts/directory.js';
import { displayName } from '../../accounts/identifiers.js';
import { limitsOf } from '../../accounts/limits.js';
import { type Movement, readMovements } from '../../accounts/movements.js';
import { listNewest } from '../../accounts/operation-list.js';
import { batchList } from '../../batches/read-batches.js';
import { ASSETS } from '../../core/amount.js';
import { monthOf } from '../../core/calendar.js';
import { accountLimits } from '../../db/entities/identity.js';
import { type Balance, type Hold, holds, monthTotals } from '../../db/entities/ledger.js';
import { adjustments } from '../../db/entities/operations.js';
import { type Account, accounts, type Tenant, tenants } from '../../db/entities/parties.js';
import { webhookEndpoints } from '../../db/entities/webhooks.js';
import { literal } from '../../db/statements.js';
import { payoutList } from '../../payouts/service.js';
import { transferList } from '../../transfers/service.js';
import { ACCOUNT_ACTIONS } from '../actions/adjustments.js';
import { type Content, html } from '../html.js';
import {
  type Fact,
  link,
  money,
  type ResourcePath,
  section,
  tableSection,
  tag,
} from '../pages/layout.js';
import { tableOf } from '../pages/rows.js';
import { totalsSection } from '../pages/totals.js';
import type { Rows } from '../reading/search.js';
import { readTotals } from '../reading/totals.js';
import type { PageContext, ResourceKind } from './resource-kind.js';

const SHOWN_OF_ACCOUNT = 20;

export const accountKind: ResourceKind<Account> = {
  name: 'accounts',
  subjectType: 'account',
  actions: ACCOUNT_ACTIONS,
  async find({ database: { reader } }, id) {
    const account = await reader.find(accounts, { id });
    return account?.type === 'system' ? undefined : account;
  },
  rowOf: (account) => account,
  async describe(account, context) {
    const { reader, now, time, tenant } = context;
    const { id, type, name } = account;
    const owner = literal(holds, 'accountId', id);
    const [details, limits, held, movements, own] = await Promise.all([
      readAccountDetails(reader, id),
      limitRows(account, context),
      reader.list(
        holds,
        `FORCE INDEX (account) WHERE account_id=${owner} AND remaining>0
         ORDER BY created_at DESC LIMIT ${SHOWN_OF_ACCOUNT}`,
      ),
      readMovements(reader, id, {}, null, SHOWN_OF_ACCOUNT),
      reader.list(adjustments, `WHERE account_id=${owner} ORDER BY created_at DESC LIMIT 5`),
    ]);
    const moved = movements.items.map((movement) => movementRow(movement, context));
    return {
      title: `Account of ${displayName(type, name)}`,
      status: tag(account.status),
      facts: [
        ['Type', type],
        ['Alias', account.alias],
        ['Verified', time(account.verifiedAt) ?? 'no'],
        [
          'Members',
          details.members.map(({ name: member, role }) => html`<p>${member} (${role})</p>`),
        ],
        tenant,
        ['Opened', time(account.createdAt)],
      ],
      before: [
        tableSection('balances', 'Balances', details.balances.map(balanceRow)),
        tableSection(
          'holds',
          `Holds, the newest ${held.length}`,
          held.map((hold) => holdRow(hold, context)),
        ),
        tableSection('limits', 'Limits', limits),
        tableSection('moved', `Movements, the newest ${moved.length}`, moved),
        own.length > 0 &&
          section(
            'adjusted',
            `Adjustments, the newest ${own.length}`,
            await tableOf(reader, now, 'adjustments', 'Adjustments', own),
          ),
      ],
    };
  },
};

function balanceRow({ asset, available, held }: Balance): readonly Fact[] {
  return [
    ['Asset', asset],
    ['Available', money(available, asset)],
    ['Held', money(held, asset)],
    ['Total', money(available + held, asset)],
  ];
}

function holdRow(hold: Hold, { time }: PageContext): readonly Fact[] {
  const { resourceId, resourceType, asset } = hold;
  return [
    ['For', related(resourceType, resourceId, resourceType)],
    ['Placed', money(hold.raw, asset)],
    ['Still held', money(hold.remaining, asset)],
    ['Since', time(hold.createdAt)],
    ['Expires', time(hold.expiresAt)],
  ];
}

async function limitRows(
  account: Account,
  { reader, now, timeZone }: PageContext,
): Promise<readonly (readonly Fact[])[]> {
  const { name: month } = monthOf(now, timeZone);
  const accountId = account.id;
  const [own, used] = await Promise.all([
    reader.select(accountLimits, { accountId }),
    reader.select(monthTotals, { accountId, month }),
  ]);
  return ASSETS.map((asset) => {
    const set = own.find((one) => one.asset === asset);
    const limits = limitsOf(account, asset, set);
    return [
      ['Asset', asset],
      ['Smallest', money(limits.minimum, asset)],
      ['Largest', money(limits.maximum, asset)],
      ['Month', money(limits.month, asset)],
      [`Used in ${month}`, money(used.find((one) => one.asset === asset)?.used ?? 0n, asset)],
      ['Set by', set === undefined ? 'the type of account' : 'staff for this account'],
    ];
  });
}

const RESOURCE_PATHS: Readonly<Record<string, ResourcePath>> = {
  transfer: 'transfers',
  payout: 'payouts',
  adjustment: 'adjustments',
  bonus_batch: 'batches',
};

/** Links to the resource if it has a page. `code` becomes the text. */
function related(type: string, id: string, code: string): Content {
  const path = RESOURCE_PATHS[type];
  const text = code.replaceAll('_', ' ');
  return path === undefined ? text : link(path, id, text);
}

function movementRow(movement: Movement, { time }: PageContext): readonly Fact[] {
  const { kind, raw, asset, totalAfter, createdAt } = movement.entry;
  return [
    ['Movement', related(movement.relatedType, movement.relatedId, kind)],
    ['Amount', money(raw, asset)],
    ['Balance after', money(totalAfter, asset)],
    ['With', movement.counterparty.displayName],
    ['Description', movement.description],
    ['Time', time(createdAt)],
  ];
}

const SHOWN_OF_TENANT = 10;

export const tenantKind: ResourceKind<Tenant> = {
  name: 'tenants',
  subjectType: 'tenant',
  actions: [],
  find: ({ database: { reader } }, id) => reader.find(tenants, { id }),
  rowOf: ({ id }) => ({ id, tenantId: id }),
  async describe({ id, name, network, createdAt }, { reader, now, timeZone, time }) {
    const listOf = async <K extends keyof Rows>(
      kind: K,
      heading: string,
      rows: readonly Rows[K][],
    ): Promise<Content> =>
      rows.length > 0 && section(kind, heading, await tableOf(reader, now, kind, heading, rows));
    const [totals, ofTransfers, ofPayouts, batches, own, endpoints] = await Promise.all([
      readTotals(reader, [id], now),
      listNewest(transferList, reader, { tenantId: id }, SHOWN_OF_TENANT),
      listNewest(payoutList, reader, { tenantId: id }, SHOWN_OF_TENANT),
      listNewest(batchList, reader, { tenantId: id }, SHOWN_OF_TENANT),
      listAccounts(reader, id, SHOWN_OF_TENANT),
      reader.list(
        webhookEndpoints,
        `FORCE INDEX (tenant) WHERE tenant_id=${literal(webhookEndpoints, 'tenantId', id)}
         AND status<>'deleted' ORDER BY created_at DESC, id DESC LIMIT ${SHOWN_OF_TENANT}`,
      ),
    ]);
    return {
      title: name,
      status: '',
      facts: [
        ['Time zone', timeZone],
        ['Network', network ?? 'none'],
        ['Opened', time(createdAt)],
      ],
      before: [
        totalsSection(totals),
        await listOf('transfers', 'Newest transfers', ofTransfers),
        await listOf('payouts', 'Newest payouts', ofPayouts),
        await listOf('batches', 'Newest batches', batches),
        await listOf('endpoints', 'Webhook endpoints', endpoints),
        await listOf('accounts', 'Newest accounts', own),
      ],
      hidesEmptyTimeline: true,
    };
  },
};
