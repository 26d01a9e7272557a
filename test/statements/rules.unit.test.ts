import assert from 'node:assert/strict';
import { ApiError } from '../../src/core/errors.js';
import { assertNotTooLong, MAX_MOVEMENTS } from '../../src/statements/service.js';

describe('the size of a statement', () => {
  it('a statement may have as many movements as a spreadsheet program can open, and not one more', () => {
    assertNotTooLong(BigInt(MAX_MOVEMENTS));
    assert.throws(
      () => assertNotTooLong(BigInt(MAX_MOVEMENTS) + 1n),
      (thrown) =>
        thrown instanceof ApiError &&
        thrown.refusal.code === 'quota_exceeded' &&
        JSON.stringify(thrown.refusal.details) ===
          '{"quota":"movements","used":"500001","limit":"500000"}',
    );
  });
});
