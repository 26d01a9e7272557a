import assert from 'node:assert/strict';
import { instant } from '../../src/core/instant.js';
import type { Payout } from '../../src/db/entities/payouts.js';
import {
  needsDenial,
  permitsRelease,
  railFact,
  type RailFact,
  type RailRecord,
  type RailWord,
} from '../../src/payouts/rail-fact.js';
import type { ReportedOutcome } from '../../src/payouts/state-machine.js';

const SUBMITTED = instant(1_000);

/** `completed`: under the payment's own reference; `completed'`: under another; `voided-`: under none. */
function wordOf(text: string): ReportedOutcome {
  const status = text.replace(/['-]$/, '') as ReportedOutcome['status'];
  return { status, reference: text.endsWith("'") ? 'R-9' : text.endsWith('-') ? null : 'R-1' };
}
function record(words: string, lines = '', at = SUBMITTED): RailRecord {
  const all = (text: string) => text.split(' ').filter(Boolean).map(wordOf);
  return {
    words: all(words).map((word): RailWord => ({ ...word, at })),
    openLines: all(lines) as RailRecord['openLines'],
  };
}
const payout = (status: Payout['status'], railReference: string | null) => ({
  ...{ status, railReference, submittedAt: SUBMITTED },
});

describe('the fact about a payout', () => {
  const FACTS: Readonly<Record<string, RailFact>> = {
    '': 'may_pay',
    accepted: 'may_pay',
    unknown: 'may_pay',
    completed: 'paid',
    'completed accepted': 'paid',
    'completed returned': 'returned',
    'returned completed': 'returned',
    failed: 'denied',
    voided: 'denied',
    'voided-': 'denied',
    'accepted voided-': 'denied',
    'voided- unknown': 'denied',
    // The rail contradicts itself: its last report counts.
    'voided accepted': 'may_pay',
    'failed completed': 'paid',
    'completed failed': 'denied',
    'returned failed': 'denied',
    // Another reference is another payment.
    "completed'": 'may_pay',
    "accepted voided'": 'may_pay',
    "failed completed'": 'denied',
    "completed failed'": 'paid',
  };

  it("is its rail's last report of this very payment", () => {
    for (const [words, fact] of Object.entries(FACTS)) {
      const first = /^\w+'/.test(words) ? 'R-1' : null;
      for (const reference of new Set([first, 'R-1']))
        assert.equal(railFact(payout('in_progress', reference), record(words).words), fact, words);
    }
  });

  it('ignores what the rail reported before it had the payout', () => {
    for (const words of ['completed', 'voided', 'returned']) {
      const early = record(words, '', instant(SUBMITTED - 1)).words;
      assert.equal(railFact(payout('in_progress', null), early), 'may_pay');
      assert.equal(railFact({ railReference: null, submittedAt: null }, early), 'may_pay');
    }
  });

  it('money that two people give back needs a denial, unless the rail has reported the payment that came back', () => {
    const needed = (outcome: Parameters<typeof needsDenial>[0]) =>
      (['may_pay', 'denied', 'paid', 'returned'] as const).filter((fact) =>
        needsDenial(outcome, fact),
      );
    assert.deepEqual(needed('failed'), ['may_pay', 'denied', 'paid', 'returned']);
    assert.deepEqual(needed('returned'), ['may_pay', 'denied']);
    assert.deepEqual([...needed('completed'), ...needed('unchanged')], []);
  });

  it('the answer to a void gives money back only if it denies this very payment', () => {
    const DENIALS = ['failed', 'voided', 'voided-'];
    const ANSWERS = [...DENIALS, 'accepted', 'completed', 'returned', "failed'", "voided'"];
    for (const [status, reference, words, lines, outcome, permitted] of [
      ['in_progress', null, '', '', 'failed', [...DENIALS, "failed'", "voided'"]],
      ['in_progress', 'R-1', '', '', 'failed', DENIALS],
      ['in_progress', null, 'completed', '', 'failed', DENIALS],
      ['in_progress', null, '', 'completed', 'failed', DENIALS],
      ['in_progress', 'R-1', "completed'", 'failed', 'failed', DENIALS],
      ['in_progress', 'R-1', '', '', 'returned', []],
      ['completed', 'R-1', 'accepted', '', 'returned', DENIALS],
      ['completed', null, '', '', 'returned', [...DENIALS, "failed'", "voided'"]],
      ['completed', null, '', "completed'", 'returned', ['voided-', "failed'", "voided'"]],
    ] as const)
      assert.deepEqual(
        ANSWERS.filter((answer) =>
          permitsRelease(payout(status, reference), record(words, lines), outcome, wordOf(answer)),
        ).sort(),
        [...permitted].sort(),
        `${status} ${reference} [${words}] [${lines}] ${outcome}`,
      );
  });
});
