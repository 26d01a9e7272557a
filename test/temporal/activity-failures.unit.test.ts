import assert from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/common';
import { ApiError, ledgerUnavailable, NOT_FOUND } from '../../src/core/errors.js';
import { activityFailure } from '../../src/temporal/failures.js';

function failureOf(fault: unknown): ApplicationFailure {
  const failure = activityFailure(fault);
  assert(failure instanceof ApplicationFailure);
  return failure;
}

describe('what a history keeps of a failed activity', () => {
  it("the history of a failed activity has the service's own error, which is retried unless it is not_found", () => {
    const unavailable = failureOf(ledgerUnavailable());
    assert.deepEqual([unavailable.type, unavailable.nonRetryable], ['ledger_unavailable', false]);
    const missing = failureOf(new ApiError(NOT_FOUND));
    assert.deepEqual([missing.type, missing.nonRetryable], ['not_found', true]);
  });

  it('the history of a failed activity contains no message of the driver, which quotes the statement', () => {
    const fault = Object.assign(new Error("near 'Ana Pérez +573001112233'"), { errno: 1064 });
    const failure = failureOf(fault);
    assert.equal(failure.message, 'Error (1064)');
    assert.equal(failure.cause, undefined);
    assert(!JSON.stringify(failure).includes('Ana'));
  });
});
