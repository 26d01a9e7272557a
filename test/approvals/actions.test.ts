import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { removeRole } from '../../src/members/roles.js';
import { freezeAccount } from '../../src/accounts/status.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { answered, type Json, LEAST, object, openBank, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import {
  approvalsOfKind,
  assertEnded,
  ENDS,
  EXPIRES_IN_S,
  type GuardedBank,
  KINDS,
  openGuarded,
  type Person,
  POSSIBLE_IN,
  REASON,
  rejectionOf,
  type Verb,
} from '../helpers/guarded.js';
import { TEST_ACTOR } from '../helpers/world.js';

const START = Date.parse('2036-05-10T12:00:00.000Z');
const VERBS: readonly Verb[] = ['approve', 'reject', 'cancel'];
/** Who may act on what `creator` created, by docs/contract.md (Approval). */
const MAY: Readonly<Record<Verb, readonly Person[]>> = {
  approve: ['approver', 'admin', 'owner'],
  reject: ['approver', 'admin', 'owner'],
  cancel: ['creator', 'admin', 'owner'],
};
const EVERYBODY: readonly Person[] = [
  ...(['owner', 'creator', 'colleague', 'approver', 'admin', 'viewer', 'stranger'] as const),
];

const db = await testDatabase();

for (const kind of KINDS)
  describe(`a ${kind} that waits for approval`, () => {
    let api: TestApi;
    let own: GuardedBank;
    let now: Instant = instant(START);

    before(async () => {
      api = await describedApi(await startTestApi(db, {}, { clock: () => now }));
    });

    beforeEach(async () => {
      now = instant(START);
      own = await openGuarded(api, {}, { kind });
    });

    const actionPath = (id: unknown, verb: Verb): string => `/v1/${kind}s/${text(id)}/${verb}`;
    const linesAbout = (id: unknown): Promise<Record<string, unknown>[]> =>
      db.sql(
        `SELECT action, actor_claimed, channel, details FROM audit_log WHERE subject_id='${text(id)}' ORDER BY id`,
      );

    /** Nothing is held, nothing left, and nothing of the month is used. */
    async function assertGivenBack(
      before: Awaited<ReturnType<GuardedBank['money']>>,
    ): Promise<void> {
      assert.deepEqual(await own.money(), before);
      assert.equal(await own.used(), 0n);
    }

    for (const verb of VERBS)
      it(`a ${kind} that waits for approval: ${verb} by ${MAY[verb].join(', ')} and no other member ends it, with one event`, async () => {
        const rejection = rejectionOf(kind, verb, verb === 'reject' ? REASON : null);
        const before = await own.money();
        for (const person of EVERYBODY) {
          const pending = await own.createPending();
          const answer = await own.act(verb, pending.id, person);
          if (MAY[verb].includes(person)) answered(answer, 200);
          else {
            answered(answer, 403, 'authority_insufficient');
            assert.deepEqual(await own.read(pending.id), pending);
            answered(await own.act(verb, pending.id, 'admin'), 200);
          }
          await assertEnded(own, pending.id, ENDS[kind][verb], rejection);
        }
        if (verb !== 'approve') await assertGivenBack(before);
        const foreign = await openBank(api);
        const { id } = await own.createPending();
        const body = verb === 'reject' ? { body: { reason: REASON } } : {};
        for (const path of [actionPath(id, verb), actionPath(randomUUID(), verb)])
          answered(await foreign.request('POST', path, body), 404, 'not_found');
      });

    it(`a ${kind} that waits for approval is neither approved nor rejected by its creator in any role; the creator can cancel it`, async () => {
      for (const person of ['creator', 'admin', 'owner'] as const) {
        const { id } = await own.createPending({}, { token: own.tokens[person] });
        for (const verb of ['approve', 'reject'] as const)
          assert.deepEqual(
            answered(await own.act(verb, id, person), 403, 'authority_insufficient').details,
            { reason: 'creator' },
          );
        answered(await own.act('cancel', id, person), 200);
        await assertEnded(own, id, ENDS[kind].cancel, rejectionOf(kind, 'cancel', null));
      }
    });

    it(`a ${kind} that waits for approval needs as many approvals by different members as its policy says, each with a line in the audit log`, async () => {
      for (const required of [1, 2, 3]) {
        await own.setPolicy({ approvals: required });
        const { id } = await own.createPending();
        const people = (['approver', 'second', 'admin'] as const).slice(0, required);
        for (const [index, person] of people.entries()) {
          assert.deepEqual(await own.events(id), []);
          await own.act('approve', id, 'viewer');
          const isLast = index + 1 === required;
          const status = isLast ? ENDS[kind].approve : 'pending_approval';
          const key = randomUUID();
          const { json } = answered(await own.act('approve', id, person, { key }), 200);
          const found = (await own.bank.get(`/v1/${kind}s?idempotency_key=${key}`)).json;
          assert.deepEqual(found.items, [json], 'the key finds what it approved');
          assert.deepEqual([json.status, object(json.approval).received], [status, index + 1]);
          if (isLast) continue;
          const again = answered(await own.act('approve', id, person), 200);
          assert.deepEqual(again.json, json, 'one member counts once');
        }
        await assertEnded(own, id, ENDS[kind].approve);
        const lines = await linesAbout(id);
        assert.deepEqual(
          lines.map((line) => ({ ...line, details: JSON.parse(String(line.details)) as Json })),
          people.map((person, index) => ({
            action: `${kind}.approve`,
            actor_claimed: `member:${own.members[person].id}`,
            channel: 'api',
            details: {
              status: index + 1 === required ? ENDS[kind].approve : 'pending_approval',
              received: index + 1,
              reason: null,
            },
          })),
        );
      }
    });

    it(`a ${kind} that waits for approval can be rejected after the first of two approvals, which stays visible`, async () => {
      await own.setPolicy({ approvals: 2 });
      const before = await own.money();
      const { id } = await own.createPending();
      answered(await own.act('approve', id, 'approver'), 200);
      // Also by who approved it a moment ago.
      answered(await own.act('reject', id, 'approver'), 200);
      const shown = await assertEnded(own, id, 'rejected', { code: 'rejected', reason: REASON });
      assert.equal(object(shown.approval).received, 1);
      await assertGivenBack(before);
    });

    it(`a ${kind} that waits for approval ends with the last approval as rejected with capability_cannot_send if its source was frozen meanwhile`, async () => {
      const before = await own.money();
      const { id } = await own.createPending();
      await freezeAccount(db.deps, own.guarded.id, { actor: TEST_ACTOR, reason: null });
      const { json } = answered(await own.act('approve', id, 'approver'), 200);
      const { code, reason } = object(json.rejection);
      assert.deepEqual([json.status, code], ['rejected', 'capability_cannot_send']);
      assert.match(text(reason), /frozen/);
      await assertEnded(own, id, 'rejected', object(json.rejection));
      await assertGivenBack(before);
    });

    it(`a ${kind} that waits for approval ends once: a further action is 409 invalid_state {current, allowed}`, async () => {
      const { id: instantId } = answered(await own.send({ raw: LEAST }), 201).json;
      const { id: canceled } = await own.createPending();
      answered(await own.act('cancel', canceled, 'creator'), 200);
      for (const [id, current] of [
        [instantId, ENDS[kind].approve],
        [canceled, ENDS[kind].cancel],
      ] as const)
        for (const verb of VERBS) {
          const allowed: readonly string[] = POSSIBLE_IN[kind][verb];
          if (allowed.includes(current)) continue;
          const refused = answered(await own.act(verb, id, 'admin'), 409, 'invalid_state');
          assert.deepEqual(refused.details, { current, allowed });
        }
      assert.equal((await own.events(canceled)).length, 1);
    });

    for (const verb of VERBS)
      it(`a late ${verb} settles the expiry of a ${kind} and is 409 with the new status; its key stays free`, async () => {
        const before = await own.money();
        const pending = await own.createPending();
        now = instant(now + EXPIRES_IN_S * 1_000);
        const key = verb === 'approve' ? randomUUID() : null;
        for (const _ of [1, 2]) {
          const late = await own.act(verb, pending.id, 'admin', { key });
          assert.deepEqual(answered(late, 409, 'invalid_state').details, {
            current: ENDS[kind].expire,
            allowed: POSSIBLE_IN[kind][verb],
          });
        }
        await assertEnded(own, pending.id, ENDS[kind].expire);
        await assertGivenBack(before);
        if (key === null) return;
        const { id: next } = await own.createPending();
        const fresh = answered(await own.act('approve', next, 'admin', { key }), 200);
        assert.equal(fresh.headers.get('svc-idempotent-replayed'), null);
      });

    it(`a ${kind} that waits for approval expires once, at its instant and not a millisecond earlier, by the timer and not by a member without the right to act`, async () => {
      const approvals = approvalsOfKind(api, kind);
      const [{ id: early }, { id }] = [await own.createPending(), await own.createPending()];
      now = instant(Date.parse(text(object((await own.read(id)).approval).expires_at)) - 1);
      assert.equal((await approvals.expire(text(id))).status, 'pending_approval');
      answered(await own.act('approve', early, 'admin'), 200);
      now = instant(now + 1);
      for (const person of ['viewer', 'creator'] as const)
        answered(await own.act('approve', id, person), 403, 'authority_insufficient');
      assert.equal((await own.read(id)).status, 'pending_approval');
      for (const _ of [1, 2, 3])
        assert.equal((await approvals.expire(text(id))).status, ENDS[kind].expire);
      await assertEnded(own, id, ENDS[kind].expire);
    });
  });

