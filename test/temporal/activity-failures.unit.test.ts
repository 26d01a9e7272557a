import assert from 'node:assert/strict';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { ApiError, ledgerUnavailable, NOT_FOUND } from '../../src/core/errors.js';
import { asUuid, newId, type Uuid } from '../../src/core/ids.js';
import { uuid } from '../../src/db/columns.js';
import { activityFailure } from '../../src/temporal/activity-failures.js';

function failureOf(fault: unknown): ApplicationFailure {
  const failure = activityFailure(fault);
  assert(failure instanceof ApplicationFailure);
  return failure;
}

describe('what a history keeps of a failed activity', () => {
  it('what a history keeps of a failed activity is our own answer, which is retried unless there is nothing', () => {
    const unavailable = failureOf(ledgerUnavailable());
    assert.deepEqual([unavailable.type, unavailable.nonRetryable], ['ledger_unavailable', false]);
    const missing = failureOf(new ApiError(NOT_FOUND));
    assert.deepEqual([missing.type, missing.nonRetryable], ['not_found', true]);
  });

  it("what a history keeps of a failed activity contains nothing of a driver's message, which quotes the statement", () => {
    const fault = Object.assign(new Error("near 'Ana Pérez +573001112233'"), { errno: 1064 });
    const failure = failureOf(fault);
    assert.equal(failure.message, 'Error (1064)');
    assert.equal(failure.cause, undefined);
    assert(!JSON.stringify(failure).includes('Ana'));
  });

  it("what a history keeps of a failed activity leaves Temporal's own failures as they are", () => {
    const canceled = new CancelledFailure('canceled');
    assert.equal(activityFailure(canceled), canceled);
  });
});

describe('an id that was only claimed to be one', () => {
  const claimed = "00000000-0000-0000-0000-000000000000'; UPDATE balances SET available=1; -- ";

  it('an id that was only claimed to be one does not become SQL', () => {
    assert.throws(() => uuid.literal(claimed as Uuid), TypeError);
    assert.throws(() => uuid.literal(newId().toUpperCase() as Uuid), TypeError);
    assert.match(uuid.literal(newId()), /^X'[0-9a-f]{32}'$/);
  });

  it('an id that was only claimed to be one is refused where an activity receives it', () => {
    assert.throws(() => asUuid(claimed), TypeError);
  });
});
