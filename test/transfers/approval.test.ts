import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAnswer } from '../support/api.js';
import { answered, idLiteral, LEAST, list, text } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { describedApi } from '../support/described.js';
import { EXPIRES_IN_S, type GuardedBank, openGuarded, THRESHOLD } from '../support/guarded.js';

const db = await testDatabase();
const api = await describedApi(await startTestApi(db));

describe('POST /v1/transfers that needs approval', () => {
  let own: GuardedBank;

  beforeEach(async () => {
    own = await openGuarded(api);
  });

  const isReplay = ({ headers }: TestAnswer): boolean =>
    headers.get('svc-idempotent-replayed') === 'true';

  it('POST /v1/transfers that needs approval answers 202 with the transfer that waits, and what it waits for', async () => {
    const transfer = await own.pend({ description: 'Rent' });
    const { id, created_at: createdAt } = transfer;
    const small = { from: own.guarded, to: own.receiver, raw: LEAST, description: 'Rent' };
    const expiresAt = new Date(Date.parse(text(createdAt)) + EXPIRES_IN_S * 1_000).toISOString();
    assert.deepEqual(transfer, {
      ...(await own.bank.sent(small)),
      id,
      status: 'pending_approval',
      amount: { raw: THRESHOLD.toString(), asset: 'COPM' },
      created_at: createdAt,
      approval: { required: 1, received: 0, expires_at: expiresAt },
    });
    assert.deepEqual(await own.read(id), transfer);
    const listed = list((await own.bank.get('/v1/transfers?status=pending_approval')).json.items);
    assert.deepEqual(listed, [transfer]);
  });

  it('POST /v1/transfers that needs approval holds the amount and uses its share of the month at once; nothing moves and there is no event', async () => {
    const before = await own.money();
    const { id } = await own.pend();
    assert.deepEqual(await own.money(), {
      available: before.available - THRESHOLD,
      held: THRESHOLD,
    });
    assert.equal(await own.used(), THRESHOLD);
    assert.equal(await own.bank.available(own.receiver), 0n);
    assert.deepEqual(await own.events(id), []);
    const { json } = answered(
      await own.bank.get(`/v1/accounts/${own.guarded.id}/movements?kind=transfer_out`),
      200,
    );
    assert.deepEqual(json.items, []);
    const [hold] = await db.sql(
      `SELECT raw, remaining FROM holds WHERE resource_id=${idLiteral(text(id))}`,
    );
    assert.deepEqual(Object.values(hold ?? {}), [THRESHOLD.toString(), THRESHOLD.toString()]);
  });

  it('POST /v1/transfers that needs approval writes one entry for its workflow in the same transaction; an instant one writes none', async () => {
    const entries = (): Promise<Record<string, unknown>[]> =>
      db.sql(`SELECT LOWER(HEX(resource_id)) AS id, resource_type AS type FROM outbox
              WHERE tenant_id=${idLiteral(own.guarded.tenantId)}`);
    await own.bank.sent({ from: own.guarded, to: own.receiver, raw: THRESHOLD - 1n });
    assert.deepEqual(await entries(), []);
    const { id } = await own.pend();
    assert.deepEqual(await entries(), [{ id: text(id).replaceAll('-', ''), type: 'transfer' }]);
  });

  it('what is held cannot be spent, and counts against the month', async () => {
    const person = await own.account({ type: 'person', funds: { COPM: 6_000_000_000n } });
    await own.setPolicy({ accountId: person.id, threshold: LEAST });
    const maximum = 1_200_000_000n;
    for (let count = 0; count < 4; count += 1) await own.pend({ from: person, raw: maximum });
    const send = (raw: bigint): Promise<TestAnswer> =>
      own.bank.send({ from: person, to: own.receiver, raw });
    const refused = answered(await send(maximum), 422, 'monthly_limit_exceeded');
    assert.equal(refused.details?.used, (4n * maximum).toString());
    const poor = await own.account({ funds: { COPM: THRESHOLD + LEAST } });
    await own.setPolicy({ accountId: poor.id });
    await own.pend({ from: poor });
    const short = answered(
      await own.bank.send({ from: poor, to: own.receiver, raw: LEAST + 1n }),
      422,
      'insufficient_funds',
    );
    assert.deepEqual(short.details, {
      available: LEAST.toString(),
      requested: (LEAST + 1n).toString(),
    });
    await own.bank.sent({ from: poor, to: own.receiver, raw: LEAST });
  });

  it('POST /v1/transfers that needs approval is refused by a rule at once, and not held: 422 comes before the wait', async () => {
    const before = await own.money();
    const send = (raw: bigint): Promise<TestAnswer> =>
      own.bank.send({ from: own.guarded, to: own.receiver, raw }, { token: own.tokens.creator });
    answered(await send(before.available + 1n), 422, 'insufficient_funds');
    answered(await send(10n ** 15n), 422, 'above_per_operation_limit');
    await db.change(`UPDATE accounts SET status='frozen' WHERE id=${idLiteral(own.guarded.id)}`);
    answered(await send(THRESHOLD), 422, 'capability_cannot_send');
    assert.deepEqual(await own.money(), before);
    assert.equal(await own.used(), 0n);
  });

  it('POST /v1/transfers that needs approval repeated with its key answers 200, a replay, with the transfer in its current state', async () => {
    const key = randomUUID();
    const first = await own.pend({}, { key });
    const again = async (): Promise<TestAnswer> => {
      const wanted = { from: own.guarded, to: own.receiver, raw: THRESHOLD };
      const answer = answered(await own.bank.send(wanted, { key, token: own.tokens.creator }), 200);
      assert(isReplay(answer));
      return answer;
    };
    assert.deepEqual((await again()).json, first);
    await own.setPolicy({ threshold: THRESHOLD + 1n });
    assert.deepEqual((await again()).json, first);
    const { json: done } = answered(await own.act('approve', first.id, 'approver'), 200);
    assert.deepEqual((await again()).json, done);
    assert.equal(await own.bank.available(own.receiver), THRESHOLD);
  });
});
