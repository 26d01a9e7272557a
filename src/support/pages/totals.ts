import { type Asset, formatAmount } from '../../core/amount.js';
import { counted } from '../../core/collections.js';
import { type Content, html, type Html } from '../html.js';
import { NO_TOTALS, type TenantTotals } from '../reading/totals.js';
import { type Fact, link, money, section, table } from './layout.js';

/** Shows what each tenant moved today, with a chart of the last days. */
export function totalsSection(totals: readonly TenantTotals[]): Content {
  const rows = totals.map(({ tenant, asset, days }): readonly Fact[] => {
    const cell = (what: 'moved' | 'failed' | 'pending'): Html => {
      const { [what]: raw, [`${what}Count` as const]: count } = days.at(-1) ?? NO_TOTALS;
      return html`${money(raw, asset)}
        <span class="soft">${counted(count, 'operation')}</span>
        ${chart(what, asset, days)}`;
    };
    return [
      ['Tenant', link('tenants', tenant.id, tenant.name)],
      ['Asset', asset],
      ['Moved', cell('moved')],
      ['Pending', cell('pending')],
      ['Failed', cell('failed')],
    ];
  });
  const heading = 'Today, and the last 14 days';
  const meaning = html`<p class="soft">
    Days begin at midnight of the tenant. Failed includes what was rejected or expired. A returned
    payout counts as moved on the day it was paid, and as failed on the day it came back.
  </p>`;
  return (
    rows.length > 0 &&
    section('totals', heading, [meaning, table('Totals of today by tenant', rows)])
  );
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
    return html`<rect
      x="${index * STEP}"
      y="${LINE + HEIGHT - height}"
      width="${BAR}"
      height="${height}"
      rx="1"
    />`;
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
