import { type Asset, formatAmount } from '../../core/amount.js';
import { counted } from '../../core/collections.js';
import { tenants } from '../../db/entities/parties.js';
import { literal } from '../../db/statements.js';
import type { SignedInPerson } from '../desk.js';
import { type Content, element, html, type Html } from '../html.js';
import { type TenantTotals, todayOf } from '../reading/totals.js';
import type { ReadRows } from './export.js';
import { type Fact, link, money, type Page, section, table } from './layout.js';
import { listContent, type PageOfList } from './list.js';
import { listRows, type View } from './rows.js';

/** Reads tenants by their names. The position is the last name, as base64. */
export function readTenants(view: View): ReadRows {
  return async (after, limit) => {
    const last = Buffer.from(after, 'base64url').toString();
    const found = await view.reader.list(
      tenants,
      `WHERE name>${literal(tenants, 'name', last)} ORDER BY name LIMIT ${limit + 1}`,
    );
    const items = found.slice(0, limit);
    const { ids, rows } = await listRows(view, 'tenants', items, null);
    const next = Buffer.from(items.at(-1)?.name ?? '').toString('base64url');
    return { ids, rows, next: found.length > limit ? next : null };
  };
}

export async function tenantsPage(
  view: View,
  place: PageOfList,
  person: SignedInPerson,
): Promise<Page> {
  const list = { path: '/tenants', filter: {}, ...place, person, now: view.now };
  return { title: 'Tenants', content: html`${await listContent(list, readTenants(view))}` };
}

/** Shows what each tenant moved today, with a chart of the last days. */
export function totalsSection(totals: readonly TenantTotals[]): Content {
  const rows = table(totals, ({ tenant, asset, days }) => {
    const cell = (label: string, what: 'moved' | 'failed' | 'pending'): Fact => {
      const { [what]: raw, [`${what}Count` as const]: count } = todayOf(days);
      const operations = html`<span class="soft">${counted(count, 'operation')}</span>`;
      return [label, [money({ raw, asset }), ' ', operations, chart(what, asset, days)], 'number'];
    };
    return [
      ['Tenant', link('tenants', tenant.id, tenant.name)],
      cell('Moved', 'moved'),
      cell('Pending', 'pending'),
      cell('Failed', 'failed'),
    ];
  });
  const heading = 'Today, and the last 14 days';
  const meaning = html`<p class="soft">
    Days begin at midnight of the tenant. Failed includes what was rejected or expired. A returned
    payout counts as moved on the day it was paid, and as failed on the day it came back.
  </p>`;
  return totals.length > 0 && section('totals', heading, [meaning, rows]);
}

const HEIGHT = 28;
const STEP = 12;
const BAR = 9;
/** Height of a line of text above and below the bars. */
const LINE = 13;

/** Draws bars from the first to the last day, the largest with the full height and its amount. */
function chart(
  what: 'moved' | 'failed' | 'pending',
  asset: Asset,
  days: TenantTotals['days'],
): Html {
  const values = days.map((day) => day[what]);
  const largest = values.reduce((one, other) => (other > one ? other : one), 0n);
  const bars = values.map((value, index) => {
    const height = value === 0n ? 1 : 2 + Number((value * BigInt(HEIGHT - 2)) / largest);
    const place = { x: index * STEP, y: LINE + HEIGHT - height, width: BAR };
    return element('rect', { ...place, height, rx: 1 }, '');
  });
  const most = `up to ${formatAmount({ raw: largest, asset })} a day`;
  const [first = '', last = ''] = [days.at(0)?.day, days.at(-1)?.day];
  const [width, height] = [values.length * STEP, HEIGHT + 2 * LINE];
  return html`<svg
    class="chart ${what}"
    role="img"
    aria-label="${what} from ${first} to ${last}, ${most}"
    width="${width}"
    height="${height}"
  >
    ${largest > 0n && html`<text y="${LINE - 4}">${most}</text>`} ${bars}
    <text y="${height - 2}">${first.slice(5)}</text>
    <text x="${width}" y="${height - 2}" text-anchor="end">${last.slice(5)}</text>
  </svg>`;
}