describe('the requests that approve, reject and cancel', () => {
  let api: TestApi;
  let own: GuardedBank;

  before(async () => {
    api = await describedApi(await startTestApi(db));
  });

  beforeEach(async () => {
    own = await openGuarded(api);
  });

  it('an approval repeated with its key is a replay of the current state, even after the end and without the role', async () => {
    await own.setPolicy({ approvals: 2 });
    const { id } = await own.createPending();
    const key = randomUUID();
    const approve = async (by: string): Promise<unknown[]> => {
      const { json, headers } = answered(
        await own.act('approve', id, 'approver', { key: by }),
        200,
      );
      return [json, headers.get('svc-idempotent-replayed')];
    };
    const [first, isReplay] = await approve(key);
    assert.equal(isReplay, null);
    assert.deepEqual(await approve(key.toUpperCase()), [first, 'true']);
    const { json: done } = answered(await own.act('approve', id, 'second'), 200);
    await removeRole(db.database, systemClock, own.members.approver, own.guarded.id, TEST_ACTOR);
    assert.deepEqual(await approve(key), [done, 'true']);
    answered(await own.act('approve', id, 'approver'), 403, 'authority_insufficient');
  });

  it('an approval with a key that another member, resource or operation used is 409 idempotency_key_reused; a refused one leaves its key free', async () => {
    await own.setPolicy({ approvals: 3 });
    const [keyOfCreation, key] = [randomUUID(), randomUUID()];
    const { id } = await own.createPending({}, { key: keyOfCreation });
    const { id: other } = await own.createPending();
    answered(await own.act('approve', id, 'creator', { key }), 403, 'authority_insufficient');
    answered(await own.act('approve', randomUUID(), 'approver', { key }), 404, 'not_found');
    answered(await own.act('approve', id, 'approver', { key }), 200);
    for (const answer of [
      await own.act('approve', id, 'second', { key }),
      await own.act('approve', other, 'approver', { key }),
      await own.act('approve', id, 'second', { key: keyOfCreation }),
      await own.send({}, { key }),
    ])
      answered(answer, 409, 'idempotency_key_reused');
    assert.equal(object((await own.read(id)).approval).received, 1);
  });

  it('an approval is answered in the order of the checks: key, body, replay, 404, 403, 409', async () => {
    const key = randomUUID();
    const { id: settled } = await own.createPending();
    answered(await own.act('approve', settled, 'approver', { key }), 200);
    const missing = randomUUID();
    for (const [verb, id, options, status, code] of [
      ['approve', missing, { key: null, body: {} }, 400, 'missing_idempotency_key'],
      ['approve', missing, { key: 'x', body: {} }, 400, 'invalid_field'],
      ['approve', missing, { body: { reason: 'x' } }, 400, 'invalid_field'],
      ['approve', missing, { key }, 409, 'idempotency_key_reused'],
      ['approve', 'no-id', { key }, 409, 'idempotency_key_reused'],
      ['approve', missing, {}, 404, 'not_found'],
      // 403 before 409: who may not act is not told how it ended.
      ['approve', settled, {}, 403, 'authority_insufficient'],
      ['reject', missing, { body: {} }, 400, 'missing_field'],
      ['reject', missing, {}, 404, 'not_found'],
      ['reject', settled, {}, 403, 'authority_insufficient'],
      ['cancel', missing, { body: { reason: 'x' } }, 400, 'invalid_field'],
    ] as const)
      answered(await own.act(verb, id, 'viewer', options), status, code);
  });

  it('a cancel by the creator is 403 once the creator has lost every role in the source', async () => {
    const { id } = await own.createPending();
    await removeRole(db.database, systemClock, own.members.creator, own.guarded.id, TEST_ACTOR);
    answered(await own.act('cancel', id, 'creator'), 403, 'authority_insufficient');
  });

  it('a reject needs a reason of 1 to 140 code points in NFC, shown as stored; any other reason is 400, and the transfer continues to wait', async () => {
    const pending = await own.createPending();
    const reject = (body: unknown, id = pending.id): ReturnType<GuardedBank['act']> =>
      own.act('reject', id, 'approver', { body });
    for (const [body, code, reason] of [
      [{ reason: '' }, 'invalid_field', 'too_short'],
      [{ reason: 'x'.repeat(141) }, 'invalid_field', 'too_long'],
    ] as const)
      assert.equal(answered(await reject(body), 400, code).details?.reason, reason);
    assert.deepEqual(await own.read(pending.id), pending);
    for (const [reason, shown] of [
      ['💸'.repeat(140), '💸'.repeat(140)],
      ['e\u0301'.repeat(140), '\u00e9'.repeat(140)],
    ]) {
      const { json } = answered(await reject({ reason }, (await own.createPending()).id), 200);
      assert.equal(object(json.rejection).reason, shown);
    }
  });
});
