import { readAccountDetails } from '../../accounts/directory.js';
import { displayName } from '../../accounts/identifiers.js';
import { limitsOf } from '../../accounts/limits.js';
import { type Movement, readMovements } from '../../accounts/movements.js';
import { ASSETS } from '../../core/amount.js';
import { monthOf } from '../../core/calendar.js';
import { accountLimits } from '../../db/entities/identity.js';
import { type Balance, type Hold, holds, monthTotals } from '../../db/entities/ledger.js';
import { adjustments } from '../../db/entities/operations.js';
import { type Account, accounts } from '../../db/entities/parties.js';
import { literal } from '../../db/statements.js';
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
import type { PageContext, ResourceKind } from './resource-kind.js';

const SHOWN = 20;

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
        `FORCE INDEX (account) WHERE account_id=${owner} AND remaining>0 LIMIT ${SHOWN}`,
      ),
      readMovements(reader, id, {}, null, SHOWN),
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
