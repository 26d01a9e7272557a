import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import ExcelJS from 'exceljs';
import { addMember } from '../../src/members/members.js';
import { setQuotas } from '../../src/access/quotas.js';
import { type Instant, instant, systemClock, toRfc3339 } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { removeOldFiles, StatementMaker } from '../../src/statements/statement-maker.js';
import { statementsCampaign } from '../campaigns/statements.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import {
  answered,
  type Json,
  idLiteral,
  LEAST,
  list,
  object,
  openBank,
  text,
  walk,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';
import { askStatement, makeStatements, statementOf } from './support.js';

const START = Date.parse('2032-05-01T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const COLUMNS = [
  ...[
    'created_at',
    'kind',
    'amount_in',
    'amount_out',
    'balance',
    'asset',
    'counterparty',
    'counterparty_alias',
  ],
  ...['counterparty_account_id', 'description', 'movement_id', 'related_type', 'related_id'],
];

const db = await testDatabase();
let now = instant(START);
const api = await startTestApi(db, {}, { clock: () => now });
const bank = await openBank(api);

describe('statements', () => {
  let payer: Account;
  let person: Account;

  before(async () => {
    payer = await bank.account();
    person = await bank.account({
      type: 'person',
      name: '=HYPERLINK("http://x.example")',
      alias: '$ana',
    });
    for (let step = 0; step < 60; step += 1) {
      now = instant(START + Math.trunc(step / 3));
      const asset = step % 4 === 0 ? 'DUSD' : 'COPM';
      if (step < 5 || step % 7 === 0)
        await bank.fund(payer, { raw: 50n * LEAST + BigInt(step), asset });
      else
        await bank.sent({
          from: payer,
          to: person,
          raw: LEAST,
          asset,
          description: step % 2 ? '=1+1' : 'rent',
        });
    }
    now = instant(START + HOUR_MS);
  });

  const at = (offset: number): Instant => instant(START + offset);
  const period = (from: number, to: number, account = payer) => ({
    account,
    from: at(from),
    to: at(to),
  });
  const made = async (wanted = period(3, 14), options = {}): Promise<Json> =>
    answered(await askStatement(bank, wanted, options), 201).json;
  const totalAt = async (account: Account, moment: Instant, asset: string): Promise<unknown> => {
    const { json } = answered(
      await bank.get(`/v1/accounts/${account.id}/balances?at=${toRfc3339(moment)}`),
      200,
    );
    return list(json.balances).find((one) => one.asset === asset)?.total;
  };
  const download = (id: unknown, query = ''): Promise<TestAnswer> =>
    bank.get(`/v1/statements/${text(id)}/file${query}`);
  const linesOf = async (id: unknown): Promise<string[][]> =>
    parse(answered(await download(id), 200).bytes, { bom: true });
  const sheetOf = async (id: unknown): Promise<string[][]> => {
    const book = new ExcelJS.Workbook();
    await book.xlsx.load(
      new Uint8Array(answered(await download(id, '?format=xlsx'), 200).bytes).buffer,
    );
    const [sheet] = book.worksheets;
    assert.equal(sheet?.name, 'Statement');
    const rows: string[][] = [];
    sheet.eachRow((row) => {
      rows.push(COLUMNS.map((_, index) => row.getCell(index + 1).text));
    });
    return rows;
  };

  it('a statement has its opening and closing balances at once', async () => {
    for (const asset of ['COPM', 'DUSD']) {
      const answer = answered(await askStatement(bank, { ...period(3, 14), asset }), 201);
      const { id, created_at: createdAt, ...shown } = answer.json;
      assert.equal(id, answer.headers.get('svc-request-id'));
      assert.deepEqual(shown, {
        status: 'preparing',
        account_id: payer.id,
        asset,
        from: toRfc3339(at(3)),
        to: toRfc3339(at(14)),
        opening_balance: { raw: await totalAt(payer, at(2), asset), asset },
        closing_balance: { raw: await totalAt(payer, at(14), asset), asset },
        movements: null,
        files: { csv_url: null, xlsx_url: null },
      });
      assert.equal(createdAt, toRfc3339(now));
      answered(await download(id), 404, 'not_found');
    }
  });

  it('the CSV and the XLSX of a statement both have every movement of the period', async () => {
    const { id, opening_balance: opening, closing_balance: closing } = await made();
    await makeStatements(api);
    const { status, movements, files } = await statementOf(bank, id);
    assert.deepEqual([status, movements], ['ready', (await linesOf(id)).length - 3]);
    for (const url of Object.values(object(files)))
      assert.match(text(url), new RegExp(`/v1/statements/${text(id)}/file\\?format=(csv|xlsx)$`));
    const [header, first, ...rest] = await linesOf(id);
    const last = rest.pop()!;
    assert.deepEqual(header, COLUMNS);
    assert.deepEqual(first!.slice(0, 6), [
      toRfc3339(at(3)),
      'opening_balance',
      '',
      '',
      object(opening).raw,
      'COPM',
    ]);
    assert.deepEqual(last.slice(0, 6), [
      toRfc3339(at(14)),
      'closing_balance',
      '',
      '',
      object(closing).raw,
      'COPM',
    ]);
    const query = `asset=COPM&created_at[gte]=${toRfc3339(at(3))}&created_at[lte]=${toRfc3339(at(14))}&limit=100`;
    const shown = (await walk(bank, `/v1/accounts/${payer.id}/movements?${query}`)).reverse();
    assert(shown.length > 10);
    const amount = (one: Json, direction: string): unknown =>
      text(one.kind).endsWith(direction) ? object(one.amount).raw : '';
    assert.deepEqual(
      rest.map((line) => line.slice(0, 6).concat(line.slice(8, 9), line.slice(10))),
      shown.map((one) => [
        ...[
          one.created_at,
          one.kind,
          amount(one, '_in'),
          amount(one, '_out'),
          object(one.total_after).raw,
          'COPM',
        ],
        ...[
          object(one.counterparty).account_id ?? '',
          one.id,
          object(one.related).type,
          object(one.related).id,
        ],
      ]),
    );
    const withoutGuard = (rows: string[][]): string[][] =>
      rows.map((row) => row.map((cell) => cell.replace(/^'/, '')));
    assert.deepEqual(await sheetOf(id), withoutGuard(await linesOf(id)));
  });

  it('contain no formula, with any names and descriptions', async () => {
    const { id } = await made({ ...period(0, 20), account: person });
    const sent = await made(period(0, 20));
    await makeStatements(api);
    for (const statement of [id, sent.id]) {
      const cells = (await linesOf(statement)).flat();
      assert.deepEqual(
        cells.filter((cell) => /^[=+\-@]/.test(cell)),
        [],
      );
    }
    assert((await linesOf(sent.id)).some((line) => line[9] === "'=1+1" && line[7] === '$ana'));
  });

  it('of a period without movements have only both balances, and may begin before the account did', async () => {
    const quiet = await made({ account: payer, from: at(1000), to: at(2000) });
    const early = await made({ account: payer, from: instant(0), to: at(-1) });
    await makeStatements(api);
    assert.equal((await linesOf(quiet.id)).length, 3);
    assert.deepEqual(object(early.closing_balance).raw, '0');
    assert.equal((await statementOf(bank, early.id)).movements, 0);
  });

  it('one idempotency key creates one statement', async () => {
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => askStatement(bank, period(3, 14), { key })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [
      ...Array<number>(9).fill(200),
      201,
    ]);
    assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
    answered(await askStatement(bank, period(3, 15), { key }), 409, 'idempotency_key_reused');
    answered(
      await askStatement(bank, period(3, 15), { key: null }),
      400,
      'missing_idempotency_key',
    );
  });

  it('are refused for a period, an asset or an account that is not possible', async () => {
    for (const [changed, field, reason] of [
      [{ from: toRfc3339(at(5)), to: toRfc3339(at(4)) }, 'to', 'before_from'],
      [{ to: toRfc3339(instant(now + 1)) }, 'to', 'in_the_future'],
      [{ to: toRfc3339(instant(now - 14_999)) }, 'to', 'too_recent'],
      [{ from: toRfc3339(instant(0)), to: toRfc3339(instant(1)) }, 'to', 'before_opening'],
      [{ from: '2032-05-01' }, 'from', 'not_a_date_time'],
    ] as const) {
      const whole = { from: toRfc3339(at(0)), to: toRfc3339(at(9)) };
      const body = { account_id: payer.id, asset: 'COPM', ...whole, ...changed };
      const answer = await bank.request('POST', '/v1/statements', { body });
      const { details } = answered(answer, 400, 'invalid_field');
      assert.deepEqual([details?.field, details?.reason], [field, reason]);
    }
  });

  it('of an account are not found by another tenant or by a member without a role in the account', async () => {
    const { id } = await made();
    await makeStatements(api);
    const stranger = await openBank(api);
    const nobody = await addMember(
      db.database,
      systemClock,
      bank.tenant.tenant.id,
      randomUUID(),
      TEST_ACTOR,
    );
    const token = await bank.issue(nobody);
    for (const path of ['', '/file']) {
      const missing = await stranger.get(`/v1/statements/${randomUUID()}${path}`);
      assert.equal(
        (await stranger.get(`/v1/statements/${text(id)}${path}`)).text,
        answered(missing, 404, 'not_found').text,
      );
      answered(await stranger.get(`/v1/statements/x${path}`), 404, 'not_found');
      answered(
        await bank.request('GET', `/v1/statements/${text(id)}${path}`, { token }),
        403,
        'authority_insufficient',
      );
    }
    answered(await askStatement(stranger, period(3, 14)), 404, 'not_found');
    answered(await askStatement(bank, period(3, 14), { token }), 403, 'authority_insufficient');
    assert.deepEqual(await walk(stranger, '/v1/statements'), []);
    assert.deepEqual(await walk(stranger, `/v1/statements?account_id=${payer.id}`), []);
    const seen = answered(await bank.request('GET', '/v1/statements', { token }), 200).json;
    assert.deepEqual(seen, { items: [], next_cursor: null });
  });

  it('are listed newest first, of one account or of all', async () => {
    const own = await openBank(api);
    const [one, other] = [await own.account(), await own.account()];
    const ids: unknown[] = [];
    for (let index = 0; index < 7; index += 1) {
      now = instant(now + 1);
      const wanted = { ...period(3, 14), account: index % 2 === 0 ? one : other };
      ids.unshift(answered(await askStatement(own, wanted), 201).json.id);
    }
    assert.deepEqual(
      (await walk(own, '/v1/statements?limit=2')).map(({ id }) => id),
      ids,
    );
    const ofOne = (await walk(own, `/v1/statements?account_id=${one.id}&limit=1`)).map(
      ({ id }) => id,
    );
    assert.deepEqual(
      ofOne,
      ids.filter((_, index) => index % 2 === 0),
    );
    for (const query of ['limit=0', 'account_id=x', 'cursor=x', 'status=ready'])
      answered(await own.get(`/v1/statements?${query}`), 400, 'invalid_field');
  });

  it("a statement over a tenant's quotas of waiting statements or rows is refused", async () => {
    const own = await openBank(api);
    const account = await own.account();
    const ask = (): Promise<TestAnswer> => askStatement(own, { ...period(3, 14), account });
    const quotaOf = (answer: TestAnswer): unknown =>
      answered(answer, 422, 'quota_exceeded').details;
    for (let index = 0; index < 20; index += 1) answered(await ask(), 201);
    const key = randomUUID();
    const late = await askStatement(own, { ...period(3, 14), account }, { key });
    assert.deepEqual(quotaOf(late), { quota: 'open_statements', used: '20', limit: '20' });
    await makeStatements(api);
    // It has bound nothing.
    answered(await askStatement(own, { ...period(3, 14), account }, { key }), 201);
    await setQuotas(
      db.database,
      systemClock,
      own.tenant.tenant.id,
      { statementRows: 2_199n },
      TEST_ACTOR,
    );
    assert.deepEqual(quotaOf(await ask()), {
      quota: 'statement_rows',
      used: '2100',
      limit: '2199',
    });
    await setQuotas(
      db.database,
      systemClock,
      own.tenant.tenant.id,
      { statementRows: 2_200n },
      TEST_ACTOR,
    );
    answered(await ask(), 201);
  });

  it('lose their files after a while, and keep their figures', async () => {
    const { id, opening_balance: opening } = await made();
    await makeStatements(api);
    assert.equal(await removeOldFiles(db.database, instant(now - DAY_MS), 20), 0);
    while ((await removeOldFiles(db.database, instant(now + DAY_MS), 20)) > 0);
    const shown = await statementOf(bank, id);
    assert.deepEqual([shown.status, shown.opening_balance], ['expired', opening]);
    assert.deepEqual(shown.files, { csv_url: null, xlsx_url: null });
    answered(await download(id), 404, 'not_found');
    assert.deepEqual(await db.sql('SELECT owner_id FROM generated_file_pieces'), []);
  });

  it('an interrupted statement is generated by another process once the first claim has expired', async () => {
    await makeStatements(api);
    const { id } = await made();
    const { database } = api.core;
    const maker = new StatementMaker({ database, clock: () => now }, 'short');
    // As one that was killed behind its first pieces leaves it.
    await db.change(
      `UPDATE statements SET generation_attempt=1, lease_until='${toRfc3339(instant(now + 60_000))
        .slice(0, 23)
        .replace('T', ' ')}'
       WHERE id=${idLiteral(text(id))}`,
    );
    await db.sql(
      `INSERT INTO generated_file_pieces VALUES (${idLiteral(text(id))}, 'csv', 0, 'x'), (${idLiteral(text(id))}, 'csv', 9, 'y')`,
    );
    const { signal } = new AbortController();
    assert.equal(await maker.makeNext(signal), false);
    now = instant(now + 60_001);
    assert.equal(await maker.makeNext(signal), true);
    assert.equal((await statementOf(bank, id)).status, 'ready');
    assert((await linesOf(id)).length > 3);
  });

  it('that are asked for while money moves agree with the balances read at their moments', () =>
    statementsCampaign({ db, accounts: 20, statements: 24, clients: 4, speed: 20 }));
});
