import { formatAmount, isAsset } from '../../core/amount.js';
import { string } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { adjustments } from '../../db/entities/operations.js';
import { type Account, accounts, tenants } from '../../db/entities/parties.js';
import { literal } from '../../db/statements.js';
import { readAccountDetails } from '../../accounts/directory.js';
import { displayName } from '../../accounts/display-name.js';
import { readMovements } from '../../accounts/movements.js';
import { ACCOUNT_ACTS } from '../acts/adjustments.js';
import { type Content, html, type Html } from '../html.js';
import { cards, facts, pathOf, section, tag, time, timeOrNull } from '../pages/layout.js';
import { adjustmentCard } from '../pages/waiting.js';
import { namesOf } from '../reading/names.js';
import { readActs } from '../reading/story.js';
import type { Shelf } from './shelf.js';

const SHOWN = 20;

export const accountShelf: Shelf<Account> = {
  name: 'accounts',
  acts: ACCOUNT_ACTS,
  async find({ database: { reader } }, id) {
    const account = await reader.find(accounts, { id });
    return account?.type === 'system' ? undefined : account;
  },
  subjectOf: ({ id, tenantId }) => ({ id, tenantId, subjectType: 'account' }),
  async show({ database: { reader } }, account) {
    const { id, tenantId, type, name } = account;
    const [details, tenant, movements, own, story] = await Promise.all([
      readAccountDetails(reader, id),
      reader.find(tenants, { id: tenantId }),
      readMovements(reader, id, {}, null, SHOWN),
      newestAdjustments(reader, account),
      readActs(reader, id),
    ]);
    const balances = details.balances.map(
      ({ asset, available: raw, held }) =>
        html`<p>${formatAmount({ raw, asset })} available, ${formatAmount({ raw: held, asset })} held</p>`,
    );
    return {
      title: `Account of ${displayName(type, name)}`,
      facts: [
        ['Status', tag(account.status)],
        ['Type', type],
        ['Alias', account.alias],
        ['Verified', timeOrNull(account.verifiedAt) ?? 'no'],
        ['Balance', balances],
        ['Members', details.members.map(({ name: member, role }) => html`<p>${member} (${role})</p>`)],
        ['Tenant', tenant?.name ?? tenantId],
        ['Opened', time(account.createdAt)],
        ['Id', id],
      ],
      more: [own.length > 0 && section('adjusted', 'Adjustments', cards(own)), movementList(movements.items)],
      story,
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

const SHELVES: Readonly<Record<string, Parameters<typeof pathOf>[0]>> = {
  transfer: 'transfers',
  payout: 'payouts',
  adjustment: 'adjustments',
};

function movementList(items: Awaited<ReturnType<typeof readMovements>>['items']): Content {
  const shown = items.map((item) => {
    const sum = item.amount as { readonly raw: string; readonly asset: string };
    const related = item.related as { readonly type: string; readonly id: string };
    const counterparty = item.counterparty as { readonly display_name: string };
    const shelf = SHELVES[related.type];
    const heading = `${string.parse(item.kind).replaceAll('_', ' ')}: ${isAsset(sum.asset) ? formatAmount({ raw: BigInt(sum.raw), asset: sum.asset }) : sum.raw}`;
    const linked = shelf === undefined ? heading : html`<a href="${pathOf(shelf, related.id)}">${heading}</a>`;
    return html`<h3>${linked}</h3>
      ${facts([
        ['With', counterparty.display_name],
        ['Description', item.description === null ? null : string.parse(item.description)],
        ['When', string.parse(item.created_at)],
      ])}`;
  });
  return shown.length > 0 && section('moved', `Movements, the newest ${shown.length}`, cards(shown));
}
