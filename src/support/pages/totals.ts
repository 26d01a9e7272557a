import { formatAmount } from '../../core/amount.js';
import { counted } from '../../core/plural.js';
import { type Content, html, type Html } from '../html.js';
import type { TenantTotals } from '../reading/totals.js';
import { type Fact, pathOf, section, table } from './layout.js';

/** Shows what each tenant moved today, with a chart of the last days. */
export function totalsSection(totals: readonly TenantTotals[]): Content {
  const rows = totals.map(({ tenant, asset, days }): readonly Fact[] => {
    const cell = (what: 'moved' | 'failed' | 'pending'): Html => {
      const today = days.at(-1);
      const raw = today?.[what] ?? 0n;
      const count = today?.[`${what}Count`] ?? 0;
      return html`<span class="amount">${formatAmount({ raw, asset })}</span>
        <span class="soft">${counted(count, 'operation')}</span>
        ${chart(
          `${what} in the last ${days.length} days`,
          what,
          days.map((day) => day[what]),
        )}`;
    };
    return [
      ['Tenant', html`<a href="${pathOf('tenants', tenant.id)}">${tenant.name}</a>`],
      ['Asset', asset],
      ['Moved', cell('moved')],
      ['Pending', cell('pending')],
      ['Failed', cell('failed')],
    ];
  });
  return (
    rows.length > 0 &&
    section('totals', 'Today, and the last 14 days', table('Totals of today by tenant', rows))
  );
}

const HEIGHT = 28;
const STEP = 10;
const BAR = 7;

/** Draws bars from the first to the last day, the largest with the full height. */
function chart(label: string, kind: string, values: readonly bigint[]): Html {
  const largest = values.reduce((one, other) => (other > one ? other : one), 1n);
  const bars = values.map((value, index) => {
    const height = value === 0n ? 1 : 2 + Number((value * BigInt(HEIGHT - 2)) / largest);
    return html`<rect
      x="${index * STEP}"
      y="${HEIGHT - height}"
      width="${BAR}"
      height="${height}"
      rx="1"
    />`;
  });
  return html`<svg
    class="chart ${kind}"
    role="img"
    aria-label="${label}"
    width="${values.length * STEP}"
    height="${HEIGHT}"
  >
    ${bars}
  </svg>`;
}
