import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  computeEarlierPayments,
  EarlierPaymentsReader,
} from '../../src/batches/earlier-payments.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import type { Database, Reader } from '../../src/db/database.js';
import { type Batch, batchStorage } from '../../src/db/entities/batches.js';
import type { Account } from '../../src/db/entities/parties.js';
import type { StatementOwner } from '../../src/db/reader.js';
import { greedyReader } from '../campaigns/greedy-reader.js';
import { startTestApi } from '../helpers/api.js';
import { answered, type Bank, idLiteral, type Json, LEAST, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import { until } from '../helpers/temporal.js';
import { BatchWorld, payroll, resourceOf } from './support.js';

const DAY_MS = 24 * 3_600_000;
const NONE = { count: 0, rows: [] };

type PaidRow = readonly [to: Pick<Account, 'id'>, reference: string | null];

const db = await testDatabase();
const api = await describedApi(await startTestApi(db));

/** Longer than a computation takes on a slow machine. */
const PATIENT_MS = 60_000;

/** Counts the statements that compute earlier payments. Each waits for `released`. */
function countingDatabase(released = Promise.resolve()) {
  const counting = { statements: 0 };
  const database = Object.create(db.database, {
    readerFor: {
      value: (owner: StatementOwner): Reader => {
        const { searches } = db.database.readerFor(owner);
        const query = async (sql: string) => {
          counting.statements += 1;
          await released;
          return searches.query(sql);
        };
        return { ...searches, searches: { ...searches, query } };
      },
    },
  }) as Database;
  return Object.assign(counting, { database });
}

describe('the review of earlier payments', () => {
  let bank: Bank;
  let source: Account;
  let dora: Account;
  let batches: BatchWorld;

  beforeEach(async () => {
    bank = await openBank(api);
    source = await bank.account({ funds: { COPM: 1_000n * LEAST } });
    dora = await bank.account({ alias: '$dora' });
    batches = BatchWorld.of(bank);
  });

  /** A file of rows that pay accounts under references. */
  const file = (...rows: readonly PaidRow[]): Buffer =>
    payroll(rows.map(([to, reference]) => [to.id, LEAST.toString(), 'COPM', null, reference]));
  const ready = (...rows: readonly PaidRow[]): Promise<Batch> =>
    batches.ready(source, file(...rows));
  const paid = (...rows: readonly PaidRow[]): Promise<Batch> => batches.paid(source, file(...rows));
  const shown = async ({ id }: Pick<Batch, 'id'>): Promise<Json> =>
    answered(await bank.get(`/v1/bonus_batches/${id}`), 200).json;
  /** As GET shows them when nothing is stored. */
  async function earlier(batch: Pick<Batch, 'id'>): Promise<unknown> {
    await db.change(
      `UPDATE batch_storage SET earlier_payments_at=NULL WHERE batch_id=${idLiteral(batch.id)}`,
    );
    return (await shown(batch)).earlier_payments;
  }
  async function bonusOf({ id }: Pick<Batch, 'id'>, row = 2): Promise<unknown> {
    const { items } = answered(await bank.get(`/v1/bonus_batches/${id}/rows`), 200).json;
    return (items as Json[]).find((one) => one.row === row)?.bonus_id;
  }
  const single = (reference: string | null, to = dora): Promise<Json> =>
    bank
      .request('POST', '/v1/bonuses', {
        body: {
          source_account: source.id,
          recipient: { account_id: to.id },
          amount: { raw: LEAST.toString(), asset: 'COPM' },
          reference,
        },
        key: randomUUID(),
      })
      .then((answer) => answered(answer, 201).json);

  it('the review of a batch reports earlier payments by another batch, with its id and that of the bonus, and still accepts the file', async () => {
    const first = await paid([dora, 'PAY-001'], [dora, 'PAY-002']);
    const again = await ready([dora, 'PAY-003'], [dora, 'PAY-001']);
    const { items } = answered(await bank.get('/v1/bonus_batches?limit=1'), 200).json;
    assert.equal((items as Json[])[0]?.earlier_payments, null, 'lists show null');
    assert.deepEqual(await earlier(again), {
      count: 1,
      rows: [{ row: 3, batch_id: first.id, bonus_id: await bonusOf(first, 2) }],
    });
    assert.equal((await shown(again)).status, 'ready');
    resourceOf(await batches.execute(again));
    assert.equal(await earlier(again), null);
    await batches.payAll(again.id);
  });

  it('the review of a batch reports payments that other batches will make: two files with the same references warn of each other before either is executed', async () => {
    const first = await ready([dora, 'PAY-001']);
    assert.deepEqual(await earlier(first), NONE);
    const second = await ready([dora, 'PAY-001']);
    const expected = (by: Batch): Json => ({
      count: 1,
      rows: [{ row: 2, batch_id: by.id, bonus_id: null }],
    });
    assert.deepEqual(
      [await earlier(first), await earlier(second)],
      [expected(second), expected(first)],
    );
    resourceOf(await batches.execute(first));
    assert.deepEqual(await earlier(second), expected(first));
    await batches.payAll(first.id);
    const bonus = await bonusOf(first);
    assert.deepEqual(await earlier(second), {
      count: 1,
      rows: [{ row: 2, batch_id: first.id, bonus_id: bonus }],
    });
  });

  it('the review of a batch reports earlier payments by a single bonus with the same reference, and names the newest of several payments', async () => {
    await single('PAY-001');
    await paid([dora, 'PAY-001']);
    const { id } = await single('PAY-001');
    await single(null);
    assert.deepEqual(await earlier(await ready([dora, 'PAY-001'], [dora, null])), {
      count: 1,
      rows: [{ row: 2, batch_id: null, bonus_id: id }],
    });
  });

  it('the review of a batch does not report rows without a reference, payments to another account, or payments with another reference', async () => {
    const other = await bank.account();
    await paid([dora, null], [other, 'PAY-001'], [dora, 'PAY-002']);
    await single('PAY-003', other);
    await single('pay-001');
    assert.deepEqual(
      await earlier(await ready([dora, null], [dora, 'PAY-001'], [dora, 'PAY-003'])),
      NONE,
    );
  });

  it('the review of a batch reports as earlier payments neither failed rows nor rows of withdrawn or rejected batches', async () => {
    const poor = await bank.account({ funds: { COPM: LEAST - 1n } });
    await batches.paid(poor, file([dora, 'PAY-001']));
    const { id } = await ready([dora, 'PAY-001']);
    answered(await bank.request('POST', `/v1/bonus_batches/${id}/cancel`), 200);
    await batches.validated(source, payroll([[dora.id, 'x', 'COPM', null, 'PAY-001']]));
    assert.deepEqual(await earlier(await ready([dora, 'PAY-001'])), NONE);
  });

  it('the review of a batch reports no earlier payment of another tenant', async () => {
    const network = `net-${randomUUID()}`;
    const setNetwork = (of: Bank): Promise<unknown> =>
      db.change(
        `UPDATE tenants SET network='${network}' WHERE id=${idLiteral(of.tenant.tenant.id)}`,
      );
    const stranger = await openBank(api);
    await Promise.all([setNetwork(bank), setNetwork(stranger)]);
    const payer = await stranger.account({ funds: { COPM: 10n * LEAST } });
    const theirs = BatchWorld.of(stranger);
    await theirs.paid(payer, file([dora, 'PAY-001']));
    await theirs.ready(payer, file([dora, 'PAY-001']));
    assert.deepEqual(await earlier(await ready([dora, 'PAY-001'])), NONE);
  });

  it('the review of a batch reports earlier payments from any account of the tenant, up to 90 days back', async () => {
    const second = await bank.account({ funds: { COPM: 10n * LEAST } });
    await batches.paid(second, file([dora, 'PAY-001']));
    await single('PAY-002');
    const again = await ready([dora, 'PAY-001'], [dora, 'PAY-002']);
    const countAt = async (at: Instant): Promise<number> =>
      (await computeEarlierPayments(db.database.reader, again, at)).count;
    const now = systemClock();
    assert.equal(await countAt(now), 2);
    assert.equal(await countAt(instant(now + 89 * DAY_MS)), 2);
    assert.equal(await countAt(instant(now + 91 * DAY_MS)), 0);
  });

  it('the earlier payments of a batch are stored when its validation ends, and computed again at most every 3 seconds, once for all readers', async () => {
    let at = systemClock();
    const counting = countingDatabase();
    const reader = new EarlierPaymentsReader(
      { database: counting.database, clock: () => at },
      PATIENT_MS,
    );
    const readAll = async (batch: Batch): Promise<unknown[]> => {
      const all = Array.from({ length: 60 }, () => reader.read(db.database.reader, batch));
      return (await Promise.all(all)).map(({ count }) => count);
    };
    const first = await ready([dora, 'PAY-001']);
    at = (await db.database.reader.find(batchStorage, { batchId: first.id }))!.earlierPaymentsAt!;
    assert.deepEqual([new Set(await readAll(first)), counting.statements], [new Set([0]), 0]);
    await ready([dora, 'PAY-001']);
    at = instant(at + 3_000);
    assert.deepEqual([new Set(await readAll(first)), counting.statements], [new Set([0]), 0]);
    at = instant(at + 1);
    // The rows, and the empty page after the last one.
    assert.deepEqual([new Set(await readAll(first)), counting.statements], [new Set([1]), 2]);
    assert.deepEqual([new Set(await readAll(first)), counting.statements], [new Set([1]), 2]);
    const other = new EarlierPaymentsReader(
      { database: counting.database, clock: () => at },
      PATIENT_MS,
    );
    assert.deepEqual(
      [(await other.read(db.database.reader, first)).count, counting.statements],
      [1, 2],
    );
  });

  it('a reader of a batch whose earlier payments take long to compute gets the stored ones, and the end of the computation begins the next 3 seconds', async () => {
    let at = systemClock();
    let finish = (): void => undefined;
    const slow = countingDatabase(new Promise<void>((resolve) => (finish = resolve)));
    const reader = new EarlierPaymentsReader({ database: slow.database, clock: () => at }, 50);
    const first = await ready([dora, 'PAY-001']);
    const read = async (): Promise<number> => (await reader.read(db.database.reader, first)).count;
    await ready([dora, 'PAY-001']);
    at = instant(at + 60_000);
    assert.deepEqual(await Promise.all([read(), read()]), [0, 0]);
    assert.equal(slow.statements, 1);
    at = instant(at + 10_000);
    finish();
    await until('the computation has ended', async () => (await read()) === 1);
    assert.equal(await read(), 1);
    assert.equal(slow.statements, 2);
  });

  it('one token that reads a ready batch many times takes no read from another tenant', () =>
    greedyReader({ db, rows: 4_100, requests: 60, perSecond: 60, isTimed: false }));

  it('the review of a batch counts all earlier payments and names the first 100, even if they need several statements', async () => {
    const rows = Array.from({ length: 2_105 }, (_, index): PaidRow => [dora, `R-${index}`]);
    const first = await ready(...rows);
    const again = await ready([dora, 'NEW'], ...rows);
    const { count, rows: named } = (await earlier(again)) as { count: number; rows: Json[] };
    assert.deepEqual([count, named.length], [2_105, 100]);
    assert.deepEqual(
      named.map(({ row }) => row),
      Array.from({ length: 100 }, (_, index) => index + 3),
    );
    assert.deepEqual(named[99], { row: 102, batch_id: first.id, bonus_id: null });
  });
});
