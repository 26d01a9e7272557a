import assert from 'node:assert/strict';
import { csvOf, formOf } from '../batches/support.js';
import { request, startTestApi } from '../helpers/api.js';
import { ApiProcess } from '../helpers/api-process.js';
import { answered, LEAST, text, transferBody } from '../helpers/bank.js';
import { type TestDatabase, testDatabase } from '../helpers/database.js';
import { serving, temporalEnvironment, testTemporal, until } from '../helpers/temporal.js';
import { openGuardedBank } from '../helpers/temporal-world.js';
import { WorkerProcess } from '../helpers/worker-process.js';
import { assertLedgerSound } from '../helpers/world.js';

const NODE = process.env.TEST_NODE_24;

describe('API and worker on the Node of the image, beside the oldest that is supported', () => {
  let db: TestDatabase;

  before(async function () {
    if (NODE === undefined) return this.skip();
    db = await testDatabase();
  });

  it('API and worker on the Node of the image, and on the oldest that is supported, move money at once, after an approval and from a file', async () => {
    const temporal = await testTemporal();
    const environment = {
      ...temporalEnvironment(temporal),
      ...serving('approvals', 'batches'),
      NODE: NODE!,
    };
    const here = await startTestApi(db, temporalEnvironment(temporal));
    const { bank, source, createPending, approvers } = await openGuardedBank(here);
    const [free, payee] = [
      await bank.account({ funds: { COPM: 100n * LEAST } }),
      await bank.account(),
    ];
    const api = await ApiProcess.start(db.url, environment);
    const worker = await WorkerProcess.start(db.url, temporal, environment);
    try {
      const ask = (method: string, path: string, options: Parameters<typeof request>[3] = {}) =>
        request(api.baseUrl, method, path, { token: bank.token, ...options });
      const ended = (path: string, status: string) =>
        until(`${path} is ${status}`, async () => (await ask('GET', path)).json.status === status);

      answered(
        await ask('POST', '/v1/transfers', {
          body: transferBody({ from: free, to: payee, raw: LEAST }),
        }),
        201,
      );

      const waiting = await createPending();
      answered(await ask('POST', `/v1/transfers/${waiting}/approve`, { token: approvers[0] }), 200);
      await ended(`/v1/transfers/${waiting}`, 'completed');

      const file = csvOf([[payee.id, LEAST.toString(), 'COPM', 'November', 'r1']]);
      const form = formOf(file, { source_account: free.id, description: 'November' });
      const batch = text(answered(await ask('POST', '/v1/bonus_batches', { form }), 201).json.id);
      await ended(`/v1/bonus_batches/${batch}`, 'ready');
      answered(await ask('POST', `/v1/bonus_batches/${batch}/execute`), 202);
      await ended(`/v1/bonus_batches/${batch}`, 'completed');
      assert.equal(await bank.available(source), 999n * LEAST);
    } finally {
      await Promise.all([api.stop(), worker.stop(), here.stop()]);
    }
    await assertLedgerSound(db.database);
  });
});
