import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { grantRole } from '../../src/members/roles.js';
import { systemClock } from '../../src/core/instant.js';
import { startTestApi, type RequestOptions, type TestAnswer } from '../helpers/api.js';
import { answered, idLiteral, LEAST, list, object, openBank, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';
import { batchServiceOf, csvOf, formOf, UNWATCHED } from './support.js';

const FILE = csvOf([['$ana', LEAST.toString(), 'COPM', 'November', 'r1']]);

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);
const payer = await bank.account();

describe('the upload of a batch over HTTP', () => {
  const upload = (form: FormData, options: RequestOptions = {}): Promise<TestAnswer> =>
    bank.request('POST', '/v1/bonus_batches', { form, ...options });
  const usual = (file: Buffer = FILE, named: Parameters<typeof formOf>[2] = {}): FormData =>
    formOf(file, { source_account: payer.id, description: 'November' }, named);
  const batches = async (): Promise<number> => {
    const [row] = await db.sql(
      `SELECT COUNT(*) AS n FROM batches WHERE source_account_id=${idLiteral(payer.id)}`,
    );
    return Number(row!.n);
  };
  it('answers 201 with the batch that is validating, which GET shows too', async () => {
    const { json, headers } = answered(await upload(usual()), 201);
    assert.deepEqual(
      [json.status, json.source_account, json.description, json.rows, json.total],
      ['validating', payer.id, 'November', 0, null],
    );
    assert.equal(headers.get('svc-idempotent-replayed'), null);
    assert.deepEqual(
      answered(await bank.get(`/v1/bonus_batches/${text(json.id)}`), 200).json,
      json,
    );
  });

  it('replays 200 for the same bytes under the same key, with any name of the file and its part', async () => {
    const key = randomUUID();
    const first = answered(await upload(usual(), { key }), 201);
    const again = answered(
      await upload(usual(FILE, { name: 'other.csv', part: 'data' }), { key }),
      200,
    );
    assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
    assert.deepEqual(again.json, first.json);
    const found = list((await bank.get(`/v1/bonus_batches?idempotency_key=${key}`)).json.items);
    assert.deepEqual(
      found.map(({ id }) => id),
      [first.json.id],
    );
  });

  it('a replayed upload of a batch returns the batch as GET shows it at that time, including the review', async () => {
    const key = randomUUID();
    const { id } = await bank.account();
    const rows = csvOf([[id, LEAST.toString(), 'COPM', null, null]]);
    const { json } = answered(await upload(usual(rows), { key }), 201);
    assert.equal(
      (await batchServiceOf(api.core).validate(text(json.id) as never, UNWATCHED)).status,
      'ready',
    );
    const shown = answered(await bank.get(`/v1/bonus_batches/${text(json.id)}`), 200).json;
    assert.equal(object(shown.funding).sufficient, false);
    assert.deepEqual(answered(await upload(usual(rows), { key }), 200).json, shown);
    // A member without a role in the account gets a response too, but not its balance.
    const stranger = await bank.member();
    const token = await bank.issue(stranger);
    const replay = answered(await upload(usual(rows), { key, token }), 200).json;
    assert.deepEqual(replay, {
      ...{ ...shown, funding: null, can_send: null, duplicates: replay.duplicates },
      ...{
        earlier_payments: null,
        total_formatted: null,
        fees_formatted: null,
        total_debit_formatted: null,
      },
    });
  });

  it('answers 409 for other bytes, another field or no field under the same key', async () => {
    const key = randomUUID();
    answered(await upload(usual(), { key }), 201);
    const before = await batches();
    for (const form of [
      usual(Buffer.concat([FILE, Buffer.from('\n')])),
      formOf(FILE, { source_account: payer.id, description: 'December' }),
      formOf(FILE, { source_account: payer.id }),
    ])
      answered(await upload(form, { key }), 409, 'idempotency_key_reused');
    assert.equal(await batches(), before);
  });

  it('simultaneous uploads with one key make one batch, and each gets a response', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 12 }, () => upload(usual(), { key })));
    const statuses = answers.map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [...Array.from({ length: 11 }, () => 200), 201]);
    assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
  });

  it('answers 404 for a foreign source as for a random one, 403 without the role, 401 without the scope, and leaves neither batch, bytes nor key', async () => {
    const foreign = await (await openBank(api)).account();
    const [before, key] = [await batches(), randomUUID()];
    for (const id of [foreign.id, randomUUID()])
      assert.deepEqual(
        answered(await upload(formOf(FILE, { source_account: id }), { key }), 404, 'not_found')
          .details,
        { field: 'source_account' },
      );
    const clerk = await bank.member();
    await grantRole(db.database, systemClock, clerk, payer.id, 'viewer', TEST_ACTOR);
    const viewer = await bank.issue(clerk);
    answered(await upload(usual(), { key, token: viewer }), 403, 'authority_insufficient');
    const token = await bank.issue(bank.tenant.owner, ['read', 'transfers']);
    answered(await upload(usual(), { key, token }), 401, 'insufficient_scope');
    assert.equal(await batches(), before);
    const orphans = await db.sql(
      'SELECT 1 FROM upload_chunks WHERE batch_id NOT IN (SELECT id FROM batches)',
    );
    assert.deepEqual(orphans, []);
    answered(await upload(usual(), { key }), 201);
  });
});
