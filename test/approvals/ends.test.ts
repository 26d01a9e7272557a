import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { removeRole } from '../../src/access/members.js';
import { freezeAccount } from '../../src/accounts/status.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, object, text } from '../support/bank.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { describedApi } from '../support/described.js';
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
} from '../support/guarded.js';
import { TEST_ACTOR } from '../support/world.js';

/** What is the same of whatever waits for approval. (docs/contract.md, Approval) */

const START = Date.parse('2036-05-10T12:00:00.000Z');
const DECIDED = { actor: TEST_ACTOR, reason: null };
const VERBS: readonly Verb[] = ['approve', 'reject', 'cancel'];

for (const kind of KINDS)
  describe(`a ${kind} that waits for approval`, () => {
    let db: TestDatabase;
    let api: TestApi;
    let own: GuardedBank;
    let now: Instant;

    const pass = (ms: number): void => void (now = instant(now + ms));

    before(async () => {
      db = await testDatabase();
      now = instant(START);
      api = await describedApi(await startTestApi(db, {}, { clock: () => now }));
    });

    beforeEach(async () => {
      now = instant(START);
      own = await openGuarded(api, {}, { kind });
    });

    /** Nothing is held, nothing left, and nothing of the month is used. */
    async function assertGivenBack(
      before: Awaited<ReturnType<GuardedBank['money']>>,
    ): Promise<void> {
      assert.deepEqual(await own.money(), before);
      assert.equal(await own.used(), 0n);
    }

    describe('ends', () => {
      const MAY: Readonly<Record<'reject' | 'cancel', readonly Person[]>> = {
        reject: ['approver', 'second', 'third', 'admin', 'owner'],
        cancel: ['creator', 'admin', 'owner'],
      };
      const EVERYBODY: readonly Person[] = [
        ...['owner', 'creator', 'colleague', 'approver', 'admin', 'viewer', 'stranger'],
      ] as Person[];

      for (const verb of ['reject', 'cancel'] as const)
        it(`a ${kind} that waits for approval ends: ${verb} by ${MAY[verb].join(', ')} and nobody else ends it with one ${kind}.${ENDS[kind][verb]}, and all is given back`, async () => {
          const rejection = rejectionOf(kind, verb, verb === 'reject' ? REASON : null);
          const before = await own.money();
          for (const person of EVERYBODY) {
            const pending = await own.pend();
            const answer = await own.act(verb, pending.id, person);
            if (MAY[verb].includes(person)) {
              answered(answer, 200);
            } else {
              answered(answer, 403, 'authority_insufficient');
              assert.deepEqual(await own.read(pending.id), pending);
              answered(await own.act(verb, pending.id, 'admin'), 200);
            }
            await assertEnded(own, pending.id, ENDS[kind][verb], rejection);
          }
          await assertGivenBack(before);
        });

      it(`a ${kind} that waits for approval ends by its creator alone as canceled: reject is 403 for who created it, also as admin or owner`, async () => {
        for (const person of ['creator', 'admin', 'owner'] as const) {
          const { id } = await own.pend({}, { token: own.tokens[person] });
          answered(await own.act('reject', id, person), 403, 'authority_insufficient');
          answered(await own.act('cancel', id, person), 200);
          await assertEnded(own, id, ENDS[kind].cancel, rejectionOf(kind, 'cancel', null));
        }
      });

      it(`a ${kind} that waits for approval ends by its creator no more when the creator has lost every role in the source`, async () => {
        const { id } = await own.pend();
        await removeRole(db.database, systemClock, own.members.creator, own.guarded.id, TEST_ACTOR);
        answered(await own.act('cancel', id, 'creator'), 403, 'authority_insufficient');
        answered(await own.act('cancel', id, 'admin'), 200);
      });

      it(`a ${kind} that waits for approval ends by a reject with a reason of 1 to 140 code points in NFC, shown as stored`, async () => {
        for (const [reason, shown] of [
          ['x', 'x'],
          ['💸'.repeat(140), '💸'.repeat(140)],
          ['e\u0301'.repeat(140), '\u00e9'.repeat(140)],
        ]) {
          const { id } = await own.pend();
          const { json } = answered(
            await own.act('reject', id, 'approver', { body: { reason } }),
            200,
          );
          assert.equal(object(json.rejection).reason, shown);
        }
      });

      it(`a ${kind} that waits for approval ends by no reject whose reason is absent, empty, too long or no text: 400, and it waits on`, async () => {
        const pending = await own.pend();
        for (const [body, code, reason] of [
          [{}, 'missing_field', undefined],
          [{ reason: null }, 'missing_field', undefined],
          [{ reason: '' }, 'invalid_field', 'too_short'],
          [{ reason: 'x'.repeat(141) }, 'invalid_field', 'too_long'],
          [{ reason: 'a\nb' }, 'invalid_field', 'control_character'],
          [{ reason: 7 }, 'invalid_field', 'not_a_string'],
          [{ reason: 'x', code: 'rejected' }, 'invalid_field', 'unknown'],
        ] as const) {
          const refused = answered(
            await own.act('reject', pending.id, 'approver', { body }),
            400,
            code,
          );
          assert.equal(refused.details?.reason, reason);
        }
        answered(
          await own.act('cancel', pending.id, 'creator', { body: { reason: 'x' } }),
          400,
          'invalid_field',
        );
        assert.deepEqual(await own.read(pending.id), pending);
      });

      it(`a ${kind} that waits for approval ends once: reject and cancel ignore an Idempotency-Key, and asked again they are 409 with the end that there was`, async () => {
        const key = randomUUID();
        for (const verb of ['reject', 'cancel'] as const) {
          const { id } = await own.pend();
          const first = answered(await own.act(verb, id, 'admin', { key }), 200);
          assert.equal(first.headers.get('svc-idempotent-replayed'), null);
          const again = answered(await own.act(verb, id, 'admin', { key }), 409, 'invalid_state');
          assert.deepEqual(again.details, {
            current: ENDS[kind][verb],
            allowed: POSSIBLE_IN[kind][verb],
          });
          assert.equal((await own.events(id)).length, 1);
        }
      });

      it(`a ${kind} that waits for approval ends after a first approval of two by reject, and the approval stays visible`, async () => {
        await own.setPolicy({ approvals: 2 });
        const before = await own.money();
        const { id } = await own.pend();
        answered(await own.act('approve', id, 'approver'), 200);
        // Also by who approved it a moment ago.
        answered(await own.act('reject', id, 'approver'), 200);
        const shown = await assertEnded(own, id, 'rejected', { code: 'rejected', reason: REASON });
        assert.equal(object(shown.approval).received, 1);
        await assertGivenBack(before);
      });

      it(`a ${kind} that waits for approval ends with the last approval as rejected with capability_cannot_send if its source was frozen meanwhile`, async () => {
        const before = await own.money();
        const { id } = await own.pend();
        await freezeAccount(db.deps, own.guarded.id, DECIDED);
        const { json } = answered(await own.act('approve', id, 'approver'), 200);
        const { code, reason } = object(json.rejection);
        assert.deepEqual([json.status, code], ['rejected', 'capability_cannot_send']);
        assert.match(text(reason), /frozen/);
        assert.equal(object(json.approval).received, 1);
        await assertEnded(own, id, 'rejected', object(json.rejection));
        await assertGivenBack(before);
      });
    });

    describe('when its time is over', () => {
      for (const verb of VERBS)
        it(`an expired ${kind} is settled by a late ${verb}, which is answered 409 with that; its key stays free`, async () => {
          const before = await own.money();
          const pending = await own.pend();
          pass(EXPIRES_IN_S * 1_000);
          const key = verb === 'approve' ? randomUUID() : null;
          const late = answered(
            await own.act(verb, pending.id, 'admin', { key }),
            409,
            'invalid_state',
          );
          assert.deepEqual(late.details, {
            current: ENDS[kind].expire,
            allowed: POSSIBLE_IN[kind][verb],
          });
          await assertEnded(own, pending.id, ENDS[kind].expire);
          await assertGivenBack(before);
          answered(await own.act(verb, pending.id, 'admin', { key }), 409, 'invalid_state');
          assert.equal((await own.events(pending.id)).length, 1);
          if (key === null) return;
          const { id: next } = await own.pend();
          const fresh = answered(await own.act('approve', next, 'admin', { key }), 200);
          assert.equal(fresh.headers.get('svc-idempotent-replayed'), null);
        });

      it(`a ${kind} that waits for approval does not expire a millisecond earlier`, async () => {
        for (const verb of VERBS) {
          const { id } = await own.pend();
          const until = Date.parse(text(object((await own.read(id)).approval).expires_at));
          now = instant(until - 1);
          assert.equal(
            (await approvalsOfKind(api, kind).expire(text(id))).status,
            'pending_approval',
          );
          answered(await own.act(verb, id, 'admin'), 200);
        }
      });

      it(`an expired ${kind} is not settled by a member who may not act: 403, and it waits for the timer`, async () => {
        const { id } = await own.pend();
        pass(EXPIRES_IN_S * 1_000);
        answered(await own.act('approve', id, 'viewer'), 403, 'authority_insufficient');
        answered(await own.act('approve', id, 'creator'), 403, 'authority_insufficient');
        assert.equal((await own.read(id)).status, 'pending_approval');
        assert.equal((await approvalsOfKind(api, kind).expire(text(id))).status, ENDS[kind].expire);
        await assertEnded(own, id, ENDS[kind].expire);
      });

      it(`an expired ${kind} is settled by the timer, once, however often it fires; too early it leaves nothing, not even a key`, async () => {
        const approvals = approvalsOfKind(api, kind);
        const before = await own.money();
        const { id } = await own.pend();
        const keys = (): Promise<Record<string, unknown>[]> =>
          db.sql(
            `SELECT 1 FROM idempotency_keys WHERE idempotency_key='${kind}/${text(id)}/expire'`,
          );
        assert.equal((await approvals.expire(text(id))).status, 'pending_approval');
        assert.equal((await keys()).length, 0);
        pass(EXPIRES_IN_S * 1_000);
        for (let round = 0; round < 3; round += 1)
          assert.equal((await approvals.expire(text(id))).status, ENDS[kind].expire);
        assert.equal((await keys()).length, 1);
        await assertEnded(own, id, ENDS[kind].expire);
        await assertGivenBack(before);
      });
    });
  });
