import assert from 'node:assert/strict';
import { csvOf } from '../batches/support.js';
import { startTestApi } from '../support/api.js';
import { answered, idLiteral, LEAST } from '../support/bank.js';
import { openPayrollBank } from '../support/batch-workflows.js';
import { testDatabase } from '../support/database.js';
import { serving, temporalEnvironment, testTemporal } from '../support/temporal.js';
import { WorkerProcess } from '../support/worker-process.js';
import { assertLedgerSound } from '../support/world.js';

const MANY = 6_000;

describe('a batch that is being paid', () => {
  it('a batch that is being paid shows no half of its file when its worker is killed while writing it, and delivers it whole afterwards', async () => {
    const [db, temporal] = [await testDatabase(), await testTemporal()];
    const worker = await WorkerProcess.prepare(db.url, temporal, serving('batches'));
    const api = await startTestApi(db, temporalEnvironment(temporal));
    try {
      const { bank, source, upload, read, until } = await openPayrollBank(api);
      // Its CSV is two megabytes: more than is stored at once.
      const id = await upload(
        csvOf(Array.from({ length: MANY }, () => ['$nobody', '1.5', 'EUR', null, null])),
      );
      const file = `/v1/bonus_batches/${id}/files/errors`;
      await worker.endAt('after_file_stored', 1);
      const [stored] = await db.sql(
        `SELECT COUNT(*) AS n FROM generated_file_pieces WHERE owner_id=${idLiteral(id)}`,
      );
      assert(Number(stored?.n) > 0);
      const { status, files } = await read(id);
      assert.deepEqual([status, files], ['validating', { errors_url: null, result_url: null }]);
      answered(await bank.get(file), 404, 'not_found');
      await worker.start();
      await until(id, 'rejected');
      const lines = answered(await bank.get(file), 200)
        .text.trimEnd()
        .split('\r\n');
      assert.equal(lines.length, 1 + 3 * MANY);
      assert.equal(await bank.available(source), 100_000n * LEAST);
      await assertLedgerSound(db.database);
    } finally {
      await Promise.all([worker.kill(), api.stop()]);
    }
  });
});
