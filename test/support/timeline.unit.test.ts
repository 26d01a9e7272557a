import assert from 'node:assert/strict';
import { detailLines } from '../../src/support/reading/timeline.js';

describe("the timeline of a resource's page", () => {
  for (const [title, details, expected] of [
    [
      'an approval policy',
      {
        ...{ asset: 'COPM', threshold: '1000000', approvals: 2 },
        ...{
          expires_in_s: 5_400,
          refuses_batches: false,
          effective_at: '2026-11-20T17:00:00.000Z',
        },
      },
      [
        'asset: COPM',
        'needs approval from: 10,000.00 COPM',
        'approvals needed: 2',
        'expires after: 90 minutes',
        'refuses batches that need approval: no',
        'takes effect: 2026-11-20 12:00:00 UTC-05:00',
      ],
    ],
    [
      'limits',
      { asset: 'DUSD', minimum: '1', maximum: null, month: '2000000' },
      ['asset: DUSD', 'smallest amount: 0.000001 DUSD', 'most in a month: 2.000000 DUSD'],
    ],
    [
      'what was before',
      {
        ...{ asset: 'COPM', threshold: '20,000.00 COPM', threshold_before: '10,000.00 COPM' },
        expires_in_s_before: 60,
      },
      [
        ...['asset: COPM', 'needs approval from: 20,000.00 COPM'],
        ...['needs approval from (before): 10,000.00 COPM', 'expires after (before): 1 minute'],
      ],
    ],
    ['an amount without its asset', { raw: '1000' }, ['amount: 1000']],
    ['an amount that is not a number', { asset: 'COPM', raw: 'x' }, ['asset: COPM', 'amount: x']],
    ['whole days', { expires_in_s: 604_800 }, ['expires after: 7 days']],
    ['empty values', { reason: '', previous: null }, []],
    ['other names', { proposed_by: 'leo' }, ['proposed by: leo']],
  ] as const)
    it(`describes recorded actions: ${title}`, () => {
      assert.deepEqual(detailLines(details, 'America/Bogota'), expected);
    });
});
