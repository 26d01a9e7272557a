import assert from 'node:assert/strict';
import { generateMissingFiles } from '../../src/batches/execution.js';
import type { Uuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral, type Json, LEAST, object, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';
import { BatchWorld, cancelBatch, fileMaker, pauseBatch, payroll } from './support.js';

const MIN = LEAST.toString();

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);
const batches = BatchWorld.of(bank);
const payer = await bank.account({ funds: { COPM: 1_000n * LEAST } });
const ana = await bank.account();

describe('the files that a batch generates', () => {
  const shown = async (id: Uuid): Promise<Json> =>
    answered(await bank.get(`/v1/bonus_batches/${id}`), 200).json;
  const urls = async (id: Uuid): Promise<Json> => object((await shown(id)).files);
  const download = async (id: Uuid, name: 'errors' | 'result', query = ''): Promise<string> =>
    answered(await bank.get(`/v1/bonus_batches/${id}/files/${name}${query}`), 200).text;
  const deps = () => ({ database: db.database, clock: systemClock, files: fileMaker(db.database) });
  const makeAll = (): Promise<void> => generateMissingFiles(deps(), new AbortController().signal);
  /** As the event of its end carried them. */
  const told = async (id: Uuid): Promise<Json> => {
    const rows = await db.sql(
      `SELECT body FROM events WHERE resource_id=${idLiteral(id)} ORDER BY sequence DESC LIMIT 1`,
    );
    return object(object(object(object(JSON.parse(String(rows[0]?.body))).data).object).files);
  };
  const rejected = (rows = 1): Promise<{ readonly id: Uuid }> =>
    batches.validated(
      payer,
      payroll(Array.from({ length: rows }, () => ['$nobody', '1.5', 'EUR'])),
    );
  const executed = async (rows = 2): Promise<Uuid> => {
    const { id } = await batches.executed(
      payer,
      payroll(Array.from({ length: rows }, () => [ana.id, MIN, 'COPM'])),
    );
    return id;
  };
  const paid = async (): Promise<Uuid> => {
    const id = await executed();
    await batches.payAll(id);
    return id;
  };
  /** As one that ended before files were made once. */
  const forget = async (id: Uuid): Promise<void> => {
    const own = idLiteral(id);
    await db.sql(`DELETE FROM generated_file_pieces WHERE owner_id=${own}`);
    await db.sql(`UPDATE batch_storage SET csv_bytes=NULL, xlsx_bytes=NULL WHERE batch_id=${own}`);
    await db.sql(`UPDATE batches SET files_generated_at=NULL WHERE id=${own}`);
  };

  it('the files of a batch can be downloaded as soon as GET or an event shows its end', async () => {
    const [{ id: refused }, done] = [await rejected(), await paid()];
    for (const [id, name] of [
      [refused, 'errors'],
      [done, 'result'],
    ] as const) {
      const url = (await urls(id))[`${name}_url`];
      const path = `/v1/bonus_batches/${id}/files/${name}`;
      for (const one of [url, (await told(id))[`${name}_url`]])
        assert.equal(new URL(String(one)).pathname, path);
      assert.equal((await download(id, name)).startsWith('\ufeffrow,'), true);
    }
  });

  it('the files of a batch are generated before its end: with every row settled it is still executing, has no file URLs, and can be neither paused nor canceled', async () => {
    const id = await executed(3);
    await batches.execution.payNextGroup(id, 100);
    const { status, progress, files } = await shown(id);
    assert.deepEqual(
      [status, progress, files],
      ['executing', { paid: 3, failed: 0, pending: 0 }, { errors_url: null, result_url: null }],
    );
    answered(await bank.get(`/v1/bonus_batches/${id}/files/result`), 404, 'not_found');
    const deps = { database: db.database, clock: systemClock, writer: bank.api.core.writer };
    for (const act of [pauseBatch, cancelBatch])
      await assert.rejects(act(deps, id, TEST_ACTOR, 'why not'), /paid or refused already/);
    await batches.payAll(id);
    assert.equal((await shown(id)).status, 'completed');
    assert.notEqual((await urls(id)).result_url, null);
  });

  it('the sweeper generates the missing files of an ended batch, whose file URLs are null until then', async () => {
    const [{ id: refused }, done] = [await rejected(), await paid()];
    const before = [await download(refused, 'errors'), await download(done, 'result')];
    for (const id of [refused, done]) await forget(id);
    for (const id of [refused, done])
      assert.deepEqual(await urls(id), { errors_url: null, result_url: null });
    answered(await bank.get(`/v1/bonus_batches/${refused}/files/errors`), 404, 'not_found');
    await makeAll();
    assert.notEqual((await urls(refused)).errors_url, null);
    assert.deepEqual([await download(refused, 'errors'), await download(done, 'result')], before);
  });
});
