import { type Asset, ASSETS, formatAmount } from '../../core/amount.js';
import { monthOf } from '../../core/calendar.js';
import type { Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { accountLimits } from '../../db/entities/identity.js';
import { holds, monthTotals } from '../../db/entities/ledger.js';
import { adjustments } from '../../db/entities/operations.js';
import { type Account, accounts } from '../../db/entities/parties.js';
import { literal } from '../../db/statements.js';
import { type AccountDetails, readAccountDetails } from '../../accounts/directory.js';
import { displayName } from '../../accounts/display-name.js';
import { limitsOf } from '../../accounts/limits.js';
import { type Movement, readMovements } from '../../accounts/movements.js';
import { ACCOUNT_ACTIONS } from '../actions/adjustments.js';
import { type Content, html } from '../html.js';
import {
  type Fact,
  idText,
  pathOf,
  type ResourcePath,
  section,
  table,
  tag,
  tenantFact,
  time,
  timeOrNull,
} from '../pages/layout.js';
import { tableOf } from '../pages/rows.js';
import { namesOf } from '../reading/names.js';
import { readStaffActions } from '../reading/timeline.js';
import type { ResourceKind } from './resource-kind.js';

const SHOWN = 20;

export const accountKind: ResourceKind<Account> = {
  name: 'accounts',
  actions: ACCOUNT_ACTIONS,
  async find({ database: { reader } }, id) {
    const account = await reader.find(accounts, { id });
    return account?.type === 'system' ? undefined : account;
  },
  subjectOf: ({ id, tenantId }) => ({ id, tenantId, subjectType: 'account' }),
  async show({ database: { reader }, clock }, account) {
    const { id, tenantId, type, name } = account;
    const names = await namesOf(reader, [account]);
    const timeZone = names.timeZone(tenantId);
    const now = clock();
    const [details, limits, held, movements, own, timeline] = await Promise.all([
      readAccountDetails(reader, id),
      limitRows(reader, account, now, timeZone),
      holdRows(reader, account, timeZone),
      readMovements(reader, id, {}, null, SHOWN),
      newestAdjustments(reader, account),
      readStaffActions(reader, id, timeZone),
    ]);
    return {
      title: `Account of ${displayName(type, name)}`,
      status: tag(account.status),
      facts: [
        ['Type', type],
        ['Alias', account.alias],
        ['Verified', timeOrNull(account.verifiedAt, timeZone) ?? 'no'],
        [
          'Members',
          details.members.map(({ name: member, role }) => html`<p>${member} (${role})</p>`),
        ],
        tenantFact(tenantId, names.tenant(tenantId)),
        ['Opened', time(account.createdAt, timeZone)],
        ['Id', idText(id)],
      ],
      more: [
        listed('balances', 'Balances', balanceRows(details)),
        listed('holds', `Holds, the newest ${held.length}`, held),
        listed('limits', 'Limits', limits),
        listed('moved', `Movements, the newest ${movements.items.length}`, [
          ...movements.items.map((movement) => movementRow(movement, timeZone)),
        ]),
        own.length > 0 &&
          section(
            'adjusted',
            `Adjustments, the newest ${own.length}`,
            await tableOf(reader, now, 'adjustments', 'Adjustments', own),
          ),
      ],
      timeline,
      timeZone,
      workflow: null,
    };
  },
};

function listed(id: string, heading: string, rows: readonly (readonly Fact[])[]): Content {
  return rows.length > 0 && section(id, heading, table(heading, rows));
}

function money(raw: bigint, asset: Asset): Content {
  return html`<span class="amount">${formatAmount({ raw, asset })}</span>`;
}

function balanceRows({ balances }: AccountDetails): readonly (readonly Fact[])[] {
  return balances.map(({ asset, available, held }) => [
    ['Asset', asset],
    ['Available', money(available, asset)],
    ['Held', money(held, asset)],
    ['Total', money(available + held, asset)],
  ]);
}

/** Shows holds that still hold money, in the order of the index. */
async function holdRows(
  reader: Reader,
  { id }: Account,
  timeZone: string,
): Promise<readonly (readonly Fact[])[]> {
  const owner = literal(holds, 'accountId', id);
  const own = await reader.list(
    holds,
    `FORCE INDEX (account) WHERE account_id=${owner} AND remaining>0 LIMIT ${SHOWN}`,
  );
  return own.map(({ resourceId, resourceType, asset, raw, remaining, createdAt, expiresAt }) => [
    ['For', related(resourceType, resourceId, resourceType.replaceAll('_', ' '))],
    ['Placed', money(raw, asset)],
    ['Still held', money(remaining, asset)],
    ['Since', time(createdAt, timeZone)],
    ['Expires', timeOrNull(expiresAt, timeZone)],
  ]);
}

async function limitRows(
  reader: Reader,
  account: Account,
  now: Instant,
  timeZone: string,
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

async function newestAdjustments(reader: Reader, { id }: Account) {
  return reader.list(
    adjustments,
    `WHERE account_id=${literal(adjustments, 'accountId', id)}
     ORDER BY created_at DESC LIMIT 5`,
  );
}

const RESOURCE_PATHS: Readonly<Record<string, ResourcePath>> = {
  transfer: 'transfers',
  payout: 'payouts',
  adjustment: 'adjustments',
  bonus_batch: 'batches',
};

function related(type: string, id: string, text: string): Content {
  const path = RESOURCE_PATHS[type];
  return path === undefined ? text : html`<a href="${pathOf(path, id)}">${text}</a>`;
}

function movementRow(movement: Movement, timeZone: string): readonly Fact[] {
  const { kind, raw, asset, totalAfter, createdAt } = movement.entry;
  return [
    ['Movement', related(movement.relatedType, movement.relatedId, kind.replaceAll('_', ' '))],
    ['Amount', money(raw, asset)],
    ['Balance after', money(totalAfter, asset)],
    ['With', movement.counterparty.displayName],
    ['Description', movement.description],
    ['Time', time(createdAt, timeZone)],
  ];
}
