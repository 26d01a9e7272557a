import assert from 'node:assert/strict';
import { interleavingsCampaign } from '../campaigns/interleavings.js';
import { testDatabase } from '../helpers/database.js';
import { statementsOf } from '../helpers/statement-proxy.js';

const db = await testDatabase();

describe('two groups whose statements alternate', () => {
  it('every response is correct in whatever order two processes send the statements of their groups', async () => {
    const seed = Date.now() % 2 ** 31;
    await interleavingsCampaign({ db, interleavings: 25, seed });
  });

  it('a text is taken apart at the semicolons outside quotes', () => {
    assert.deepEqual(statementsOf(`SET @a='x;\\';''';SELECT "b;", \`c;\`;COMMIT`), [
      `SET @a='x;\\';'''`,
      'SELECT "b;", `c;`',
      'COMMIT',
    ]);
  });
});
