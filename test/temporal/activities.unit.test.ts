import assert from 'node:assert/strict';
import { orGone } from '../../activities/approvals.js';
import { ApiError, invalidState, notFound } from '../../src/core/errors.js';

describe('an activity', () => {
  it('ends its workflow only if the row is gone: every other failure is its own', async () => {
    const gone = (): string => 'gone';
    assert.equal(await orGone(Promise.resolve('there'), gone), 'there');
    assert.equal(await orGone(Promise.reject(notFound('id')), gone), 'gone');
    for (const failure of [
      new ApiError(invalidState('it has ended')),
      new ApiError({ code: 'ledger_unavailable', message: 'later' }),
      new Error('not_found'),
    ])
      await assert.rejects(orGone(Promise.reject(failure), gone), failure);
  });
});
