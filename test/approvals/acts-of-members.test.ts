import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { removeRole } from '../../src/access/members.js';
import { systemClock } from '../../src/core/instant.js';
import { startTestApi, type TestAnswer, type TestApi } from '../support/api.js';
import { answered, idLiteral, type Json, LEAST, object, openBank, text } from '../support/bank.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { describedApi } from '../support/described.js';
import {
  assertEnded,
  ENDS,
  type GuardedBank,
  KINDS,
  openGuarded,
  type Person,
  POSSIBLE_IN,
  THRESHOLD,
  type Verb,
} from '../support/guarded.js';
import { TEST_ACTOR } from '../support/world.js';

/** What is the same of whatever waits for approval. (docs/contract.md, Approval) */

const VERBS: readonly Verb[] = ['approve', 'reject', 'cancel'];
const OTHERS: readonly Person[] = ['viewer', 'colleague', 'stranger'];

for (const kind of KINDS)
  describe(`POST …/approve of a ${kind} that waits for approval`, () => {
    let db: TestDatabase;
    let api: TestApi;
    let own: GuardedBank;

    before(async () => {
      db = await testDatabase();
      api = await describedApi(await startTestApi(db));
    });

    beforeEach(async () => {
      own = await openGuarded(api, {}, { kind });
    });

    const isReplay = ({ headers }: TestAnswer): boolean =>
      headers.get('svc-idempotent-replayed') === 'true';

    it(`POST …/approve of a ${kind} that waits for approval by its creator is 403, in whatever role; by who has no right is 403; a stranger to the tenant gets 404`, async () => {
      for (const creator of ['creator', 'admin', 'owner'] as const) {
        const pending = await own.pend({}, { token: own.tokens[creator] });
        const { id } = pending;
        for (const person of [creator, ...OTHERS])
          answered(await own.act('approve', id, person), 403, 'authority_insufficient');
        const foreign = await openBank(api);
        answered(
          await foreign.request('POST', `/v1/${kind}s/${text(id)}/approve`),
          404,
          'not_found',
        );
        assert.deepEqual(await own.read(id), pending);
      }
      for (const id of [randomUUID(), 'x'])
        answered(await own.bank.request('POST', `/v1/${kind}s/${id}/approve`), 404, 'not_found');
    });

    for (const required of [1, 2, 3])
      it(`POST …/approve of a ${kind} that waits for approval needs ${required} by different members if the policy says so`, async () => {
        await own.setPolicy({ approvals: required });
        const { id } = await own.pend();
        for (const [index, person] of (['approver', 'second', 'admin'] as const)
          .slice(0, required)
          .entries()) {
          assert.deepEqual(await own.events(id), []);
          const { json } = answered(await own.act('approve', id, person), 200);
          assert.equal(object(json.approval).received, index + 1);
          assert.equal(
            json.status,
            index + 1 === required ? ENDS[kind].approve : 'pending_approval',
          );
        }
        await assertEnded(own, id, ENDS[kind].approve);
        const rows = await db.sql(
          `SELECT approver, channel FROM approvals WHERE resource_id=${idLiteral(text(id))}`,
        );
        assert.equal(new Set(rows.map(({ approver }) => approver)).size, required);
        assert.deepEqual(new Set(rows.map(({ channel }) => channel)), new Set(['api']));
      });

    it('a second approval by the same member answers 200, and `received` stays; the hold too', async () => {
      await own.setPolicy({ approvals: 2 });
      const { id } = await own.pend();
      const { json: first } = answered(await own.act('approve', id, 'approver'), 200);
      const again = answered(await own.act('approve', id, 'approver'), 200);
      assert.deepEqual([again.json, isReplay(again)], [first, false]);
      assert.equal(object(first.approval).received, 1);
      assert.equal((await own.money()).held, THRESHOLD);
      const acts = await db.sql(`SELECT 1 FROM audit_log WHERE subject_id='${text(id)}'`);
      assert.equal(acts.length, 1);
      answered(await own.act('approve', id, 'second'), 200);
    });

    it(`POST …/approve of a ${kind} that waits for approval repeated with its key is a replay of the current state, even after the end and without the role`, async () => {
      await own.setPolicy({ approvals: 2 });
      const { id } = await own.pend();
      const key = randomUUID();
      const first = answered(await own.act('approve', id, 'approver', { key }), 200);
      assert(!isReplay(first));
      const again = answered(
        await own.act('approve', id, 'approver', { key: key.toUpperCase() }),
        200,
      );
      assert.deepEqual([again.json, isReplay(again)], [first.json, true]);
      const { json: done } = answered(await own.act('approve', id, 'second'), 200);
      await removeRole(db.database, systemClock, own.members.approver, own.guarded.id, TEST_ACTOR);
      const last = answered(await own.act('approve', id, 'approver', { key }), 200);
      assert.deepEqual([last.json, isReplay(last)], [done, true]);
      answered(await own.act('approve', id, 'approver'), 403, 'authority_insufficient');
    });

    it(`POST …/approve of a ${kind} that waits for approval with a key that another member, resource or operation used is 409 idempotency_key_reused`, async () => {
      await own.setPolicy({ approvals: 3 });
      const [keyOfCreation, key] = [randomUUID(), randomUUID()];
      const { id } = await own.pend({}, { key: keyOfCreation });
      const { id: other } = await own.pend();
      answered(await own.act('approve', id, 'approver', { key }), 200);
      answered(await own.act('approve', id, 'second', { key }), 409, 'idempotency_key_reused');
      answered(await own.act('approve', other, 'approver', { key }), 409, 'idempotency_key_reused');
      answered(
        await own.act('approve', id, 'second', { key: keyOfCreation }),
        409,
        'idempotency_key_reused',
      );
      answered(await own.send({}, { key }), 409, 'idempotency_key_reused');
      assert.equal(object((await own.read(id)).approval).received, 1);
    });

    it(`POST …/approve of a ${kind} that waits for approval that is refused leaves its key free`, async () => {
      const key = randomUUID();
      const { id } = await own.pend();
      answered(await own.act('approve', id, 'creator', { key }), 403, 'authority_insufficient');
      answered(
        await own.bank.request('POST', `/v1/${kind}s/${randomUUID()}/approve`, { key }),
        404,
        'not_found',
      );
      assert(!isReplay(answered(await own.act('approve', id, 'approver', { key }), 200)));
      const late = randomUUID();
      answered(await own.act('approve', id, 'second', { key: late }), 409, 'invalid_state');
      const { id: next } = await own.pend();
      answered(await own.act('approve', next, 'second', { key: late }), 200);
    });

    it(`POST …/approve of a ${kind} that waits for approval without a key is 400 missing_idempotency_key, with a malformed one invalid_field; with a body 400`, async () => {
      const { id } = await own.pend();
      answered(
        await own.act('approve', id, 'approver', { key: null }),
        400,
        'missing_idempotency_key',
      );
      answered(await own.act('approve', id, 'approver', { key: 'x' }), 400, 'invalid_field');
      answered(
        await own.act('approve', id, 'approver', { body: { reason: 'x' } }),
        400,
        'invalid_field',
      );
      assert.equal((await own.read(id)).status, 'pending_approval');
    });

    it(`POST …/approve of a ${kind} that waits for approval of what waits no more, or never did, is 409 invalid_state {current, allowed}`, async () => {
      const { id: instantId } = answered(await own.send({ raw: LEAST }), 201).json;
      const { id: canceled } = await own.pend();
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
    });

    it(`POST …/approve of a ${kind} that waits for approval is answered in the order of the checks: key, body, replay, 404, 403, 409`, async () => {
      const key = randomUUID();
      const { id } = await own.pend();
      const { id: settled } = await own.pend();
      answered(await own.act('approve', settled, 'approver', { key }), 200);
      const foreign = await openBank(api);
      const missing = randomUUID();
      const viewer = { token: own.tokens.viewer };
      const approve = `/v1/${kind}s/${missing}/approve`;
      answered(
        await own.bank.request('POST', approve, { ...viewer, key: null, body: {} }),
        400,
        'missing_idempotency_key',
      );
      answered(
        await own.bank.request('POST', approve, { ...viewer, body: {} }),
        400,
        'invalid_field',
      );
      answered(
        await own.bank.request('POST', approve, { ...viewer, key }),
        409,
        'idempotency_key_reused',
      );
      answered(
        await own.bank.request('POST', `/v1/${kind}s/no-id/approve`, { ...viewer, key }),
        409,
        'idempotency_key_reused',
      );
      answered(await own.bank.request('POST', approve, viewer), 404, 'not_found');
      // 403 before 409: who may not act is not told how it ended.
      answered(await own.act('approve', settled, 'viewer'), 403, 'authority_insufficient');
      answered(await own.act('approve', settled, 'creator'), 403, 'authority_insufficient');
      answered(await own.act('reject', missing, 'viewer', { body: {} }), 400, 'missing_field');
      answered(await own.act('reject', missing, 'viewer'), 404, 'not_found');
      answered(await own.act('reject', settled, 'viewer'), 403, 'authority_insufficient');
      answered(
        await foreign.request('POST', `/v1/${kind}s/${text(id)}/reject`, { body: {} }),
        400,
        'missing_field',
      );
    });

    it(`POST …/approve of a ${kind} that waits for approval leaves a line in the audit log with the approver and the result`, async () => {
      await own.setPolicy({ approvals: 2 });
      const { id } = await own.pend();
      for (const person of ['viewer', 'creator', 'approver', 'second'] as const)
        await own.act('approve', id, person);
      const acts = await db.sql(
        `SELECT action, actor_claimed, channel, details FROM audit_log WHERE subject_id='${text(id)}' ORDER BY id`,
      );
      assert.deepEqual(
        acts.map((act) => ({ ...act, details: JSON.parse(String(act.details)) as Json })),
        (['approver', 'second'] as const).map((person, index) => ({
          action: `${kind}.approve`,
          actor_claimed: `member:${own.members[person].id}`,
          channel: 'api',
          details: {
            status: ['pending_approval', ENDS[kind].approve][index],
            received: index + 1,
            reason: null,
          },
        })),
      );
    });
  });
