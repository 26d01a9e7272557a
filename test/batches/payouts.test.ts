import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setPolicy } from '../../src/approvals/policies.js';
import { removeOldRows } from '../../src/batches/sweeps.js';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { payoutSecrets } from '../../src/db/entities/payouts.js';
import { startTestApi } from '../helpers/api.js';
import {
  answered,
  idLiteral,
  LEAST,
  list,
  object,
  setStatus,
  text,
  walk,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { assertLedgerSound, TEST_ACTOR } from '../helpers/world.js';
import { accountNumber, charge, DOCUMENT, railsOf } from '../payouts/support.js';
import { say } from '../payouts/scripted-rail.js';
import { SupplierBatches, suppliers } from './payout-support.js';
import { BatchWorld, cancelBatch, LIMITED, pauseBatch, resumeBatch } from './support.js';

const db = await testDatabase();
const api = await startTestApi(db);

const NO_PAYOUTS = {
  pending_approval: 0,
  approved: 0,
  in_progress: 0,
  completed: 0,
  returned: 0,
  rejected: 0,
  canceled: 0,
  failed: 0,
};

describe('a batch of payouts', () => {
  afterEach(() => assertLedgerSound(db.database));

  it('is executed by a second person, and each row becomes one approved payout', async () => {
    const batches = await SupplierBatches.open(api);
    const { bank, source, creator } = batches.own;
    const { id } = await batches.ready(
      { reference: 'INV-1', description: 'Paper' },
      { reference: 'INV-2', account_number: '00012345678', amount: '250000' },
    );
    answered(await batches.execute(id, creator), 403, 'authority_insufficient');
    const own = await batches.execute(id, bank.token);
    answered(own, 403, 'authority_insufficient');
    assert.deepEqual(object(own.json.error).details, { reason: 'uploader' });
    assert.equal((await batches.get(id)).payouts, null);
    const shown = answered(await batches.execute(id), 202).json;
    assert.equal(shown.status, 'executing');
    assert.deepEqual(shown.payouts, NO_PAYOUTS);
    const available = await bank.available(source);
    assert.equal(await batches.world.pay({ id }), 'over');
    assert.equal(await bank.available(source), available);
    const ended = await batches.get(id);
    assert.equal(ended.status, 'completed');
    assert.deepEqual(ended.progress, { created: 2, failed: 0, pending: 0 });
    assert.deepEqual(ended.payouts, { ...NO_PAYOUTS, approved: 2 });
    const payouts = await walk(bank, `/v1/payouts?batch=${id}&limit=1`);
    assert.deepEqual(
      payouts.map((one) => [one.batch, one.reference, one.status, object(one.amount).raw]),
      [
        [{ id, row: 3 }, 'INV-2', 'approved', '250000'],
        [{ id, row: 2 }, 'INV-1', 'approved', '100000'],
      ],
    );
    assert.deepEqual(await walk(bank, `/v1/payouts?batch=${id}&status=failed`), []);
    const rows = list((await batches.get(id, '/rows?status=created')).items);
    assert.deepEqual(
      rows.map((row) => row.payout_id),
      payouts.toReversed().map((payout) => payout.id),
    );
    const types = (await walk(bank, '/v1/events')).map(({ type }) => text(type)).reverse();
    assert.deepEqual(types, [
      'payout_batch.ready',
      'payout.approved',
      'payout.approved',
      'payout_batch.completed',
    ]);
    for (const payout of payouts) await railsOf(db).submissions.submit(asUuid(text(payout.id)));
    assert.deepEqual((await batches.get(id)).payouts, { ...NO_PAYOUTS, completed: 2 });
  });

  it('the execution of a batch is the approval of its payouts, under a policy of three approvals too', async () => {
    const batches = await SupplierBatches.open(api);
    await batches.own.guard(3);
    const { id } = await batches.ended({}, { amount: (5n * LEAST).toString() });
    assert.deepEqual((await batches.get(id)).payouts, { ...NO_PAYOUTS, approved: 2 });
  });

  it('a policy that refuses batches rejects the file', async () => {
    const batches = await SupplierBatches.open(api);
    const { source } = batches.own;
    const settings = { threshold: LEAST, approvals: 1, expiresInS: 600, refusesBatches: true };
    const policy = { accountId: source.id, asset: 'COPM' as const, ...settings };
    await setPolicy(db.database, systemClock, policy, TEST_ACTOR);
    const { id, status } = await batches.validated(suppliers({ amount: LEAST.toString() }));
    assert.equal(status, 'rejected');
    const [problem] = await batches.world.problems(id);
    assert.equal(problem?.code, 'above_approval_threshold');
  });

  it('a row that a rule refuses fails with its code, and the other rows become payouts with the fee of the validation', async () => {
    const batches = await SupplierBatches.open(api, 400_000n);
    const { bank, source } = batches.own;
    const fees = await charge(batches.own, 500n);
    const { id } = await batches.ended({}, { amount: '900000' }, { amount: '200000' });
    const ended = await batches.get(id);
    assert.equal(ended.status, 'partially_failed');
    assert.deepEqual(ended.payouts, { ...NO_PAYOUTS, approved: 2 });
    const rows = list((await batches.get(id, '/rows')).items);
    assert.deepEqual(
      rows.map(({ status, failure }) => [status, failure && object(failure).code]),
      [
        ['created', null],
        ['failed', 'insufficient_funds'],
        ['created', null],
      ],
    );
    assert.equal(await bank.available(source), 400_000n - 300_000n - 1_000n);
    for (const payout of await walk(bank, `/v1/payouts?batch=${id}`)) {
      assert.equal(object(payout.fee).raw, '500');
      await railsOf(db).submissions.submit(asUuid(text(payout.id)));
    }
    assert.equal(await bank.available(fees), 1_000n);
    const result = answered(await bank.get(batches.path(id, '/files/result')), 200).text;
    const lines = result.trim().split('\r\n');
    assert.equal(lines.length, 4);
    assert.match(
      lines[2] ?? '',
      /^3,,CO,0007,savings,\*{4}4099,.*,900000,COPM,failed,,,insufficient_funds,/,
    );
    assert.match(lines[1] ?? '', /,approved,[0-9a-f-]{36},500,,$/);
  });

  it('the result file shows the status that each payout has when the batch ends', async () => {
    const batches = await SupplierBatches.open(api);
    const { id } = await batches.executed({ reference: 'first' }, { reference: 'second' });
    await batches.world.execution.payNextGroup(id, 1);
    const [first] = await walk(batches.own.bank, `/v1/payouts?batch=${id}`);
    await railsOf(db).submissions.submit(asUuid(text(first?.id)));
    assert.equal(await batches.world.pay({ id }), 'over');
    const result = answered(await batches.own.bank.get(batches.path(id, '/files/result')), 200);
    const [, ...rows] = result.text.trim().split('\r\n');
    const shown = rows.map((row) => row.split(','));
    assert.deepEqual(
      shown.map((cells) => [cells[1], cells[9]]),
      [
        ['first', 'completed'],
        ['second', 'approved'],
      ],
    );
  });

  it('an amount that the rail of its country does not take is a problem of the row, as far as the amount is valid', async () => {
    const batches = await SupplierBatches.open(api);
    const { country, limits } = LIMITED;
    const { min, max } = limits.bank_account.COPM;
    const file = (...amounts: readonly string[]): Buffer =>
      suppliers(...amounts.map((amount) => ({ country, amount })));
    const { id } = await batches.validated(file(`${min - 1n}`, `${min}`, `${max}`, `${max + 1n}`));
    assert.deepEqual(
      (await batches.world.problems(id)).map(({ number, field, code, message }) => [
        ...[number, field, code, message],
      ]),
      [
        [2, 'amount', 'invalid_field', 'the rail to PE does not take this amount'],
        [5, 'amount', 'invalid_field', 'the rail to PE does not take this amount'],
      ],
    );
    const invalid = await batches.validated(file('1.5'));
    assert.deepEqual(
      (await batches.world.problems(invalid.id)).map(({ field, code }) => [field, code]),
      [['amount', 'invalid_field']],
    );
    assert.equal((await batches.validated(file(`${min}`, `${max}`))).status, 'ready');
  });

  it('executing a batch of a frozen source fails every row, and releases the hold', async () => {
    const batches = await SupplierBatches.open(api);
    const { source } = batches.own;
    const { id } = await batches.executed({}, {});
    await setStatus(db, source, 'frozen');
    assert.equal(await batches.world.pay({ id }), 'over');
    const ended = await batches.get(id);
    assert.equal(ended.status, 'partially_failed');
    assert.deepEqual(ended.payouts, NO_PAYOUTS);
    const rows = list((await batches.get(id, '/rows')).items);
    assert.deepEqual(
      [...new Set(rows.map(({ failure }) => object(failure).code))],
      ['capability_cannot_send'],
    );
  });

  it('two processes that pay the rows of one batch at the same time create each payout once', async () => {
    const batches = await SupplierBatches.open(api);
    const rows = Array.from({ length: 120 }, (_, index) => ({ reference: `R-${index}` }));
    const { id } = await batches.executed(...rows);
    const other = BatchWorld.of(batches.own.bank, 'payout');
    await Promise.all([batches.world.pay({ id }), other.pay({ id })]);
    const payouts = await walk(batches.own.bank, `/v1/payouts?batch=${id}&limit=100`);
    assert.equal(payouts.length, 120);
    assert.equal(new Set(payouts.map(({ reference }) => reference)).size, 120);
  });

  it('support pauses, resumes and cancels a batch of payouts; the rest of its rows fail', async () => {
    const batches = await SupplierBatches.open(api);
    const { world, own } = batches;
    const { id } = await batches.executed({}, {}, {});
    await pauseBatch(world.deps, id, TEST_ACTOR, 'a question');
    assert.equal(await world.pay({ id }), 'paused');
    await resumeBatch(world.deps, id, TEST_ACTOR, 'answered');
    await world.execution.payNextGroup(id, 1);
    await cancelBatch(world.deps, id, TEST_ACTOR, 'a mistake');
    assert.equal(await world.pay({ id }), 'over');
    const ended = await batches.get(id);
    assert.deepEqual(ended.progress, { created: 1, failed: 2, pending: 0 });
    assert.equal((await walk(own.bank, `/v1/payouts?batch=${id}`)).length, 1);
  });

  it('duplicates and earlier payments are rows to the same bank account; a payout that failed or was returned does not count', async () => {
    const batches = await SupplierBatches.open(api);
    const same = { account_number: accountNumber('01'), reference: 'INV-1' };
    const other = { account_number: accountNumber('05'), reference: 'INV-5' };
    const first = await batches.ended(same, { account_number: accountNumber('02') }, other);
    const second = await batches.ready(
      { ...same, holder_name: 'Another name', account_type: 'checking' },
      { account_number: accountNumber('01'), reference: 'INV-2' },
      { account_number: accountNumber('02'), reference: 'INV-3' },
      { account_number: accountNumber('01'), bank_code: '0040', reference: 'INV-4' },
      other,
    );
    const shown = await batches.get(second.id);
    assert.deepEqual(object(shown.duplicates).rows, [3]);
    const made = await walk(batches.own.bank, `/v1/payouts?batch=${first.id}`);
    const [failing, returning] = ['INV-1', 'INV-5'].map((wanted) =>
      asUuid(text(made.find(({ reference }) => reference === wanted)?.id)),
    );
    assert.deepEqual(shown.earlier_payments, {
      count: 2,
      rows: [
        { row: 2, batch_id: first.id, payout_id: failing },
        { row: 6, batch_id: first.id, payout_id: returning },
      ],
    });
    // Account numbers that end in 01 fail.
    const { submissions, callbacks } = railsOf(db);
    for (const id of [failing!, returning!]) await submissions.submit(id);
    const reference = text((await batches.own.get(returning!)).rail_reference);
    const said = { key: returning!, ...say('returned', 'account_blocked', reference) };
    await callbacks.report('simulated', { ...said, callbackId: randomUUID() });
    await db.sql('UPDATE batch_storage SET earlier_payments_at=NULL');
    assert.deepEqual((await batches.get(second.id)).earlier_payments, { count: 0, rows: [] });
  });

  it('a batch of one kind is not found under the path of the other', async () => {
    const batches = await SupplierBatches.open(api);
    const { id } = await batches.ready({});
    for (const rest of ['', '/rows', '/files/result'])
      answered(await batches.own.bank.get(`/v1/bonus_batches/${id}${rest}`), 404, 'not_found');
    const [token] = batches.own.approvers;
    for (const action of ['execute', 'cancel'])
      answered(
        await batches.own.bank.request('POST', `/v1/bonus_batches/${id}/${action}`, { token }),
        404,
        'not_found',
      );
    assert.deepEqual(await walk(batches.own.bank, '/v1/bonus_batches'), []);
    assert.equal((await walk(batches.own.bank, '/v1/payout_batches')).length, 1);
  });

  it('account numbers and documents of rows are sealed at rest', async () => {
    const batches = await SupplierBatches.open(api);
    const number = '9081726354';
    const { id } = await batches.ended({ account_number: number });
    const wrong = await batches.validated(
      suppliers({ account_number: number }, { account_number: number, amount: '0' }),
    );
    assert.equal(wrong.status, 'rejected');
    const [row] = list((await batches.get(id, '/rows')).items);
    const destination = object(row?.destination);
    assert.equal(destination.account_number, '****6354');
    assert.equal(destination.holder_document, `****${DOCUMENT.slice(-4)}`);
    const stored = await db.sql(
      `SELECT HEX(s.destination) AS sealed FROM payout_secrets s JOIN batch_rows r ON r.id=s.id WHERE r.batch_id=${idLiteral(id)}`,
    );
    assert.equal(stored.length, 1);
    assert.ok(
      !String(stored[0]?.sealed).includes(Buffer.from(number).toString('hex').toUpperCase()),
    );
    const dump = JSON.stringify(
      await Promise.all(
        ['batches', 'batch_rows', 'batch_problems', 'events', 'outbox'].map((table) =>
          db.sql(`SELECT * FROM ${table}`),
        ),
      ),
    );
    for (const secret of [number, DOCUMENT]) assert.ok(!dump.includes(secret), secret);
  });

  it('the account numbers of rows are removed with the rows, but not those of payouts', async () => {
    const batches = await SupplierBatches.open(api, 150_000n);
    const { id } = await batches.ended({}, {});
    const rows = await batches.world.rows(id);
    assert.deepEqual(
      rows.map(({ status }) => status),
      ['paid', 'failed'],
    );
    const { database, clock } = api.core;
    const sealed = () => database.reader.select(payoutSecrets, { id: rows.map((row) => row.id) });
    assert.equal((await sealed()).length, 2);
    const before = instant(clock() + 60_000);
    for (let after: Uuid | null | undefined = null; after !== undefined;)
      after = (await removeOldRows(database, clock, 'paid batches', before, after))?.lastId;
    const [payout] = await walk(batches.own.bank, `/v1/payouts?batch=${id}`);
    assert.deepEqual(
      (await sealed()).map((secrets) => secrets.id),
      [payout?.id],
    );
    assert.deepEqual(await batches.world.rows(id), []);
    await railsOf(db).submissions.submit(asUuid(text(payout?.id)));
    assert.equal((await batches.own.get(text(payout?.id))).status, 'completed');
  });
});
