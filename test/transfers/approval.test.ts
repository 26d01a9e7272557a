import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, idLiteral, LEAST, list, object, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import {
  approvalsOf,
  EXPIRES_IN_S,
  type GuardedBank,
  openGuarded,
  THRESHOLD,
} from '../helpers/guarded.js';

const ROUNDS = 5;

const db = await testDatabase();

let now: Instant | null = null;
const api = await describedApi(await startTestApi(db, {}, { clock: () => now ?? systemClock() }));

describe('POST /v1/transfers that needs approval', () => {
  let own: GuardedBank;

  beforeEach(async () => {
    own = await openGuarded(api);
  });

  const isReplay = ({ headers }: TestAnswer): boolean =>
    headers.get('svc-idempotent-replayed') === 'true';

  it('POST /v1/transfers answers 202 with the pending transfer and its approval if it needs one', async () => {
    const transfer = await own.createPending({ description: 'Rent' });
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

  it('holds the amount and uses its share of the month at once; nothing moves and there is no event', async () => {
    const { available } = await own.money();
    const { id } = await own.createPending();
    assert.deepEqual(await own.money(), { available: available - THRESHOLD, held: THRESHOLD });
    assert.equal(await own.used(), THRESHOLD);
    assert.equal(await own.bank.available(own.receiver), 0n);
    assert.deepEqual(await own.events(id), []);
    const movements = `/v1/accounts/${own.guarded.id}/movements?kind=transfer_out`;
    assert.deepEqual(answered(await own.bank.get(movements), 200).json.items, []);
  });

  it('a held amount cannot be spent, and counts against the month until it is released', async () => {
    const person = await own.account({ type: 'person', funds: { COPM: 6_000_000_000n } });
    await own.setPolicy({ accountId: person.id, threshold: LEAST });
    const maximum = 1_200_000_000n;
    const made: unknown[] = [];
    for (let count = 0; count < 4; count += 1)
      made.push((await own.createPending({ from: person, raw: maximum })).id);
    const send = (raw: bigint): Promise<TestAnswer> => own.send({ from: person, raw });
    const refused = answered(await send(maximum), 422, 'monthly_limit_exceeded');
    assert.equal(refused.details?.used, (4n * maximum).toString());
    answered(await own.act('cancel', made[0], 'creator'), 200);
    answered(await send(maximum), 202);
    const poor = await own.account({ funds: { COPM: THRESHOLD + LEAST } });
    await own.setPolicy({ accountId: poor.id });
    await own.createPending({ from: poor });
    const short = await own.send({ from: poor, raw: LEAST + 1n });
    assert.deepEqual(answered(short, 422, 'insufficient_funds').details, {
      available: LEAST.toString(),
      requested: (LEAST + 1n).toString(),
    });
    answered(await own.send({ from: poor, raw: LEAST }), 201);
  });

  it('is refused by a rule at once, and not held: 422 comes before the wait', async () => {
    const before = await own.money();
    const send = (raw: bigint): Promise<TestAnswer> => own.send({ raw });
    answered(await send(before.available + 1n), 422, 'insufficient_funds');
    answered(await send(10n ** 15n), 422, 'above_per_operation_limit');
    await db.change(`UPDATE accounts SET status='frozen' WHERE id=${idLiteral(own.guarded.id)}`);
    answered(await send(THRESHOLD), 422, 'capability_cannot_send');
    assert.deepEqual(await own.money(), before);
    assert.equal(await own.used(), 0n);
  });

  it('repeated with its key answers 200, a replay, with the transfer in its current state', async () => {
    const key = randomUUID();
    const first = await own.createPending({}, { key });
    const again = async (): Promise<unknown> => {
      const answer = answered(await own.send({}, { key }), 200);
      assert(isReplay(answer));
      return answer.json;
    };
    assert.deepEqual(await again(), first);
    await own.setPolicy({ threshold: THRESHOLD + 1n });
    assert.deepEqual(await again(), first);
    const { json: done } = answered(await own.act('approve', first.id, 'approver'), 200);
    assert.deepEqual(await again(), done);
    assert.equal(await own.bank.available(own.receiver), THRESHOLD);
  });

  it('three simultaneous approvers of a transfer that needs two: the last approval is one, and money moves once', async () => {
    await own.setPolicy({ approvals: 2 });
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await own.createPending();
      const answers = await Promise.all(
        (['approver', 'second', 'third'] as const).map((person) => own.act('approve', id, person)),
      );
      const statuses = answers.map(({ code, json }) => String(code ?? json.status)).sort();
      assert.deepEqual(statuses, ['completed', 'invalid_state', 'pending_approval']);
      assert.equal((await own.events(id)).length, 1);
    }
    assert.equal((await own.money()).held, 0n);
    assert.equal(await own.bank.available(own.receiver), BigInt(ROUNDS) * THRESHOLD);
  });

  it('20 simultaneous approvals by one member count once, with new keys or one key', async () => {
    await own.setPolicy({ approvals: 2 });
    for (const key of [undefined, randomUUID()]) {
      const { id } = await own.createPending();
      const options = key === undefined ? {} : { key };
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => own.act('approve', id, 'approver', options)),
      );
      for (const answer of answers)
        assert.equal(object(answered(answer, 200).json.approval).received, 1);
      assert.equal(answers.filter(isReplay).length, key === undefined ? 0 : 19);
    }
  });

  it('two sweepers and a timer expire each of 60 waiting transfers once, oldest first', async () => {
    const approvals = approvalsOf(api);
    const createPending = (count: number): Promise<unknown[]> =>
      Promise.all(Array.from({ length: count }, async () => (await own.createPending()).id));
    now = instant(Date.parse('2037-01-10T12:00:00.000Z'));
    // The work of other tests is over by now.
    while ((await approvals.expireDue(500)) > 0);
    own = await openGuarded(api);
    const before = await own.money();
    const late = await createPending(30);
    await own.setPolicy({ expiresInS: 60 });
    const early = await createPending(30);
    const statuses = async (ids: readonly unknown[]): Promise<unknown> => [
      ...new Set(await Promise.all(ids.map(async (id) => (await own.row(id)).status))),
    ];
    now = instant(now + EXPIRES_IN_S * 1_000);
    assert.equal(await approvals.expireDue(30), 30);
    assert.deepEqual(
      [await statuses(early), await statuses(late)],
      [['expired'], ['pending_approval']],
    );
    const sweep = async (): Promise<void> => {
      while (
        (await approvalsOf(api)
          .expireDue(10)
          .catch(() => 10)) === 10
      );
    };
    const timers = late.slice(0, 10).map((id) => approvals.expire(text(id)));
    await Promise.all([sweep(), sweep(), ...timers]);
    assert.deepEqual(await statuses(late), ['expired']);
    const [log] = await db.sql(
      `SELECT COUNT(*) AS events, COUNT(DISTINCT resource_id) AS ids FROM events
       WHERE tenant_id=${idLiteral(own.guarded.tenantId)} AND type='transfer.expired'`,
    );
    assert.deepEqual(log, { events: '60', ids: '60' });
    assert.deepEqual([await own.money(), await own.used()], [before, 0n]);
  });
});
