import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { groupBy } from '../../src/core/collections.js';
import { type Instant, instant } from '../../src/core/instant.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, idLiteral, object, text } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { describedApi } from '../support/described.js';
import {
  approvalsOf,
  EXPIRES_IN_S,
  type GuardedBank,
  openGuarded,
  THRESHOLD,
} from '../support/guarded.js';

const ROUNDS = 10;

const db = await testDatabase();

describe('what ends a transfer that waits, at the same time', () => {
  let api: TestApi;
  let own: GuardedBank;
  let now: Instant;

  before(async () => {
    now = instant(Date.parse('2037-01-10T12:00:00.000Z'));
    api = await describedApi(await startTestApi(db, {}, { clock: () => now }));
  });

  beforeEach(async () => {
    own = await openGuarded(api);
  });

  /** How many transfers of the guarded account ended so, each with exactly one event, one line for who ended it, and no hold. */
  async function assertOneEndEach(ids: readonly unknown[]): Promise<Record<string, number>> {
    const ends: Record<string, number> = {};
    const log = groupBy(await own.allEvents(), (event) => event.object.id);
    for (const id of ids) {
      const shown = await own.read(id);
      const { status, rejection } = shown;
      const name = rejection === null ? text(status) : text(object(rejection).code);
      ends[name] = (ends[name] ?? 0) + 1;
      assert.deepEqual(log.get(id), [{ type: `transfer.${text(status)}`, object: shown }]);
    }
    const list = ids.map((id) => idLiteral(text(id))).join();
    assert.deepEqual(
      await db.sql(`SELECT 1 FROM holds WHERE resource_id IN (${list}) AND remaining<>0`),
      [],
    );
    assert.equal((await own.money()).held, 0n);
    assert.equal(await own.bank.available(own.receiver), BigInt(ends.completed ?? 0) * THRESHOLD);
    return ends;
  }

  it('three approvers of a transfer that needs two: the last approval is one, and money moves once', async () => {
    await own.setPolicy({ approvals: 2 });
    const ids: unknown[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await own.pend();
      ids.push(id);
      const answers = await Promise.all(
        (['approver', 'second', 'third'] as const).map((person) => own.act('approve', id, person)),
      );
      const statuses = answers
        .map(({ status, json }) => (status === 200 ? json.status : status))
        .map(String);
      assert.deepEqual(statuses.sort(), ['409', 'completed', 'pending_approval']);
    }
    assert.deepEqual(await assertOneEndEach(ids), { completed: ROUNDS });
  });

  it('one member who approves 20 times counts once, with new keys and with one key', async () => {
    await own.setPolicy({ approvals: 2 });
    for (const key of [undefined, randomUUID()]) {
      const { id } = await own.pend();
      const options = key === undefined ? {} : { key };
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => own.act('approve', id, 'approver', options)),
      );
      for (const answer of answers)
        assert.equal(object(answered(answer, 200).json.approval).received, 1);
      const replays = answers.filter(
        ({ headers }) => headers.get('svc-idempotent-replayed') === 'true',
      );
      assert.equal(replays.length, key === undefined ? 0 : 19);
      const rows = await db.sql(`SELECT 1 FROM approvals WHERE resource_id=${idLiteral(text(id))}`);
      assert.equal(rows.length, 1);
      answered(await own.act('cancel', id, 'creator'), 200);
    }
  });

  it('two sweepers and a timer expire each of 60 once', async () => {
    const made = await Promise.all(Array.from({ length: 60 }, () => own.pend()));
    now = instant(now + EXPIRES_IN_S * 1_000);
    const [one, other] = [approvalsOf(api), approvalsOf(api)];
    // As the sweeper does it, to the end: what other tests left waiting is due by this clock, too.
    const sweep = async (approvals: typeof one): Promise<void> => {
      while ((await approvals.expireDue(100).catch(() => 100)) === 100);
    };
    await Promise.all([
      sweep(one),
      sweep(other),
      ...made.slice(0, 20).map(({ id }) => one.expire(text(id))),
    ]);
    assert.deepEqual(await assertOneEndEach(made.map(({ id }) => id)), { expired: 60 });
    assert.equal(await own.used(), 0n);
  });

  it('64 that want more than the account has: what is held is never more than there was, to the last unit', async () => {
    const poor = await own.account({ funds: { COPM: 20n * THRESHOLD } });
    await own.setPolicy({ accountId: poor.id });
    const answers = await Promise.all(
      Array.from({ length: 64 }, () =>
        own.bank.send(
          { from: poor, to: own.receiver, raw: THRESHOLD },
          { token: own.tokens.creator },
        ),
      ),
    );
    const held = answers.filter(({ status }) => status === 202);
    assert.equal(held.length, 20);
    for (const answer of answers)
      if (answer.status !== 202) answered(answer, 422, 'insufficient_funds');
    assert.equal(await own.bank.available(poor), 0n);
    await Promise.all(
      held.map(async ({ json }, index) =>
        answered(await own.act(index % 2 === 0 ? 'approve' : 'reject', json.id, 'approver'), 200),
      ),
    );
    assert.equal(await own.bank.available(poor), 10n * THRESHOLD);
    assert.equal(await own.bank.available(own.receiver), 10n * THRESHOLD);
  });
});
