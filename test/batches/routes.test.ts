import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import {
  answered,
  type Bank,
  idLiteral,
  LEAST,
  list,
  object,
  openBank,
  setStatus,
  text,
  walk,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { BatchWorld, payroll, resourceOf } from './support.js';

/** The fields that a batch does not show before it is validated. */
const UNKNOWN =
  'total fees total_debit total_formatted fees_formatted total_debit_formatted duplicates earlier_payments hidden unread_sheets rejection executed_at finished_at funding can_send progress';

const db = await testDatabase();
const api = await startTestApi(db);

describe('batches over HTTP', () => {
  let bank: Bank;
  let batches: BatchWorld;
  let payer: Account;
  let ana: Account;

  beforeEach(async () => {
    bank = await openBank(api);
    batches = BatchWorld.of(bank);
    payer = await bank.account({ funds: { COPM: 10n * LEAST } });
    ana = await bank.account({ alias: '$ana' });
  });

  const file = (...amounts: readonly bigint[]): Buffer =>
    payroll(amounts.map((raw, index) => ['$ana', raw.toString(), 'COPM', null, `r${index}`]));
  const execute = (id: string, key: string = randomUUID(), token?: string): Promise<TestAnswer> =>
    bank.request('POST', `/v1/bonus_batches/${id}/execute`, {
      key,
      ...(token === undefined ? {} : { token }),
    });

  it('GET shows the progress of a batch that is validating', async () => {
    const { id, createdAt } = await batches.uploaded(payer, file(LEAST));
    assert.deepEqual(answered(await bank.get(`/v1/bonus_batches/${id}`), 200).json, {
      id,
      status: 'validating',
      source_account: payer.id,
      description: 'November',
      ...{ rows: 0, rows_rejected: 0, files: { errors_url: null, result_url: null } },
      created_at: new Date(createdAt).toISOString(),
      ...Object.fromEntries(UNKNOWN.split(' ').map((field) => [field, null])),
    });
  });

  it('GET shows a ready batch with its review: totals, funding, duplicates, and whether the source may send', async () => {
    const { id } = await batches.ready(payer, file(6n * LEAST, 5n * LEAST));
    const review = async (): Promise<unknown> => {
      const { json } = answered(await bank.get(`/v1/bonus_batches/${id}`), 200);
      const {
        status,
        total,
        fees,
        total_debit: debit,
        funding,
        can_send: canSend,
        duplicates,
      } = json;
      const texts = [json.total_formatted, json.fees_formatted, json.total_debit_formatted];
      return { status, total, fees, debit, funding, canSend, duplicates, texts };
    };
    const money = (raw: bigint): unknown => ({ raw: raw.toString(), asset: 'COPM' });
    const shown = {
      status: 'ready',
      total: money(11n * LEAST),
      fees: money(0n),
      debit: money(11n * LEAST),
      funding: { available: '1000000', sufficient: false, shortfall: '100000' },
      canSend: true,
      duplicates: { count: 1, rows: [3], same_file_batch_id: null },
      texts: ['11,000.00 COPM', '0.00 COPM', '11,000.00 COPM'],
    };
    assert.deepEqual(await review(), shown);
    assert.deepEqual(
      object(list((await bank.get('/v1/bonus_batches')).json.items)[0]).funding,
      shown.funding,
    );
    await bank.fund(payer, { raw: LEAST, asset: 'COPM' });
    await setStatus(db, payer, 'frozen');
    assert.deepEqual(await review(), {
      ...shown,
      canSend: false,
      funding: { available: '1100000', sufficient: true, shortfall: '0' },
    });
  });

  it('executing a batch over HTTP is 202 with its progress, 202 as a replay with the same key, and 409 with another key', async () => {
    const { id } = await batches.ready(payer, file(LEAST, 2n * LEAST));
    const key = randomUUID();
    const { json } = answered(await execute(id, key), 202);
    assert.deepEqual(
      [json.status, json.progress, json.funding],
      ['executing', { paid: 0, failed: 0, pending: 2 }, null],
    );
    const balances = answered(await bank.get(`/v1/accounts/${payer.id}/balances`), 200).json;
    assert.deepEqual(list(balances.balances)[0], {
      asset: 'COPM',
      available: '700000',
      held: '300000',
      total: '1000000',
    });
    await batches.payAll(id);
    const again = answered(await execute(id, key), 202);
    assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
    assert.deepEqual(
      [again.json.status, again.json.progress],
      ['completed', { paid: 2, failed: 0, pending: 0 }],
    );
    assert.deepEqual(answered(await execute(id), 409, 'invalid_state').details, {
      current: 'completed',
      allowed: ['ready'],
    });
    answered(
      await bank.request('POST', `/v1/bonus_batches/${id}/execute`, { key: null }),
      400,
      'missing_idempotency_key',
    );
    const files = object(again.json.files);
    assert.equal(files.result_url, `http://127.0.0.1:8080/v1/bonus_batches/${id}/files/result`);
  });

  it('the rows of a batch are listed over HTTP in the order of the file, by status and page by page', async () => {
    const { id } = await batches.ready(payer, file(...Array.from({ length: 12 }, () => LEAST)));
    answered(await execute(id), 202);
    await batches.payAll(id);
    const rows = await walk(bank, `/v1/bonus_batches/${id}/rows?limit=5`);
    assert.deepEqual(
      rows.map(({ row, status }) => [row, status]),
      Array.from({ length: 12 }, (_, index) => [index + 2, index < 10 ? 'paid' : 'failed']),
    );
    const [first] = rows;
    const bonus = answered(await bank.get(`/v1/bonuses/${text(first?.bonus_id)}`), 200).json;
    assert.deepEqual(first, {
      row: 2,
      status: 'paid',
      recipient: '$ana',
      account_id: ana.id,
      amount: { raw: '100000', asset: 'COPM' },
      fee: { raw: '0', asset: 'COPM' },
      description: null,
      reference: 'r0',
      metadata: {},
      bonus_id: bonus.id,
      failure: null,
      paid_at: bonus.created_at,
    });
    const failed = await walk(bank, `/v1/bonus_batches/${id}/rows?status=failed&limit=1`);
    assert.deepEqual(failed, rows.slice(10));
    assert.equal(object(failed[0]?.failure).code, 'insufficient_funds');
    assert.deepEqual(await walk(bank, `/v1/bonus_batches/${id}/rows?status=pending`), []);
    answered(await bank.get(`/v1/bonus_batches/${id}/rows?status=done`), 400, 'invalid_field');
    const cursor = text((await bank.get(`/v1/bonus_batches/${id}/rows?limit=5`)).json.next_cursor);
    answered(
      await bank.get(`/v1/bonus_batches/${id}/rows?limit=5&status=paid&cursor=${cursor}`),
      400,
      'invalid_field',
    );
  });

  it('GET /v1/bonus_batches lists the batches of accounts with a role, newest first, filtered by status, source, time and key', async () => {
    const [one, two] = [
      await batches.ready(payer, file(LEAST)),
      await batches.uploaded(payer, file(LEAST)),
    ];
    const other = await bank.account();
    const uploadKey = randomUUID();
    const three = resourceOf(await batches.upload(other, file(LEAST), uploadKey));
    const ids = async (query: string): Promise<unknown[]> =>
      (await walk(bank, `/v1/bonus_batches?limit=1${query}`)).map(({ id }) => id);
    assert.deepEqual(await ids(''), [three.id, two.id, one.id]);
    assert.deepEqual(await ids('&status=validating'), [three.id, two.id]);
    assert.deepEqual(await ids(`&source_account=${payer.id}`), [two.id, one.id]);
    assert.deepEqual(await ids(`&source_account=${payer.id}&status=ready`), [one.id]);
    assert.deepEqual(await ids('&created_at[lte]=2020-01-01T00:00:00Z'), []);
    assert.deepEqual(await ids(`&idempotency_key=${uploadKey}`), [three.id]);
    assert.deepEqual(await ids(`&idempotency_key=${uploadKey}&status=ready`), []);
    const key = randomUUID();
    answered(await bank.request('POST', `/v1/bonus_batches/${one.id}/execute`, { key }), 202);
    assert.deepEqual(await ids(`&idempotency_key=${key}`), [one.id]);
    await batches.payAll(one.id);
    await db.change(`DELETE FROM member_roles WHERE account_id=${idLiteral(payer.id)}`);
    assert.deepEqual(await ids(''), [three.id]);
    answered(await bank.get(`/v1/bonus_batches/${one.id}`), 403, 'authority_insufficient');
    answered(await bank.get(`/v1/bonus_batches/${one.id}/rows`), 403, 'authority_insufficient');
  });
});
