import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type PolicyChange, setPolicy } from '../../src/approvals/policies.js';
import { systemClock } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { batchRows } from '../../src/db/entities/batches.js';
import { MAX_ROWS } from '../../src/batches/rules.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';
import {
  BatchWorld,
  codeOf,
  fileOf,
  HEADER,
  number,
  payroll,
  resourceOf,
  UNWATCHED,
  type WantedCell,
} from './support.js';

const MIN = LEAST.toString();

const db = await testDatabase();

describe('the validation of a batch', () => {
  let world: BatchWorld;
  let source: Account;
  let ana: Account;
  let phone = 3_101_000_000;

  beforeEach(async () => {
    world = await BatchWorld.open(db);
    source = await world.account({ alias: '$payroll' });
    ana = await world.account({ alias: '$ana', phone: nextPhone() });
  });

  const nextPhone = (): string => `+57${(phone += 1)}`;

  /** row, column, code of everything that is wrong. */
  async function wrong(file: Buffer): Promise<readonly (readonly [number, string, string])[]> {
    const batch = await world.validated(source, file);
    assert.equal(batch.status, 'rejected');
    return (await world.problems(batch.id)).map(({ number: row, field, code }) => [
      row,
      field,
      code,
    ]);
  }

  const one = (
    cells: readonly WantedCell[],
  ): Promise<readonly (readonly [number, string, string])[]> => wrong(payroll([cells]));

  const policy = (change: Partial<PolicyChange>): Promise<unknown> =>
    setPolicy(
      db.database,
      systemClock,
      {
        ...{ accountId: source.id, asset: 'COPM', threshold: 2n * LEAST, approvals: 2 },
        ...{ expiresInS: 3_600, refusesBatches: true, ...change },
      },
      TEST_ACTOR,
    );
  const paying = (...amounts: readonly bigint[]): Buffer =>
    payroll(amounts.map((raw) => ['$ana', raw.toString(), 'COPM']));

  it('under an approval policy that refuses batches rejects only a batch whose total reaches the threshold, with a file that says why', async () => {
    await policy({});
    const batch = await world.validated(source, paying(LEAST, LEAST));
    assert.deepEqual(
      [batch.status, batch.rowsRejected, batch.rejectionCode],
      ['rejected', 0, null],
    );
    assert(batch.filesGeneratedAt !== null);
    const [problem, ...others] = await world.problems(batch.id);
    assert.deepEqual(
      [others, problem?.number, problem?.field, problem?.code],
      [[], 0, '', 'above_approval_threshold'],
    );
    assert.match(
      problem!.message,
      /pays 2,000\.00 COPM.* refuses batches of 2,000\.00 COPM or more/,
    );
    assert.deepEqual(await world.events(), ['bonus_batch.rejected']);
    assert.deepEqual(await world.rows(batch.id), []);
    assert.equal((await world.validated(source, paying(2n * LEAST))).status, 'rejected');
    await world.ready(source, paying(2n * LEAST - 1n));
    await world.ready(source, payroll([['$ana', '10000000', 'DUSD']]));
    await policy({ refusesBatches: false });
    await world.ready(source, paying(2n * LEAST));
  });

  it('accepts a recipient by alias, by id and by phone, and fixes the account that is paid', async () => {
    const batch = await world.ready(
      source,
      payroll([
        ['$ANA', MIN, 'COPM', 'One', 'r1'],
        [ana.id.toUpperCase(), '100001', 'COPM', null, 'r2'],
        [` ${ana.phone!} `, ' 100002 ', ' COPM ', '', null],
        [number(ana.phone!.slice(3)), number('100003'), 'COPM'],
      ]),
    );
    assert.deepEqual(
      [batch.rowCount, batch.rowsRejected, batch.totalRaw, batch.asset],
      [4, 0, 400_006n, 'COPM'],
    );
    const rows = await world.rows(batch.id);
    assert.deepEqual(
      rows.map((row) => [
        row.number,
        row.recipientKey,
        row.raw,
        row.description,
        row.reference,
        row.status,
      ]),
      [
        [2, ana.id, 100_000n, 'One', 'r1', 'pending'],
        [3, ana.id, 100_001n, null, 'r2', 'pending'],
        [4, ana.id, 100_002n, null, null, 'pending'],
        [5, ana.id, 100_003n, null, null, 'pending'],
      ],
    );
    assert.deepEqual(await world.events(), ['bonus_batch.ready']);
  });

  it('accepts columns in any order and spelling, unknown columns, and a file without the optional columns', async () => {
    const file = fileOf([
      ['Asset ', 'Employee', 'AMOUNT', 'Recipient'],
      ['COPM', { kind: 'formula', text: '=A1' }, MIN, '$ana'],
    ]);
    assert.equal((await world.ready(source, file)).totalRaw, LEAST);
  });

  it('accepts a sheet that does not begin in row 1, empty rows, and rows with content only in other columns', async () => {
    const file = fileOf(
      [
        [...HEADER, 'note', ' '],
        [null, '', ' '],
        ['$ana', MIN, 'COPM'],
        [],
        [null, null, null, null, null, 'a note', null, ' '],
        ['$ana', MIN, 'COPM'],
      ],
      3,
    );
    const batch = await world.ready(source, file);
    assert.equal(batch.rowCount, 2);
    assert.deepEqual(
      (await world.rows(batch.id)).map((row) => row.number),
      [5, 8],
    );
  });

  it('finds ten kinds of mistakes in one file, each with its row and column', async () => {
    const stranger = await BatchWorld.open(db);
    const foreign = await stranger.account();
    const found = await wrong(
      payroll([
        ['$ana', MIN, 'COPM', 'right', 'r1'],
        ['$nobody', MIN, 'COPM'],
        ['ana', MIN, 'COPM'],
        ['$ana', '99999', 'COPM'],
        ['$ana', '120000000001', 'COPM'],
        ['$ana', '1,000.50', 'COPM'],
        ['$ana', MIN, 'EUR'],
        ['$ana', MIN, 'DUSD'],
        ['$ana', MIN, 'COPM', null, 'r1'],
        ['$ana', { kind: 'formula', text: '=B2' }, 'COPM'],
        ['$payroll', MIN, 'COPM'],
        [foreign.id, MIN, 'COPM'],
        [null, '', null],
        ['', MIN, ''],
        ['$ana', MIN, 'COPM', 'x'.repeat(141)],
      ]),
    );
    assert.deepEqual(found, [
      [3, 'recipient', 'not_found'],
      [4, 'recipient', 'invalid_field'],
      [5, 'amount', 'below_minimum'],
      [6, 'amount', 'above_per_operation_limit'],
      [7, 'amount', 'invalid_field'],
      [8, 'asset', 'invalid_field'],
      [9, 'asset', 'mixed_asset'],
      [10, 'reference', 'duplicate_reference'],
      [11, 'amount', 'formula_cell'],
      [12, 'recipient', 'same_account'],
      [13, 'recipient', 'not_found'],
      [15, 'recipient', 'missing_field'],
      [15, 'asset', 'missing_field'],
      [16, 'description', 'invalid_field'],
    ]);
  });

  it('finds every problem of a row, with the cell and a message for the author of the file', async () => {
    const date = { kind: 'date', text: '2026-11-01' } as const;
    const cells = ['Ana María', date, 'copm', { kind: 'error', text: '#REF!' } as const];
    const batch = await world.validated(source, payroll([[...cells, 'x'.repeat(65)]]));
    const problems = await world.problems(batch.id);
    assert.deepEqual(
      problems.map(({ field, code, value }) => [field, code, value]),
      ['Ana María', '2026-11-01', 'copm', '#REF!', 'x'.repeat(65)].map((value, at) => [
        ...[HEADER[at], 'invalid_field', value],
      ]),
    );
    assert.match(problems[0]!.message, /"Ana María" is neither an alias/);
    assert.match(problems[1]!.message, /is a date/);
    assert.deepEqual([batch.rowCount, batch.rowsRejected], [1, 1]);
  });

  it('reports amounts that are not whole numbers, in text and in number cells', async () => {
    const texts = '-1 1.5 1e5 +100000 0100000 ١٠٠٠٠٠ $100000 9223372036854775808'.split(' ');
    const numbers = '100000.5 1E-1 9007199254740992 -100000 1E99 NaN'.split(' ').map(number);
    const amounts = [...texts, '100 000', ...numbers];
    assert.deepEqual(
      await wrong(payroll(amounts.map((amount) => ['$ana', amount, 'COPM']))),
      amounts.map((_, index) => [index + 2, 'amount', 'invalid_field']),
    );
  });

  it('finds an amount of zero as below_minimum, even if the account has no minimum', async () => {
    assert.deepEqual(await one(['$ana', '0', 'COPM']), [[2, 'amount', 'below_minimum']]);
    await db.sql(
      `INSERT INTO account_limits VALUES (${idLiteral(source.id)}, 'COPM', 0, NULL, NULL)`,
    );
    assert.deepEqual(await one(['$ana', '0', 'COPM']), [[2, 'amount', 'below_minimum']]);
    assert.equal((await world.validated(source, payroll([['$ana', '1', 'COPM']]))).status, 'ready');
  });

  it("finds a phone of several accounts of the network as ambiguous_recipient; the tenant's own comes first", async () => {
    const network = `net-${randomUUID()}`;
    const shared = nextPhone();
    await db.sql(
      `UPDATE tenants SET network='${network}' WHERE id=${idLiteral(world.tenant.tenant.id)}`,
    );
    for (let count = 0; count < 2; count += 1) {
      const other = await BatchWorld.open(db);
      await db.sql(
        `UPDATE tenants SET network='${network}' WHERE id=${idLiteral(other.tenant.tenant.id)}`,
      );
      await other.account({ phone: shared });
    }
    assert.deepEqual(await one([shared, MIN, 'COPM']), [[2, 'recipient', 'ambiguous_recipient']]);
    assert.deepEqual(await one([nextPhone(), MIN, 'COPM']), [[2, 'recipient', 'not_found']]);
    await world.account({ phone: shared });
    assert.equal((await world.validated(source, payroll([[shared, MIN, 'COPM']]))).status, 'ready');
  });

  it('finds missing and double columns in the header alone, and counts the rows below it', async () => {
    const file = fileOf(
      [
        ['recipient', 'amount', 'Amount', 'Nombre'],
        ['$nobody', 'x'],
        [null, ' '],
        ['$ana', MIN],
      ],
      4,
    );
    assert.deepEqual(await wrong(file), [
      [4, 'amount', 'duplicate_column'],
      [4, 'asset', 'missing_column'],
    ]);
    const { rowCount, rowsRejected, asset } = await world.validated(source, file);
    assert.deepEqual([rowCount, rowsRejected, asset], [2, 0, null]);
  });

  it('rejects a file without rows, and an empty file', async () => {
    for (const file of [fileOf([HEADER]), fileOf([HEADER, [null], ['', ' ']]), fileOf([])])
      assert.deepEqual(await wrong(file), [[0, '', 'no_rows']]);
  });

  it('reports a file that ends too early, together with the problems before its end', async () => {
    for (const code of ['unreadable_file', 'too_many_columns'])
      assert.deepEqual(await wrong(payroll([['$nobody', MIN, 'COPM'], [`!${code}`]])), [
        [0, '', code],
        [2, 'recipient', 'not_found'],
      ]);
  });

  it("finds amounts that fit 64 bits by themselves, but not with the rows' fees, and reports the first row that exceeds them", async () => {
    await world.charge(await world.account(), { flatRaw: 1n });
    const most = 9_223_372_036_854_775_807n;
    await db.sql(
      `INSERT INTO account_limits VALUES (${idLiteral(source.id)}, 'COPM', NULL, ${most}, ${most})`,
    );
    const pays = (...amounts: readonly bigint[]): Buffer =>
      payroll(amounts.map((raw) => ['$ana', raw.toString(), 'COPM']));
    const half = (most - 2n) / 2n;
    const fits = await world.ready(source, pays(half, most - 2n - half));
    assert.deepEqual([fits.totalRaw, fits.feesRaw], [most - 2n, 2n]);
    for (const amounts of [[half, most - 1n - half], [most]] as const)
      assert.deepEqual(await wrong(pays(...amounts)), [
        [amounts.length + 1, 'amount', 'invalid_field'],
      ]);
  });

  it('stops after 100,000 rows, and reports that the file has too many', async () => {
    assert.equal(MAX_ROWS, 100_000);
    const [most, rows] = [300, Array.from({ length: 302 }, () => ['x', '', ''])];
    const { id } = await world.uploaded(source, payroll(rows));
    const batch = await world.validate(id, UNWATCHED, most);
    assert.deepEqual([batch.status, batch.rowCount, batch.rowsRejected], ['rejected', most, most]);
    const [last] = (await world.problems(batch.id)).slice(-1);
    assert.deepEqual([last?.number, last?.code], [most + 2, 'too_many_rows']);
  });

  it('rejects the whole file for one wrong row, stores none of its rows, and emits an event', async () => {
    const rows = Array.from({ length: 200 }, () => ['$ana', MIN, 'COPM']);
    const batch = await world.validated(source, payroll([...rows, ['$nobody', MIN, 'COPM']]));
    assert.deepEqual([batch.status, batch.rowCount, batch.rowsRejected], ['rejected', 201, 1]);
    assert.deepEqual(await world.database.reader.select(batchRows, { batchId: batch.id }), []);
    assert.deepEqual(await world.events(), ['bonus_batch.rejected']);
    assert.equal(codeOf(await world.execute(batch)), 'invalid_state');
  });

  it('fixes the fee of each row and the account that receives it', async () => {
    const fees = await world.account();
    await world.charge(fees, { basisPoints: 10n, floorRaw: 150n });
    const batch = await world.ready(
      source,
      payroll([
        ['$ana', MIN, 'COPM'],
        ['$ana', '1000000', 'COPM'],
      ]),
    );
    assert.deepEqual([batch.feesRaw, batch.feeAccountId], [1_150n, fees.id]);
    assert.deepEqual(
      (await world.rows(batch.id)).map(({ feeRaw }) => feeRaw),
      [150n, 1_000n],
    );
    const free = await world.ready(fees, payroll([['$ana', MIN, 'COPM']]));
    assert.deepEqual([free.feesRaw, free.feeAccountId], [0n, null]);
  });

  it('lists rows that repeat a recipient under any name, and the newest batch with the same bytes', async () => {
    const file = payroll([
      ['$ana', MIN, 'COPM'],
      [ana.phone!, MIN, 'COPM'],
      [ana.id, MIN, 'COPM'],
    ]);
    const first = await world.ready(source, file);
    assert.deepEqual(
      [first.duplicateCount, first.duplicateRows, first.sameFileBatchId],
      [2, [3, 4], null],
    );
    const second = await world.ready(source, file);
    const third = await world.ready(source, file);
    assert.deepEqual([second.sameFileBatchId, third.sameFileBatchId], [first.id, second.id]);
    await db.sql(
      `UPDATE batches SET created_at=DATE_SUB(created_at, INTERVAL 91 DAY) WHERE tenant_id=${idLiteral(world.tenant.tenant.id)}`,
    );
    assert.equal((await world.ready(source, file)).sameFileBatchId, null);
  });

  describe('that is interrupted', () => {
    const rows = Array.from({ length: 3_000 }, () => ['$ana', MIN, 'COPM']);

    it('an interrupted validation of a batch begins again from the first row, and stores each row once', async () => {
      const { id } = await world.uploaded(source, payroll([...rows, ['$nobody', MIN, 'COPM']]));
      for (const stopAt of [900, 1_800, 2_700]) {
        const abort = new AbortController();
        const heartbeat = (done: number): void =>
          void (done >= stopAt && abort.abort(new Error('cut off')));
        await assert.rejects(world.validate(id, { signal: abort.signal, heartbeat }), /cut off/);
        assert.equal((await world.batch(id)).status, 'validating');
      }
      const batch = await world.validate(id);
      assert.deepEqual([batch.status, batch.rowCount, batch.rowsRejected], ['rejected', 3_001, 1]);
      assert.equal((await world.problems(id)).length, 1);
    });

    it('a row keeps its id when the validation of its batch begins again, and ids follow the order of the file', async () => {
      const { id } = await world.uploaded(source, payroll(rows));
      const abort = new AbortController();
      const heartbeat = (done: number): void => void (done >= 1_800 && abort.abort());
      await assert.rejects(world.validate(id, { signal: abort.signal, heartbeat }));
      const idsOf = async (): Promise<string[]> =>
        (
          await db.sql(
            `SELECT HEX(id) AS id FROM batch_rows WHERE batch_id=${idLiteral(id)} ORDER BY number`,
          )
        ).map((row) => String(row.id));
      const before = await idsOf();
      await world.validate(id);
      const after = await idsOf();
      assert(before.length > 0 && after.length === rows.length);
      assert.deepEqual(after.slice(0, before.length), before);
      assert.deepEqual(after, [...new Set(after)].sort());
    });

    it('of two concurrent validations of a batch the later one continues, and the earlier one writes no more', async () => {
      const { id } = await world.uploaded(source, payroll(rows));
      const [one, two, three] = await Promise.all([
        world.validate(id),
        world.validate(id),
        world.validate(id),
      ]);
      const batch = await world.batch(id);
      assert.deepEqual(
        [batch.status, batch.rowCount, batch.totalRaw],
        ['ready', 3_000, 3_000n * LEAST],
      );
      assert.equal((await world.rows(id)).length, 3_000);
      assert(one.id === id && two.id === id && three.id === id);
      assert.deepEqual(await world.events(), ['bonus_batch.ready']);
    });

    it('fails and is retried if its bytes cannot be read, and does not reject the batch', async () => {
      const batch = resourceOf(await world.upload(source, payroll(rows)));
      await db.sql(`DELETE FROM upload_chunks WHERE batch_id=${idLiteral(batch.id)}`);
      await assert.rejects(world.validate(batch.id), /are missing/);
      assert.equal((await world.batch(batch.id)).status, 'validating');
    });
  });
});
