import { generatedCalls, schemathesis } from '../campaigns/generated-calls.js';
import { testDatabase } from '../support/database.js';

describe('calls made up from the OpenAPI document', () => {
  it('calls generated from the OpenAPI document get no answer that the document does not describe, and leave the ledger sound', async function () {
    if ((await schemathesis()) === undefined) return this.skip();
    await generatedCalls({
      db: await testDatabase(),
      calls: 2,
      paths: '^/v1/(transfers|payouts)',
      seed: 1,
    });
  });
});
