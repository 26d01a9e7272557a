import assert from 'node:assert/strict';
import { groupBy } from '../../src/core/collections.js';
import { PAYOUT_STATUSES, type PayoutStatus } from '../../src/db/entities/payouts.js';
import {
  effectOf,
  REPORTERS,
  type ReportStatus,
  RETURNED_UNPAID,
  STATE_MACHINE,
} from '../../src/payouts/state-machine.js';
import { tableRows } from '../operating/pages.js';

const UNPAID = 'returned, never paid';

/** The effect of each report: by the rail, by a statement's line, by two people. Written by hand. */
const EXPECTED: readonly string[][] = [
  // The rail was never given it.
  ['pending_approval', 'accepted', 'conflict', '–', '–'],
  ['pending_approval', 'completed', 'conflict', 'conflict', '–'],
  ['pending_approval', 'failed', 'conflict', 'conflict', '–'],
  ['pending_approval', 'returned', 'conflict', 'conflict', '–'],
  ['pending_approval', 'voided', 'conflict', '–', '–'],
  ['pending_approval', 'unknown', 'record', '–', '–'],
  ['pending_approval', 'unchanged', '–', '–', 'clear'],
  // Its outcome is unknown: the rail decides, a statement never does, and two people may.
  ['in_progress', 'accepted', 'record', '–', '–'],
  ['in_progress', 'completed', 'complete', 'flag', 'complete'],
  ['in_progress', 'failed', 'fail', 'flag', 'fail'],
  ['in_progress', 'returned', 'complete_and_return', 'flag', 'complete_and_return'],
  ['in_progress', 'voided', 'fail', '–', '–'],
  ['in_progress', 'unknown', 'record', '–', '–'],
  ['in_progress', 'unchanged', '–', '–', '–'],
  // It was paid: it may come back, and nothing else.
  ['completed', 'accepted', 'duplicate', '–', '–'],
  ['completed', 'completed', 'duplicate', 'duplicate', '–'],
  ['completed', 'failed', 'conflict', 'conflict', '–'],
  ['completed', 'returned', 'return', 'flag', 'return'],
  ['completed', 'voided', 'conflict', '–', '–'],
  ['completed', 'unknown', 'conflict', '–', '–'],
  ['completed', 'unchanged', '–', '–', 'clear'],
  // It came back: it does so once.
  ['returned', 'accepted', 'duplicate', '–', '–'],
  ['returned', 'completed', 'duplicate', 'duplicate', '–'],
  ['returned', 'failed', 'conflict', 'conflict', '–'],
  ['returned', 'returned', 'duplicate', 'duplicate', '–'],
  ['returned', 'voided', 'conflict', '–', '–'],
  ['returned', 'unknown', 'conflict', '–', '–'],
  ['returned', 'unchanged', '–', '–', 'clear'],
  // Two people gave the money back, and the rail has reported no payment.
  [UNPAID, 'accepted', 'conflict', '–', '–'],
  [UNPAID, 'completed', 'conflict', 'conflict', '–'],
  [UNPAID, 'failed', 'duplicate', 'duplicate', '–'],
  [UNPAID, 'returned', 'duplicate', 'duplicate', '–'],
  [UNPAID, 'voided', 'duplicate', '–', '–'],
  [UNPAID, 'unknown', 'record', '–', '–'],
  [UNPAID, 'unchanged', '–', '–', 'clear'],
  // Its money was given back: only two people take it again.
  ['failed', 'accepted', 'conflict', '–', '–'],
  ['failed', 'completed', 'conflict', 'conflict', 'complete_after_failure'],
  ['failed', 'failed', 'duplicate', 'duplicate', '–'],
  ['failed', 'returned', 'conflict', 'conflict', '–'],
  ['failed', 'voided', 'duplicate', '–', '–'],
  ['failed', 'unknown', 'record', '–', '–'],
  ['failed', 'unchanged', '–', '–', 'clear'],
];
const NEVER_SUBMITTED: readonly PayoutStatus[] = [
  'pending_approval',
  'approved',
  'rejected',
  'canceled',
];
const isNeverSubmitted = (state: string): boolean =>
  NEVER_SUBMITTED.some((status) => status === state);
