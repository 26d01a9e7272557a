import { formatAmount } from '../../core/amount.js';
import type { Reader } from '../../db/database.js';
import { adjustments } from '../../db/entities/operations.js';
import { type Account, accounts } from '../../db/entities/parties.js';
import { literal } from '../../db/statements.js';
import { readAccountDetails } from '../../accounts/directory.js';
import { displayName } from '../../accounts/display-name.js';
import { type Movement, readMovements } from '../../accounts/movements.js';
import { ACCOUNT_ACTIONS } from '../actions/adjustments.js';
import { type Content, html, type Html } from '../html.js';
import { cards, facts, pathOf, section, tag, time, timeOrNull } from '../pages/layout.js';
import { adjustmentCard } from '../pages/waiting.js';
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
  async show({ database: { reader } }, account) {
    const { id, tenantId, type, name } = account;
    const names = await namesOf(reader, [account]);
    const timeZone = names.timeZone(tenantId);
    const [details, movements, own, timeline] = await Promise.all([
      readAccountDetails(reader, id),
      readMovements(reader, id, {}, null, SHOWN),
      newestAdjustments(reader, account),
      readStaffActions(reader, id, timeZone),
    ]);
    const balances = details.balances.map(
      ({ asset, available: raw, held }) =>
        html`<p>
          ${formatAmount({ raw, asset })} available, ${formatAmount({ raw: held, asset })} held
        </p>`,
    );
    return {
      title: `Account of ${displayName(type, name)}`,
      facts: [
        ['Status', tag(account.status)],
        ['Type', type],
        ['Alias', account.alias],
        ['Verified', timeOrNull(account.verifiedAt, timeZone) ?? 'no'],
        ['Balance', balances],
        [
          'Members',
          details.members.map(({ name: member, role }) => html`<p>${member} (${role})</p>`),
        ],
        ['Tenant', names.tenant(tenantId)],
        ['Opened', time(account.createdAt, timeZone)],
        ['Id', id],
      ],
      more: [
        own.length > 0 && section('adjusted', 'Adjustments', cards(own)),
        movementList(movements.items, timeZone),
      ],
      timeline,
      timeZone,
      workflow: null,
    };
  },
};

async function newestAdjustments(reader: Reader, { id }: Account): Promise<readonly Html[]> {
  const own = await reader.list(
    adjustments,
    `WHERE account_id=${literal(adjustments, 'accountId', id)}
     ORDER BY created_at DESC LIMIT 5`,
  );
  const names = await namesOf(reader, own);
  return own.map((adjustment) => adjustmentCard(adjustment, names));
}

const RESOURCE_PATHS: Readonly<Record<string, Parameters<typeof pathOf>[0]>> = {
  transfer: 'transfers',
  payout: 'payouts',
  adjustment: 'adjustments',
};

function movementList(items: readonly Movement[], timeZone: string): Content {
  const shown = items.map(
    ({ entry: { kind, raw, asset, createdAt }, counterparty, ...movement }) => {
      const heading = `${kind.replaceAll('_', ' ')}: ${formatAmount({ raw: raw < 0n ? -raw : raw, asset })}`;
      const path = RESOURCE_PATHS[movement.relatedType];
      const linked =
        path === undefined
          ? heading
          : html`<a href="${pathOf(path, movement.relatedId)}">${heading}</a>`;
      return html`<h3>${linked}</h3>
        ${facts([
          ['With', counterparty.displayName],
          ['Description', movement.description],
          ['When', time(createdAt, timeZone)],
        ])}`;
    },
  );
  return (
    shown.length > 0 && section('moved', `Movements, the newest ${shown.length}`, cards(shown))
  );
}
