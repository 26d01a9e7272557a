import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAnswer } from '../support/api.js';
import {
  answered,
  idLiteral,
  type Json,
  LEAST,
  list,
  object,
  openBank,
  text,
  transferBody,
} from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { describedApi } from '../support/described.js';
import {
  assertEnded,
  EXPIRES_IN_S,
  type GuardedBank,
  openGuarded,
  type Person,
  THRESHOLD,
} from '../support/guarded.js';

const APPROVERS: readonly Person[] = ['approver', 'admin', 'owner'];

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

  it('POST /v1/transfers that needs approval waits when the threshold is reached exactly; one unit below it completes at once', async () => {
    const below = await own.bank.sent({ from: own.guarded, to: own.receiver, raw: THRESHOLD - 1n });
    assert.deepEqual([below.status, below.approval, below.rejection], ['completed', null, null]);
    await own.pend({ raw: THRESHOLD });
    await own.pend({ raw: THRESHOLD + 1n });
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

  it('POST /v1/transfers that needs approval keeps its key: to approve or execute something with it is 409, whatever the path names', async () => {
    const key = randomUUID();
    await own.pend({}, { key });
    for (const id of [randomUUID(), 'no-id'])
      for (const path of [
        `transfers/${id}/approve`,
        `payouts/${id}/approve`,
        `bonus_batches/${id}/execute`,
      ]) {
        answered(
          await own.bank.request('POST', `/v1/${path}`, { key }),
          409,
          'idempotency_key_reused',
        );
        answered(await own.bank.request('POST', `/v1/${path}`), 404, 'not_found');
      }
  });

  it('POST /v1/transfers that needs approval keeps a description of 140 code points, and refuses 141', async () => {
    const description = '💸'.repeat(140);
    assert.equal((await own.pend({ description })).description, description);
    const wanted = {
      from: own.guarded,
      to: own.receiver,
      raw: THRESHOLD,
      description: `${description}x`,
    };
    answered(await own.bank.send(wanted), 400, 'invalid_field');
  });

  it('POST /v1/transfers that needs approval to another tenant of the network waits too; the receiver sees its movement once it is approved', async () => {
    const network = `net-${randomUUID()}`;
    own = await openGuarded(api, {}, { tenant: { network } });
    const neighbour = await openBank(api, { network });
    const to = await neighbour.account();
    const { id } = await own.pend({ to });
    const movements = async (): Promise<Json[]> =>
      list((await neighbour.get(`/v1/accounts/${to.id}/movements`)).json.items);
    assert.deepEqual(await movements(), []);
    answered(
      await neighbour.request('POST', `/v1/transfers/${text(id)}/approve`),
      404,
      'not_found',
    );
    answered(await own.act('approve', id, 'approver'), 200);
    const [movement] = await movements();
    assert.deepEqual([movement?.kind, object(movement?.related).id], ['transfer_in', id]);
    assert.deepEqual((await neighbour.get('/v1/events')).json.items, []);
  });

  describe('and then POST …/approve', () => {
    it('POST …/approve by an approver, admin or owner completes a waiting transfer: 200, the money is there, one transfer.completed', async () => {
      for (const [count, person] of APPROVERS.entries()) {
        const before = await own.money();
        const { id, approval, ...pending } = await own.pend();
        const { json } = answered(await own.act('approve', id, person), 200);
        const done = { ...object(approval), received: 1 };
        assert.deepEqual(json, {
          ...pending,
          id,
          status: 'completed',
          approval: done,
          rejection: null,
        });
        assert.deepEqual(await assertEnded(own, id, 'completed'), json);
        assert.deepEqual(await own.money(), { available: before.available - THRESHOLD, held: 0n });
        assert.equal(await own.bank.available(own.receiver), BigInt(count + 1) * THRESHOLD);
        assert.equal(await own.used(), BigInt(count + 1) * THRESHOLD);
      }
    });
  });

  it('POST /v1/transfers that needs approval is found by its key while it waits, and by status as it moves on', async () => {
    const key = randomUUID();
    const body = transferBody({ from: own.guarded, to: own.receiver, raw: THRESHOLD });
    const { json } = answered(await own.bank.request('POST', '/v1/transfers', { body, key }), 202);
    const items = async (query: string): Promise<Json[]> =>
      list(answered(await own.bank.get(`/v1/transfers?${query}`), 200).json.items);
    assert.deepEqual(await items(`idempotency_key=${key}`), [json]);
    const { json: done } = answered(await own.act('approve', json.id, 'approver'), 200);
    assert.deepEqual(await items(`idempotency_key=${key}&status=completed`), [done]);
    assert.deepEqual(await items('status=pending_approval'), []);
    assert.deepEqual(await items(`status=completed&source_account=${own.guarded.id}`), [done]);
  });
});
