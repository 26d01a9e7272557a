import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { html } from '../../src/support/html.js';
import { totalsSection } from '../../src/support/pages/tenants.js';
import { NO_TOTALS } from '../../src/support/reading/totals.js';

describe('a chart of daily totals', () => {
  const tenant = {
    ...{ id: newId(), name: 'acme', network: null, timeZone: 'UTC', feeAccountId: null },
    ...{ policyDelayS: 0, createdAt: instant(0) },
  };
  for (const [title, moved, most] of [
    ['without movements', [0n, 0n], null],
    ['of one amount', [0n, 150_000n], '1,500.00 COPM'],
    ['of several amounts', [150_000n, 123_456_789n], '1,234,567.89 COPM'],
  ] as const)
    it(`names its first and last day and its largest amount: ${title}`, () => {
      const days = moved.map((raw, index) => ({
        ...{ ...NO_TOTALS, moved: raw, day: `2026-11-${26 + index}` },
      }));
      const { text } = html`${totalsSection([{ tenant, asset: 'COPM', days }])}`;
      const [chart = ''] = /<svg\s+class="chart moved".*?<\/svg>/s.exec(text) ?? [];
      const shown = Array.from(chart.matchAll(/<text[^>]*>([^<]*)</g), ([, one]) => one);
      const label = /aria-label="([^"]*)"/.exec(chart)?.[1];
      assert.deepEqual(shown, [
        ...(most === null ? [] : [`up to ${most} a day`]),
        '11-26',
        '11-27',
      ]);
      assert.equal(
        label,
        `moved from 2026-11-26 to 2026-11-27, up to ${most ?? '0.00 COPM'} a day`,
      );
    });
});
