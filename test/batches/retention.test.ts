import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { deleteUploadedBytes, removeOldRows } from '../../src/batches/sweeps.js';
import type { Uuid } from '../../src/core/ids.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { batchStorage } from '../../src/db/entities/batches.js';
import type { Account } from '../../src/db/entities/parties.js';
import { removeOldRailEvents } from '../../src/payouts/sweeps.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import { type TestDatabase, testDatabase } from '../helpers/database.js';
import { BatchWorld, payroll } from './support.js';

const MIN = LEAST.toString();
const DAY_MS = 86_400_000;

describe('retention of ended batches', () => {
  let db: TestDatabase;
  let world: BatchWorld;
  let source: Account;
  let ana: Account;
  /** Later than everything that happens here. */
  const later = (): Instant => instant(Date.now() + DAY_MS);

  before(async () => {
    db = await testDatabase();
  });
  beforeEach(async () => {
    world = await BatchWorld.open(db);
    source = await world.account({ funds: { COPM: 10n * LEAST } });
    ana = await world.account();
  });

  const remove = async (ended: 'unpaid' | 'paid', before: Instant): Promise<unknown[]> => {
    const faults: unknown[] = [];
    const next = (after: Uuid | null) =>
      removeOldRows(db.database, systemClock, `${ended} batches`, before, after);
    for (let piece = await next(null); piece !== null; piece = await next(piece.lastId))
      faults.push(...(piece.faults ?? []));
    return faults;
  };
  const isRemoved = async (batchId: Uuid): Promise<boolean> =>
    (await db.database.reader.find(batchStorage, { batchId }))?.rowsRemovedAt !== null;
  const paid = () => world.paid(source, payroll([[ana.id, MIN, 'COPM', null, randomUUID()]]));

  it('retention removes the rows of an executed batch some time after its end; its bonuses stay, and the auditor reports no finding', async () => {
    const { id, finishedAt } = await paid();
    await remove('paid', instant(finishedAt! - 1));
    await remove('unpaid', later());
    assert.equal((await world.rows(id)).length, 1);
    await remove('paid', later());
    assert.deepEqual([(await world.rows(id)).length, await isRemoved(id)], [0, true]);
    const bonuses = await db.sql(`SELECT id FROM bonuses WHERE batch_id=${idLiteral(id)}`);
    assert.equal(bonuses.length, 1);
    await assert.rejects(world.batches.file(world.caller(), id, 'result', 'csv'), {
      message: 'the resource does not exist',
    });
  });

  it('retention deletes the bytes of a validated file after a set time, and keeps its hash', async () => {
    const file = payroll([[ana.id, MIN, 'COPM']]);
    const [old, open] = [await world.ready(source, file), await world.uploaded(source, file)];
    const kept = `SELECT number FROM upload_chunks WHERE batch_id IN (${idLiteral(old.id)}, ${idLiteral(open.id)})`;
    for (const [ms, count] of [
      [0, 2],
      [1, 1],
    ] as const) {
      await deleteUploadedBytes(db.deps, instant(old.validatedAt! + ms));
      assert.equal((await db.sql(kept)).length, count);
    }
    assert.deepEqual((await world.batch(old.id)).fileSha256, old.fileSha256);
    assert.equal((await world.validate(open.id)).sameFileBatchId, old.id);
  });

  it('retention removes the problems of a rejected batch', async () => {
    const { id } = await world.validated(source, payroll([['$nobody', '-', 'COPM', null, null]]));
    await remove('paid', later());
    assert.equal((await world.problems(id)).length, 2);
    await remove('unpaid', later());
    assert.equal((await world.problems(id)).length, 0);
    const storage = await db.database.reader.find(batchStorage, { batchId: id });
    assert.equal(storage?.problemRows, 0);
    await assert.rejects(world.batches.file(world.caller(), id, 'errors', 'csv'), {
      message: 'the resource does not exist',
    });
  });

  it('retention removes the rows of a batch without a payment as early as the problems of a rejected one', async () => {
    const poor = await world.account();
    const { id, status, rowsPaid } = await world.paid(
      poor,
      payroll([[ana.id, MIN, 'COPM', null, 'c']]),
    );
    assert.deepEqual([status, rowsPaid], ['partially_failed', 0]);
    await remove('paid', later());
    const storage = () => db.database.reader.find(batchStorage, { batchId: id });
    assert.deepEqual([(await world.rows(id)).length, (await storage())?.unpaidRows], [1, 1]);
    await remove('unpaid', later());
    const left = await storage();
    assert.deepEqual([(await world.rows(id)).length, left?.unpaidRows, left?.fileBytes], [0, 0, 0]);
    assert.deepEqual(
      await db.sql(`SELECT number FROM upload_chunks WHERE batch_id=${idLiteral(id)}`),
      [],
    );
  });

  it('retention removes no rows of a batch that has not ended', async () => {
    const ready = await world.ready(source, payroll([[ana.id, MIN, 'COPM', null, 'a']]));
    const executing = await world.executed(source, payroll([[ana.id, MIN, 'COPM', null, 'b']]));
    for (const ended of ['unpaid', 'paid'] as const) await remove(ended, later());
    for (const { id } of [ready, executing])
      assert.deepEqual([(await world.rows(id)).length, await isRemoved(id)], [1, false]);
  });

  it('retention removes the rows of a batch even if an older batch cannot be read', async () => {
    const [unreadable, { id }] = [await paid(), await paid()];
    const set = (kind: string): Promise<number> =>
      db.change(`UPDATE IGNORE batches SET kind='${kind}' WHERE id=${idLiteral(unreadable.id)}`);
    await set('unknown');
    const faults = await remove('paid', later());
    assert.deepEqual([faults.length, await isRemoved(unreadable.id)], [1, false]);
    assert.equal(await isRemoved(id), true);
    await set('bonus');
    assert.deepEqual(await remove('paid', later()), []);
  });

  it('retention keeps rows that contradict their batch, because the auditor needs them', async () => {
    const { id } = await paid();
    const own = `WHERE batch_id=${idLiteral(id)}`;
    const [row] = await db.sql(`SELECT HEX(payment_id) AS bonus FROM batch_rows ${own}`);
    await db.change(`UPDATE batch_rows SET payment_id=${idLiteral(randomUUID())} ${own}`);
    await remove('paid', later());
    assert.deepEqual([(await world.rows(id)).length, await isRemoved(id)], [1, false]);
    await db.change(`UPDATE batch_rows SET payment_id=X'${String(row!.bonus)}' ${own}`);
  });
});

describe('retention of messages of rails', () => {
  let db: TestDatabase;
  before(async () => {
    db = await testDatabase();
  });

  it('retention keeps recent messages of rails, and removes old ones without a known payout', async () => {
    const rail = `kept-${randomUUID().slice(0, 8)}`;
    const insert = (at: string): Promise<number> =>
      db.change(
        `INSERT INTO payout_rail_events (id, payout_id, rail, kind, reported, effect, at)
         VALUES (${idLiteral(randomUUID())}, NULL, '${rail}', 'callback', NULL, 'unknown_payout', '${at}')`,
      );
    await insert('2020-01-01 00:00:00.000');
    await insert('2020-01-03 00:00:00.000');
    while (await removeOldRailEvents(db.database, instant(Date.UTC(2020, 0, 2))));
    const left = await db.sql(
      `SELECT DATE_FORMAT(at, '%d') AS day FROM payout_rail_events WHERE rail='${rail}'`,
    );
    assert.deepEqual(
      left.map(({ day }) => day),
      ['03'],
    );
  });
});
