import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { grantRole } from '../../src/members/roles.js';
import { type QuotaChange, readQuotas, setQuotas } from '../../src/access/quotas.js';
import { deleteUploadedBytes } from '../../src/batches/sweeps.js';
import { instant, systemClock } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, type Bank, LEAST, openBank, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';
import { batchServiceOf, BatchWorld, csvOf, formOf, UNWATCHED } from './support.js';

const MIB = 1024 * 1024;
const FILE = csvOf([['$nobody', LEAST.toString(), 'EUR', null, null]]);

const db = await testDatabase();
const api = await startTestApi(db);

describe('the quotas of a tenant', () => {
  let bank: Bank;
  let payer: Account;

  beforeEach(async () => {
    bank = await openBank(api);
    payer = await bank.account();
  });

  const upload = (
    key: string = randomUUID(),
    token = bank.token,
    file = FILE,
  ): Promise<TestAnswer> =>
    bank.request('POST', '/v1/bonus_batches', {
      form: formOf(file, { source_account: payer.id }),
      key,
      token,
    });
  const set = (change: QuotaChange): Promise<void> =>
    setQuotas(db.database, systemClock, bank.tenant.tenant.id, change, TEST_ACTOR);
  const used = async () => (await readQuotas(db.database.reader, bank.tenant.tenant.id)).used;
  const refused = async (
    quota: string,
    counts: { readonly used: string; readonly limit: string },
  ): Promise<void> =>
    assert.deepEqual(answered(await upload(), 422, 'quota_exceeded').details, { quota, ...counts });
  const validate = async (answer: TestAnswer): Promise<void> => {
    const { status } = await batchServiceOf(api.core).validate(
      text(answer.json.id) as never,
      UNWATCHED,
    );
    assert.equal(status, 'rejected');
  };

  it('refuse an upload beyond the limit of open batches, until one has ended', async () => {
    await set({ openBatches: 2n });
    const [first] = [answered(await upload(), 201), answered(await upload(), 201)];
    await refused('open_batches', { used: '2', limit: '2' });
    await validate(first);
    answered(await upload(), 201);
  });

  it('refuse an upload if too many problems of rejected files are stored', async () => {
    await set({ problemRows: 2n });
    await validate(answered(await upload(), 201));
    assert.equal((await used()).problemRows, 2n);
    await refused('problem_rows', { used: '2', limit: '2' });
  });

  it('refuse an upload if too many unpaid rows of withdrawn or rejected batches are stored', async () => {
    await set({ unpaidRows: 2n });
    const { id } = await bank.account();
    const rows = csvOf([[id, LEAST.toString(), 'COPM', null, null]]);
    const ready = async (): Promise<string> => {
      const batchId = text(answered(await upload(randomUUID(), bank.token, rows), 201).json.id);
      const { status } = await batchServiceOf(api.core).validate(batchId as never, UNWATCHED);
      assert.equal(status, 'ready');
      return `/v1/bonus_batches/${batchId}`;
    };
    answered(await bank.request('POST', `${await ready()}/cancel`), 200);
    assert.equal((await used()).unpaidRows, 1n);
    const own = await ready();
    await refused('unpaid_rows', { used: '2', limit: '2' });
    answered(await bank.request('POST', `${own}/execute`), 202);
    await BatchWorld.of(bank).payAll(own.split('/').at(-1) as never);
    assert.equal((await bank.get(own)).json.status, 'partially_failed');
    await refused('unpaid_rows', { used: '2', limit: '2' });
    await set({ unpaidRows: 3n });
    answered(await upload(), 201);
  });

  it('count the bytes of files until these are removed', async () => {
    await set({ storedBytes: BigInt(FILE.length) + 10n });
    await validate(answered(await upload(), 201));
    answered(await upload(), 422, 'quota_exceeded');
    await deleteUploadedBytes(
      { database: db.database, clock: systemClock },
      instant(Date.now() + 60_000),
    );
    assert.equal((await used()).storedBytes, 0n);
    answered(await upload(), 201);
  });

  it('hold against simultaneous uploads', async () => {
    await set({ openBatches: 1n });
    const answers = await Promise.all(Array.from({ length: 4 }, () => upload()));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 422, 422, 422]);
  });

  it('leave no key behind: the same request is accepted once there is room', async () => {
    await set({ openBatches: 0n });
    const key = randomUUID();
    answered(await upload(key), 422, 'quota_exceeded');
    await set({ openBatches: null });
    const { json } = answered(await upload(key), 201);
    await set({ openBatches: 0n });
    assert.equal(
      answered(await upload(key), 200).json.id,
      json.id,
      'what a key made is answered whatever has changed',
    );
  });

  it('are checked last: after the key, the form, the source and the role', async () => {
    const viewer = await bank.member();
    await grantRole(db.database, systemClock, viewer, payer.id, 'viewer', TEST_ACTOR);
    const stranger = await (await openBank(api)).account();
    const key = randomUUID();
    answered(await upload(key), 201);
    await set({ openBatches: 0n });
    const token = await bank.issue(viewer);
    const send = (form: FormData, headers: Record<string, string> = {}): Promise<TestAnswer> =>
      bank.request('POST', '/v1/bonus_batches', { form, token, headers });
    const source_account = payer.id;
    answered(await send(formOf(FILE, {})), 400, 'missing_field');
    answered(await send(formOf(Buffer.alloc(0), { source_account })), 400, 'invalid_field');
    answered(
      await send(formOf(Buffer.alloc(10 * MIB + 1, 'x'), { source_account })),
      413,
      'body_too_large',
    );
    answered(
      await send(formOf(FILE, { source_account }), { 'content-type': 'text/csv' }),
      415,
      'unsupported_media_type',
    );
    answered(await upload(key, token, Buffer.from('other,bytes\n')), 409, 'idempotency_key_reused');
    for (const id of [stranger.id, randomUUID()])
      answered(await send(formOf(FILE, { source_account: id })), 404, 'not_found');
    answered(await send(formOf(FILE, { source_account })), 403, 'authority_insufficient');
    answered(await upload(), 422, 'quota_exceeded');
  });
});
