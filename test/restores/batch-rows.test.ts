import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freezeAccount } from '../../src/accounts/status.js';
import type { Uuid } from '../../src/core/ids.js';
import { isKnownToRail } from '../../src/batches/restored-rows.js';
import { rowIds } from '../../src/batches/row-storage.js';
import { batches, type BatchRow, batchRows } from '../../src/db/entities/batches.js';
import { SIMULATED } from '../../src/payouts/rails/rail.js';
import {
  SupplierBatches,
  type SupplierRow,
  suppliers as fileOfSuppliers,
} from '../batches/payout-support.js';
import { cancelBatch, LIMITED, pauseBatch } from '../batches/support.js';
import { type Ran, run, words } from '../ops/ops.js';
import { paidTimes, railsOf, rowOf } from '../payouts/support.js';
import { answered, LEAST } from '../helpers/bank.js';
import { assertLedgerSound, balanceOf, TEST_ACTOR } from '../helpers/world.js';
import { idsOf, RestoredService } from './support.js';

const service = await RestoredService.open();
const { db, api } = service;
const FUNDS = 10_000n * LEAST;

/** Rows of batches in a copy, of which the first one was paid in the lost time. */
describe('a row of a batch that the rail paid in the lost time', () => {
  let suppliers: SupplierBatches;
  let id: Uuid;
  let row: BatchRow;
  let other: BatchRow;

  beforeEach(async () => {
    suppliers = await SupplierBatches.open(api, FUNDS);
  });
  afterEach(() => assertLedgerSound(db.database));
  after(() => service.stop());

  const rowsOf = (batchId: Uuid) =>
    db.database.reader.select(batchRows, { batchId }, { orderBy: ['number'] });
  const restore = async (...options: readonly string[]): Promise<Ran> => {
    const [first, second] = await rowsOf(id);
    assert.ok(first !== undefined && second !== undefined);
    [row, other] = [first, second];
    await service.begin();
    await service.paidThere(row.id);
    const finished = await service.finish('--json', ...options);
    assert.equal(finished.code, 0, finished.stderr);
    return finished;
  };
  const executed = async (wanted: SupplierRow = {}, ...options: readonly string[]) => {
    ({ id } = await suppliers.executed({ amount: LEAST.toString(), ...wanted }, {}));
    await restore(...options);
  };
  const freeze = () =>
    freezeAccount(db.deps, suppliers.own.source.id, { actor: TEST_ACTOR, reason: 'a test' });
  const cancel = () => cancelBatch(suppliers.world.deps, id, TEST_ACTOR, 'a test');
  const pay = async () => assert.equal(await suppliers.world.pay({ id }), 'over');
  const balance = () => balanceOf(db.database, suppliers.own.source.id);
  /** The payout follows its rail to its end, and is paid for once. */
  const assertPaidOnce = async (): Promise<void> => {
    const { status, rail, attempts } = await rowOf(db, row.id);
    assert.deepEqual([status, rail, attempts], ['in_progress', SIMULATED, 0]);
    const { own } = suppliers;
    answered(await own.act('cancel', row.id, own.bank.token), 409, 'invalid_state');
    await railsOf(db).submissions.submit(row.id);
    assert.equal((await rowOf(db, row.id)).status, 'completed');
    assert.deepEqual(await paidTimes(db, [row.id]), [1]);
  };
  const failures = async () => (await rowsOf(id)).map(({ code }) => code);

  it('becomes its payout although a rule refuses it, so that its hold is not given back', async () => {
    await executed();
    await freeze();
    await pay();
    assert.deepEqual(await failures(), [null, 'capability_cannot_send']);
    await assertPaidOnce();
    assert.deepEqual(await balance(), { available: FUNDS - LEAST, held: 0n });
    const [event] = await suppliers.own.events(row.id);
    assert.deepEqual([event?.type, event?.object.status], ['payout.approved', 'approved']);
  });

  it('is asked for at the rail that paid it, whatever the routes say now', async () => {
    const { min } = LIMITED.limits.bank_account.COPM;
    await executed({ country: LIMITED.country, amount: min.toString() });
    await pay();
    await assertPaidOnce();
  });

  it('keeps its batch from being canceled until it is a payout', async () => {
    await executed();
    await assert.rejects(cancel(), /may have paid rows of this batch/);
    await suppliers.world.execution.payNextGroup(id, 1);
    await pauseBatch(suppliers.world.deps, id, TEST_ACTOR, 'a test');
    await cancel();
    await pay();
    assert.deepEqual(await failures(), [null, 'canceled']);
    await assertPaidOnce();
    assert.deepEqual(await balance(), { available: FUNDS - LEAST, held: 0n });
  });

  it('keeps its batch from being withdrawn, and is paid for when that is executed', async () => {
    ({ id } = await suppliers.ready({ amount: LEAST.toString() }, {}));
    await restore();
    await assert.rejects(cancel(), /may have paid rows of this batch/);
    const path = suppliers.path(id, '/cancel');
    answered(await suppliers.own.bank.request('POST', path), 409, 'invalid_state');
    answered(await suppliers.execute(id), 202);
    await freeze();
    await pay();
    await assertPaidOnce();
  });

  it('keeps its batch from being withdrawn if its file is not read again yet', async () => {
    id = await suppliers.uploaded(fileOfSuppliers({ amount: LEAST.toString() }));
    await service.begin();
    await service.paidThere(rowIds(id)(2));
    const finished = await service.finish('--json');
    assert.equal(finished.code, 0, finished.stderr);
    // A withdrawal may read the batch before its rows are stored, and be decided when it is ready.
    assert.equal(await isKnownToRail(db.database.reader, await suppliers.world.batch(id)), true);
    await suppliers.world.validate(id);
    await assert.rejects(cancel(), /may have paid rows of this batch/);
  });

  it('is assumed of every row while a rail is left out', async () => {
    await executed({}, '--leave-out', SIMULATED);
    await assert.rejects(cancel(), /may have paid rows of this batch/);
    await freeze();
    await pay();
    assert.deepEqual(await failures(), [null, null]);
    await assertPaidOnce();
    const { isFrozen, payout } = await railsOf(db).submissions.submit(other.id);
    assert.deepEqual([isFrozen, payout.attempts], [true, 0]);
    assert.equal((await service.finish()).code, 0);
  });

  it('is assumed of every row from the beginning of the restore', async () => {
    ({ id } = await suppliers.executed({ amount: LEAST.toString() }, {}));
    const { reader } = db.database;
    const batch = await reader.find(batches, { id });
    assert.ok(batch !== undefined);
    assert.equal(await isKnownToRail(reader, batch), false);
    await service.begin();
    assert.equal(await isKnownToRail(reader, batch), true);
    assert.equal((await service.finish()).code, 0);
  });

  it('is named by the statement of a rail that cannot list its payments', async () => {
    ({ id } = await suppliers.ready({ amount: LEAST.toString() }, {}));
    const [paid] = await rowsOf(id);
    const folder = await mkdtemp(join(tmpdir(), 'money-statement-'));
    try {
      const file = join(folder, 'statement.csv');
      await writeFile(file, `key,status,raw,asset\n${paid?.id},completed,${LEAST},COPM\n`);
      await service.people.signIn('rosa', ['resolve']);
      const date = new Date().toISOString().slice(0, 10);
      const of = words`--rail ${SIMULATED} --date ${date} --statement ${file} --as rosa --json`;
      const args = ['payouts', 'reconcile', ...of];
      const { stdout, stderr } = await run('src/ops/main.js', args, service.people.env);
      assert.notEqual(stdout, '', stderr);
      const found = (
        JSON.parse(stdout) as { payout_id: string; difference: string; here: string }[]
      )
        .filter((one) => one.payout_id === paid?.id)
        .map(({ difference, here }) => [difference, here]);
      assert.deepEqual(found, [['missing_here', 'row of a batch that is ready']]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('fails if the funds do not suffice, and is listed for people', async () => {
    ({ id } = await suppliers.executed({ amount: FUNDS.toString() }, { amount: FUNDS.toString() }));
    const finished = await restore();
    await suppliers.own.pay();
    await pay();
    assert.deepEqual(await failures(), ['insufficient_funds', 'insufficient_funds']);
    const args = ['restore', 'findings', '--json'];
    const listed = await run('src/ops/main.js', args, service.people.env);
    for (const shown of [finished, listed].map(idsOf))
      assert.deepEqual([shown.includes(row.id), shown.includes(other.id)], [true, false]);
  });
});