const REPORTS = ['accepted', 'completed', 'failed', 'returned', 'voided'] as const;

/** In the order of the page. */
const STATES = (Object.keys(STATE_MACHINE) as PayoutStatus[]).flatMap((status) =>
  status === 'returned' ? [status, UNPAID] : [status],
) as readonly (PayoutStatus | typeof UNPAID)[];
const reportsOf = (state: (typeof STATES)[number]) =>
  state === UNPAID ? RETURNED_UNPAID : STATE_MACHINE[state];

const rowOf = (state: (typeof STATES)[number], report: ReportStatus): string[] => [
  state,
  report,
  ...reportsOf(state)[report].map((effect) => effect ?? '–'),
];

describe('the state machine of payouts', () => {
  it('equals a table written by hand', () => {
    assert.deepEqual(new Set(STATES), new Set([...PAYOUT_STATUSES, UNPAID]));
    for (const status of STATES) {
      const written = isNeverSubmitted(status) ? 'pending_approval' : status;
      assert.deepEqual(
        Object.keys(reportsOf(status)).map((report) => rowOf(status, report as ReportStatus)),
        EXPECTED.filter(([first]) => first === written).map(([, ...rest]) => [status, ...rest]),
      );
    }
  });

  it('a return of which the rail has reported no payment is a state of its own', () => {
    for (const report of REPORTS)
      assert.equal(
        effectOf(
          { status: 'returned', railReference: 'R-1', wasPaid: false },
          { status: report, reference: 'R-1' },
          'rail',
        ),
        RETURNED_UNPAID[report][0],
      );
  });

  it('a report with another reference is a contradiction in every state of a payout', () => {
    for (const status of PAYOUT_STATUSES)
      for (const report of REPORTS)
        for (const reporter of REPORTERS) {
          const known = { status, railReference: 'R-1' };
          assert.equal(effectOf(known, { status: report, reference: 'R-2' }, reporter), 'conflict');
          for (const [railReference, reference] of [
            ['R-1', 'R-1'],
            ['R-1', null],
            [null, 'R-1'],
          ] as const)
            assert.equal(
              effectOf({ status, railReference }, { status: report, reference }, reporter),
              (rowOf(status, report)[2 + REPORTERS.indexOf(reporter)] ?? '–').replace(
                '–',
                'conflict',
              ),
            );
        }
  });
});

describe('docs/payouts.md', () => {
  const rows = tableRows('docs/payouts.md').map((row) =>
    row.map((cell) => cell.replaceAll('`', '')),
  );

  it('has the table of states and reports', () => {
    const head = ['State', 'Report', 'Rail', 'Statement', 'Staff'];
    const begin = rows.findIndex((row) => row.join() === head.join()) + 2;
    const shown = STATES.filter(
      (status) => status === 'pending_approval' || !isNeverSubmitted(status),
    )
      .flatMap((status) =>
        Object.keys(reportsOf(status)).map((report) => rowOf(status, report as ReportStatus)),
      )
      .filter((row) => row.slice(2).some((effect) => effect !== '–'))
      .map(([status = '', report = '', ...effects]): [string, string, ...string[]] => [
        status === 'pending_approval' ? NEVER_SUBMITTED.join(', ') : status,
        report,
        ...effects,
      ]);
    // Reports with the same effects share a line of the page.
    const lines = groupBy(shown, ([status, , ...effects]) => [status, ...effects].join('|'));
    const expected = [...lines.values()].map(([first = ['', ''], ...others]) => [
      first[0],
      [first, ...others].map(([, report]) => report).join(', '),
      ...first.slice(2),
    ]);
    assert.deepEqual(rows.slice(begin, begin + expected.length), expected);
  });

  it('explains each effect', () => {
    const begin = rows.findIndex(([first]) => first === 'Effect') + 2;
    const effects = new Set(
      EXPECTED.flatMap(([, , ...effects]) => effects).filter((effect) => effect !== '–'),
    );
    const explained = rows.slice(begin, begin + effects.size).map(([effect]) => effect);
    assert.deepEqual(new Set(explained), effects);
  });
});
