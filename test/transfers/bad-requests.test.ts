import assert from 'node:assert/strict';
import { ASSETS } from '../../src/core/amount.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, type Bank, type Json, LEAST, openBank, transferBody } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';

const NO_ASSET = `not_one_of: ${ASSETS.join(', ')}`;

const FUNDS = 100n * LEAST;

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);
const payer = await bank.account({ funds: { COPM: FUNDS } });
const receiver = await bank.account();
const good = transferBody({ from: payer, to: receiver, raw: LEAST });

/** The faults of a transfer; faults of any body or header are in test/http. */
describe('POST /v1/transfers: a malformed request', () => {
  // Nothing is lost and nothing is kept by what was refused.
  afterEach(async () => {
    assert.deepEqual([await bank.available(payer), await bank.available(receiver)], [FUNDS, 0n]);
    assert.deepEqual((await bank.get('/v1/transfers')).json.items, []);
  });

  const post = (body: unknown, options: Parameters<Bank['request']>[2] = {}): Promise<TestAnswer> =>
    bank.request('POST', '/v1/transfers', { body, ...options });

  /** The good body with the field of this dotted name set. */
  function changed(field: string, value: unknown): Json {
    const body = structuredClone(good) as Record<string, unknown>;
    const names = field.split('.');
    const last = names.pop()!;
    let inner = body;
    for (const name of names) inner = inner[name] as Record<string, unknown>;
    inner[last] = value;
    return body;
  }

  /** The error of one problem, with the Error object's whole shape. */
  function assertProblem(answer: TestAnswer, field: string, reason: string): void {
    const code = 'invalid_field';
    answered(answer, 400, code);
    const { error, ...others } = answer.json as { error: Record<string, unknown> };
    assert.deepEqual(others, {});
    assert.deepEqual(Object.keys(error).sort(), ['code', 'details', 'doc_url', 'message']);
    assert.equal(error.doc_url, `http://127.0.0.1:8080/docs/conceptos/errores#${code}`);
    assert.deepEqual(answer.details, { field, reason, errors: [{ code, field, reason }] });
  }

  it('with hundreds of wrong fields is answered with the first fifty', async () => {
    const unknown = Object.fromEntries(
      Array.from({ length: 900 }, (_, index) => [`extra_${index}`, index]),
    );
    const answer = answered(await post({ ...good, ...unknown }), 400, 'invalid_field');
    assert.equal((answer.details?.errors as unknown[]).length, 50);
    assert.ok(answer.text.length < 10_000);
  });

  const UUID = 'not_a_uuid';
  /** Besides what test/http/document.unit.test.ts finds wrong in every body. */
  const MALFORMED: readonly (readonly [field: string, value: unknown, reason: string])[] = [
    ['source_account', '', UUID],
    ['source_account', '{018f0000-0000-7000-8000-000000000001}', UUID],
    ['source_account', '018f000000007000800000000000000a', UUID],
    ['destination.account_id', ' 018f0000-0000-7000-8000-000000000001', UUID],
    ['destination.account_id', ['018f0000-0000-7000-8000-000000000001'], UUID],
    ['destination.type', 'Account', 'not_one_of: account'],
    ['amount.asset', 'copm', NO_ASSET],
    ['fee', { raw: '0', asset: 'COPM' }, 'unknown'],
    ['destination.alias', '$ana', 'unknown'],
  ];

  it('is 400 invalid_field {field, reason}', async () => {
    for (const [field, value, reason] of MALFORMED)
      assertProblem(await post(changed(field, value)), field, reason);
  });

  it('whose destination is its source is 400 same_as_source, however the ids are spelled', async () => {
    for (const id of [payer.id, payer.id.toUpperCase()])
      assertProblem(
        await post(changed('destination.account_id', id)),
        'destination.account_id',
        'same_as_source',
      );
  });
});
