import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createConnection } from 'mysql2/promise';
import { keyIdOf } from '../../src/access/token-text.js';
import { RecipientBudget } from '../../src/accounts/recipient-budget.js';
import { Bonuses } from '../../src/bonuses/service.js';
import { commandFingerprint } from '../../src/core/fingerprint.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import type { Database } from '../../src/db/database.js';
import { Deadline, DeadlinePassed } from '../../src/core/timers.js';
import type { Account } from '../../src/db/entities/parties.js';
import { setQuotas } from '../../src/access/quotas.js';
import { DatabaseUnavailable } from '../../src/db/failures.js';
import { batchServiceOf, csvOf, formOf, UNWATCHED } from '../batches/support.js';
import { startTestApi, type TestAnswer, type TestApi } from '../helpers/api.js';
import { answered, type Bank, LEAST, openBank, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { move, testKind } from '../helpers/kinds.js';
import { openWriter, TEST_ACTOR } from '../helpers/world.js';
import { TestClock } from '../webhooks/support.js';

const DAY = 86_400_000;
const MIN = LEAST.toString();
/** Small budgets. */
const SIZES = { NEW_RECIPIENTS: '10/15' };

const db = await testDatabase();
/** The database without its readers. */
const UNREAD = Object.create(db.database, { readerFor: { value: () => ({}) } }) as Database;

const clock = new TestClock();
const api = await startTestApi(db, SIZES, { clock: clock.now });

describe('the budget of new recipients', () => {
  let bank: Bank;
  let payer: Account;
  let count = 0;

  beforeEach(async () => {
    bank = await openBank(api);
    payer = await bank.account({ funds: { COPM: 1_000n * LEAST } });
  });

  const aNumber = (): string => `${(count += 1)}${process.pid}`.padStart(9, '0').slice(-9);
  /** Of a person of the tenant, whom it has not named yet. */
  const newAlias = async (of: Bank = bank): Promise<string> => {
    const alias = `$new-${aNumber()}`;
    await of.account({ alias, isVerified: false });
    return alias;
  };
  const newPhone = async (): Promise<string> => {
    const phone = `+573${aNumber()}`;
    await bank.account({ phone, isVerified: false });
    return phone;
  };
  const nobody = (): string => `$nobody-${aNumber()}`;
  const nobodysPhone = (): string => `+573${aNumber()}`;

  const lookUp = (name: string, token = bank.token, at: TestApi = api): Promise<TestAnswer> => {
    const by = name.startsWith('$') ? 'alias' : 'phone';
    return at.request('GET', `/v1/accounts/lookup?${by}=${encodeURIComponent(name)}`, { token });
  };
  const payBonus = (name: string, key?: string): Promise<TestAnswer> => {
    const recipient = name.startsWith('$') ? { alias: name } : { phone: name };
    const amount = { raw: MIN, asset: 'COPM' };
    const body = { source_account: payer.id, recipient, amount };
    return bank.request('POST', '/v1/bonuses', { body, ...(key === undefined ? {} : { key }) });
  };
  /** The batch's status, and the codes in its errors file. */
  const validated = async (
    names: readonly string[],
    raw = MIN,
    of: Bank = bank,
    source: Account = payer,
  ): Promise<[status: string, ...codes: string[]]> => {
    const file = csvOf(names.map((name) => [name, raw, 'COPM', null, null]));
    const form = formOf(file, { source_account: source.id });
    const upload = answered(await of.request('POST', '/v1/bonus_batches', { form }), 201);
    const id = text(upload.json.id) as Uuid;
    const { status } = await batchServiceOf(api.core).validate(id, UNWATCHED);
    if (status !== 'rejected') return [status];
    const errors = answered(await of.get(`/v1/bonus_batches/${id}/files/errors`), 200).text;
    const lines = errors.trim().split('\r\n').slice(1);
    return [status, ...lines.map((line) => line.split(',')[2] ?? '')];
  };
  const spend = async (names: number, token = bank.token): Promise<void> => {
    for (let index = 0; index < names; index += 1)
      answered(await lookUp(nobody(), token), 404, 'not_found');
  };
  const refused = (answer: TestAnswer): TestAnswer => {
    answered(answer, 429, 'rate_limited');
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    return answer;
  };

  it('lookups, bonuses and batches share one budget of new recipients, for known and unknown names', async () => {
    answered(await lookUp(await newAlias()), 200);
    answered(await lookUp(await newPhone()), 200);
    answered(await lookUp(nobody()), 404, 'not_found');
    answered(await lookUp(nobodysPhone()), 404, 'not_found');
    answered(await payBonus(await newAlias()), 201);
    answered(await payBonus(await newPhone()), 201);
    answered(await payBonus(nobody()), 404, 'not_found');
    assert.deepEqual(await validated([await newAlias(), await newPhone()]), ['ready']);
    // The tenth and last.
    answered(await payBonus(nobodysPhone()), 404, 'not_found');
    const available = await bank.available(payer);
    refused(await lookUp(await newAlias()));
    refused(await lookUp(nobody()));
    refused(await payBonus(await newPhone()));
    assert.deepEqual(await validated([await newAlias(), nobody()]), ['rejected', 'rate_limited']);
    assert.equal(await bank.available(payer), available);
  });

  it('does not count recipients named before, who can be looked up and paid even when it is empty', async () => {
    const [one, other] = [await newAlias(), await newPhone()];
    answered(await payBonus(one), 201);
    answered(await lookUp(other), 200);
    await spend(8);
    refused(await lookUp(nobody()));
    for (const name of [one, other]) {
      answered(await lookUp(name), 200);
      answered(await payBonus(name), 201);
    }
    assert.deepEqual(await validated([one, other]), ['ready']);
  });

  it('is not charged for a replay of a paid bonus, even if its alias was released meanwhile', async () => {
    const [alias, key] = [await newAlias(), randomUUID()];
    const { id } = answered(await payBonus(alias, key), 201).json;
    assert.equal(await db.change(`UPDATE accounts SET alias=NULL WHERE alias='${alias}'`), 1);
    for (let times = 0; times < 12; times += 1)
      assert.equal(answered(await payBonus(alias, key), 200).json.id, id);
    await spend(9);
    refused(await lookUp(nobody()));
    answered(await payBonus(alias, key), 200);
    for (const name of [nobody(), await newAlias()])
      answered(await payBonus(name, key), 409, 'idempotency_key_reused');
  });

  it('a tenant and its tokens can have a budget of new recipients of another size, which starts full', async () => {
    await spend(10);
    refused(await lookUp(await newAlias()));
    const { id } = bank.tenant.tenant;
    await setQuotas(db.database, clock.now, id, { newRecipients: 40n }, TEST_ACTOR);
    clock.pass(5_000);
    await spend(40);
    refused(await lookUp(nobody()));
  });

  it('an empty budget of new recipients gives the same response for a customer and an unknown name on every route', async () => {
    await spend(10);
    const same = (answer: TestAnswer): string =>
      answer.text.replace(/"request_id":"[^"]*"/, '').replace(/\d+ s/, '');
    for (const [ask, known, unknown] of [
      [lookUp, await newAlias(), nobody()],
      [lookUp, await newPhone(), nobodysPhone()],
      [payBonus, await newAlias(), nobody()],
    ] as const)
      assert.equal(same(refused(await ask(known))), same(refused(await ask(unknown))));
    assert.deepEqual(await validated([await newAlias()]), await validated([nobody()]));
  });

  it('each token has a budget of new recipients, and so have all tokens of a tenant together, across processes', async () => {
    const other = await bank.issue(bank.tenant.owner);
    const beside = await startTestApi(db, SIZES, { clock: clock.now });
    try {
      await spend(10);
      refused(await lookUp(nobody(), bank.token, beside));
      for (let index = 0; index < 5; index += 1)
        answered(await lookUp(nobody(), other, beside), 404, 'not_found');
      refused(await lookUp(nobody(), other));
      refused(await lookUp(nobody(), other, beside));
    } finally {
      await beside.stop();
    }
  });

  it('a member who may not pay from the source gets 403 for customers and unknown names alike, and uses up no budget', async () => {
    const viewer = await bank.member();
    const from = await bank.account({ roles: [{ memberId: viewer.id, role: 'viewer' }] });
    const token = await bank.issue(viewer);
    const answers: string[] = [];
    for (const name of [await newAlias(), nobody(), await newPhone(), nobodysPhone()]) {
      const recipient = name.startsWith('$') ? { alias: name } : { phone: name };
      const body = { source_account: from.id, recipient, amount: { raw: MIN, asset: 'COPM' } };
      const answer = await bank.request('POST', '/v1/bonuses', { body, token });
      answers.push(answered(answer, 403, 'authority_insufficient').text);
    }
    assert.equal(new Set(answers).size, 1);
    assert.deepEqual(
      await db.sql(`SELECT name FROM recipient_budgets WHERE name='token/${keyIdOf(token)!}'`),
      [],
    );
  });

  it('a tenant whose requests wait for the budget has no more of them than its share of the queue, and none after its deadline', async () => {
    const { writer, seen } = openWriter(db.database, { maxQueue: 4 });
    const size = { ofToken: 10, ofTenant: 10, fullAfterMs: 1_000 };
    const budget = new RecipientBudget(db.database, clock.now, writer, size);
    const payerOf = ({ tenant }: Bank, ms: number) => ({
      tenantId: tenant.tenant.id,
      tokenKeyId: null,
      deadline: Deadline.afterMs(ms),
    });
    const other = await openBank(api);
    const { id } = bank.tenant.tenant;
    const name = `tenant/${id}`;
    const holder = await createConnection({ uri: db.adminUrl, database: db.name });
    await holder.query('START TRANSACTION');
    await holder.query(`INSERT INTO recipient_budgets (name, full_at) VALUES ('${name}', NOW(3))`);
    const late = [60_000, 3_000].map((ms) => budget.charge(payerOf(bank, ms), [null]));
    await assert.rejects(budget.charge(payerOf(bank, 60_000), [null]), DatabaseUnavailable);
    const command = move({ from: payer, to: payer, raw: 1n });
    assert.equal((await writer.submit(testKind, command)).outcome.done, false);
    // A bonus is refused before it reads anything.
    const bonus = new Bonuses({ ...db.deps, database: UNREAD, writer, recipientBudget: budget });
    const caller = {
      ...payerOf(bank, 60_000),
      memberId: newId(),
      tokenKeyId: 'key',
      scopes: ['bonuses'] as const,
    };
    const request = {
      sourceAccountId: payer.id,
      recipient: { by: 'alias', value: nobody() },
      amount: { raw: LEAST, asset: 'COPM' },
      ...{ description: null, metadata: null, reference: null },
    } as const;
    const key = { key: randomUUID(), fingerprint: commandFingerprint(['bonus']) };
    await assert.rejects(bonus.create(caller, newId(), request, key), DatabaseUnavailable);
    assert.equal(seen.shed, 3);
    await budget.charge(payerOf(other, 60_000), [null]);
    // In the queue, or in the statement that waits for the row.
    await assert.rejects(
      late[1]!,
      (failure) => failure instanceof DeadlinePassed || failure instanceof DatabaseUnavailable,
    );
    await holder.query('ROLLBACK');
    await holder.end();
    await late[0];
  });

  it('refills with time up to its size', async () => {
    await spend(10);
    const retryAfterS = Number(refused(await lookUp(nobody())).headers.get('retry-after'));
    assert(retryAfterS <= DAY / 1_000 && retryAfterS > DAY / 1_000 - 60, `${retryAfterS} s`);
    clock.pass(DAY);
    await spend(1);
    refused(await lookUp(nobody()));
    clock.pass(100 * DAY);
    await spend(10);
    refused(await lookUp(nobody()));
  });

  it('is not overdrawn by simultaneous requests, and another tenant is not affected', async () => {
    const honest = await openBank(api);
    const theirs = await honest.account({ funds: { COPM: 100n * LEAST } });
    const staff = await Promise.all(Array.from({ length: 8 }, () => newAlias(honest)));
    const attack = Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        index % 2 === 0 ? lookUp(nobody()) : payBonus(nobodysPhone()),
      ),
    );
    assert.deepEqual(await validated(staff, MIN, honest, theirs), ['ready']);
    for (const name of staff) answered(await lookUp(name, honest.token), 200);
    const statuses = (await attack).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 404).length, 10);
    assert.equal(statuses.filter((status) => status === 429).length, 90);
  });
});
