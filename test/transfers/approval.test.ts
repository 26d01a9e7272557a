import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { removeRole } from '../../src/access/members.js';
import { systemClock } from '../../src/core/instant.js';
import { startTestApi, type TestAnswer, type TestApi } from '../support/api.js';
import { answered, idLiteral, type Json, LEAST, list, object, openBank, text, transferBody } from '../support/bank.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { describedApi } from '../support/described.js';
import {
  assertEnded,
  EXPIRES_IN_S,
  type GuardedBank,
  openGuarded,
  type Person,
  THRESHOLD,
} from '../support/guarded.js';
import { assertLedgerSound, TEST_ACTOR } from '../support/world.js';

const APPROVERS: readonly Person[] = ['approver', 'admin', 'owner'];
const OTHERS: readonly Person[] = ['viewer', 'colleague', 'stranger'];

describe('POST /v1/transfers that needs approval', () => {
  let db: TestDatabase;
  let api: TestApi;
  let own: GuardedBank;

  before(async () => {
    db = await testDatabase();
    api = await describedApi(await startTestApi(db));
  });

  beforeEach(async () => {
    own = await openGuarded(api);
  });

  afterEach(() => assertLedgerSound(db.database));
  after(() => api.stop());

  const isReplay = ({ headers }: TestAnswer): boolean => headers.get('svc-idempotent-replayed') === 'true';

  it('answers 202 with the transfer that waits, and what it waits for', async () => {
    const transfer = await own.pend({ description: 'Rent' });
    const { id, created_at: createdAt, approval, ...rest } = transfer;
    assert.deepEqual(rest, {
      scope: 'internal',
      status: 'pending_approval',
      source_account: own.guarded.id,
      destination: { type: 'account', account_id: own.receiver.id },
      amount: { raw: THRESHOLD.toString(), asset: 'COPM' },
      fee: { raw: '0', asset: 'COPM' },
      description: 'Rent',
      rejection: null,
    });
    const expiresAt = new Date(Date.parse(text(createdAt)) + EXPIRES_IN_S * 1_000).toISOString();
    assert.deepEqual(approval, { required: 1, received: 0, expires_at: expiresAt });
    assert.deepEqual(await own.read(id), transfer);
    const listed = list((await own.bank.get('/v1/transfers?status=pending_approval')).json.items);
    assert.deepEqual(listed, [transfer]);
  });

  it('holds the amount and takes the share of the month at once; nothing moves and no event tells of it', async () => {
    const before = await own.money();
    const { id } = await own.pend();
    assert.deepEqual(await own.money(), { available: before.available - THRESHOLD, held: THRESHOLD });
    assert.equal(await own.used(), THRESHOLD);
    assert.equal(await own.bank.available(own.receiver), 0n);
    assert.deepEqual(await own.events(id), []);
    const { json } = answered(await own.bank.get(`/v1/accounts/${own.guarded.id}/movements?kind=transfer_out`), 200);
    assert.deepEqual(json.items, []);
    const [hold] = await db.sql(`SELECT raw, remaining FROM holds WHERE resource_id=${idLiteral(text(id))}`);
    assert.deepEqual(Object.values(hold ?? {}), [THRESHOLD.toString(), THRESHOLD.toString()]);
  });

  it('writes one entry for its workflow in the same transaction; an instant one writes none', async () => {
    const entries = (): Promise<Record<string, unknown>[]> =>
      db.sql(`SELECT LOWER(HEX(resource_id)) AS id, resource_type AS type FROM outbox
              WHERE tenant_id=${idLiteral(own.guarded.tenantId)}`);
    await own.bank.sent({ from: own.guarded, to: own.receiver, raw: THRESHOLD - 1n });
    assert.deepEqual(await entries(), []);
    const { id } = await own.pend();
    assert.deepEqual(await entries(), [{ id: text(id).replaceAll('-', ''), type: 'transfer' }]);
  });

  it('waits when the threshold is reached exactly; one unit below it completes at once', async () => {
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
    const send = (raw: bigint): Promise<TestAnswer> => own.bank.send({ from: person, to: own.receiver, raw });
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
    assert.deepEqual(short.details, { available: LEAST.toString(), requested: (LEAST + 1n).toString() });
    await own.bank.sent({ from: poor, to: own.receiver, raw: LEAST });
  });

  it('is refused by a rule at once, and not held: 422 comes before the wait', async () => {
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

  it('asked again with its key answers 200, a replay, with the same transfer as it is now', async () => {
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

  it('keeps a description of 140 code points, and refuses 141', async () => {
    const description = '💸'.repeat(140);
    assert.equal((await own.pend({ description })).description, description);
    const wanted = { from: own.guarded, to: own.receiver, raw: THRESHOLD, description: `${description}x` };
    answered(await own.bank.send(wanted), 400, 'invalid_field');
  });

  it('to another tenant of the network waits too; the receiver sees its movement once it is approved', async () => {
    const network = `net-${randomUUID()}`;
    own = await openGuarded(api, {}, { tenant: { network } });
    const neighbour = await openBank(api, { network });
    const to = await neighbour.account();
    const { id } = await own.pend({ to });
    const movements = async (): Promise<Json[]> =>
      list((await neighbour.get(`/v1/accounts/${to.id}/movements`)).json.items);
    assert.deepEqual(await movements(), []);
    answered(await neighbour.request('POST', `/v1/transfers/${text(id)}/approve`), 404, 'not_found');
    answered(await own.act('approve', id, 'approver'), 200);
    const [movement] = await movements();
    assert.deepEqual([movement?.kind, object(movement?.related).id], ['transfer_in', id]);
    assert.deepEqual((await neighbour.get('/v1/events')).json.items, []);
  });

  describe('and then POST …/approve', () => {
    it('by an approver, admin or owner completes it: 200, the money is there, one transfer.completed', async () => {
      for (const [count, person] of APPROVERS.entries()) {
        const before = await own.money();
        const { id, approval, ...pending } = await own.pend();
        const { json } = answered(await own.act('approve', id, person), 200);
        const done = { ...object(approval), received: 1 };
        assert.deepEqual(json, { ...pending, id, status: 'completed', approval: done, rejection: null });
        assert.deepEqual(await assertEnded(own, id, 'completed'), json);
        assert.deepEqual(await own.money(), { available: before.available - THRESHOLD, held: 0n });
        assert.equal(await own.bank.available(own.receiver), BigInt(count + 1) * THRESHOLD);
        assert.equal(await own.used(), BigInt(count + 1) * THRESHOLD);
      }
    });

    it('by its creator is 403, in whatever role; by who has no right is 403; a stranger to the tenant gets 404', async () => {
      for (const creator of ['creator', 'admin', 'owner'] as const) {
        const pending = await own.pend({}, { token: own.tokens[creator] });
        const { id } = pending;
        for (const person of [creator, ...OTHERS])
          answered(await own.act('approve', id, person), 403, 'authority_insufficient');
        const foreign = await openBank(api);
        answered(await foreign.request('POST', `/v1/transfers/${text(id)}/approve`), 404, 'not_found');
        assert.deepEqual(await own.read(id), pending);
      }
      for (const id of [randomUUID(), 'x'])
        answered(await own.bank.request('POST', `/v1/transfers/${id}/approve`), 404, 'not_found');
    });

    for (const required of [1, 2, 3])
      it(`needs ${required} of different members where the policy says so`, async () => {
        await own.setPolicy({ approvals: required });
        const { id } = await own.pend();
        for (const [index, person] of (['approver', 'second', 'admin'] as const).slice(0, required).entries()) {
          assert.deepEqual(await own.events(id), []);
          const { json } = answered(await own.act('approve', id, person), 200);
          assert.equal(object(json.approval).received, index + 1);
          assert.equal(json.status, index + 1 === required ? 'completed' : 'pending_approval');
        }
        await assertEnded(own, id, 'completed');
        const rows = await db.sql(`SELECT approver, channel FROM approvals WHERE resource_id=${idLiteral(text(id))}`);
        assert.equal(new Set(rows.map(({ approver }) => approver)).size, required);
        assert.deepEqual(new Set(rows.map(({ channel }) => channel)), new Set(['api']));
      });

    it('a second time by the same member answers 200, and `received` stays; the hold too', async () => {
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

    it('with its key again is a replay, also after the end and without the role; it shows the transfer as it is now', async () => {
      await own.setPolicy({ approvals: 2 });
      const { id } = await own.pend();
      const key = randomUUID();
      const first = answered(await own.act('approve', id, 'approver', { key }), 200);
      assert(!isReplay(first));
      const again = answered(await own.act('approve', id, 'approver', { key: key.toUpperCase() }), 200);
      assert.deepEqual([again.json, isReplay(again)], [first.json, true]);
      const { json: done } = answered(await own.act('approve', id, 'second'), 200);
      await removeRole(db.database, systemClock, own.members.approver, own.guarded.id, TEST_ACTOR);
      const last = answered(await own.act('approve', id, 'approver', { key }), 200);
      assert.deepEqual([last.json, isReplay(last)], [done, true]);
      answered(await own.act('approve', id, 'approver'), 403, 'authority_insufficient');
    });

    it('with a key that another member, transfer or operation used is 409 idempotency_key_reused', async () => {
      await own.setPolicy({ approvals: 3 });
      const [keyOfCreation, key] = [randomUUID(), randomUUID()];
      const { id } = await own.pend({}, { key: keyOfCreation });
      const { id: other } = await own.pend();
      answered(await own.act('approve', id, 'approver', { key }), 200);
      answered(await own.act('approve', id, 'second', { key }), 409, 'idempotency_key_reused');
      answered(await own.act('approve', other, 'approver', { key }), 409, 'idempotency_key_reused');
      answered(await own.act('approve', id, 'second', { key: keyOfCreation }), 409, 'idempotency_key_reused');
      const wanted = { from: own.guarded, to: own.receiver, raw: THRESHOLD };
      answered(await own.bank.send(wanted, { key }), 409, 'idempotency_key_reused');
      assert.equal(object((await own.read(id)).approval).received, 1);
    });

    it('that is refused leaves its key free', async () => {
      const key = randomUUID();
      const { id } = await own.pend();
      answered(await own.act('approve', id, 'creator', { key }), 403, 'authority_insufficient');
      answered(await own.bank.request('POST', `/v1/transfers/${randomUUID()}/approve`, { key }), 404, 'not_found');
      assert(!isReplay(answered(await own.act('approve', id, 'approver', { key }), 200)));
      const late = randomUUID();
      answered(await own.act('approve', id, 'second', { key: late }), 409, 'invalid_state');
      const { id: next } = await own.pend();
      answered(await own.act('approve', next, 'second', { key: late }), 200);
    });

    it('without a key is 400 missing_idempotency_key, with a malformed one invalid_field; with a body 400', async () => {
      const { id } = await own.pend();
      answered(await own.act('approve', id, 'approver', { key: null }), 400, 'missing_idempotency_key');
      answered(await own.act('approve', id, 'approver', { key: 'x' }), 400, 'invalid_field');
      answered(await own.act('approve', id, 'approver', { body: { reason: 'x' } }), 400, 'invalid_field');
      assert.equal((await own.read(id)).status, 'pending_approval');
    });

    it('of what waits no more, or never did, is 409 invalid_state {current, allowed}', async () => {
      const { id: instantId } = await own.bank.sent({ from: own.guarded, to: own.receiver, raw: LEAST });
      const { id: canceled } = await own.pend();
      answered(await own.act('cancel', canceled, 'creator'), 200);
      for (const [id, current] of [
        [instantId, 'completed'],
        [canceled, 'rejected'],
      ])
        for (const verb of ['approve', 'reject', 'cancel'] as const) {
          const refused = answered(await own.act(verb, id, 'admin'), 409, 'invalid_state');
          assert.deepEqual(refused.details, { current, allowed: ['pending_approval'] });
        }
    });

    it('is answered in the order of the checks: key, body, replay, 404, 403, 409', async () => {
      const key = randomUUID();
      const { id } = await own.pend();
      const { id: settled } = await own.pend();
      answered(await own.act('approve', settled, 'approver', { key }), 200);
      const foreign = await openBank(api);
      const missing = randomUUID();
      const viewer = { token: own.tokens.viewer };
      const approve = `/v1/transfers/${missing}/approve`;
      answered(
        await own.bank.request('POST', approve, { ...viewer, key: null, body: {} }),
        400,
        'missing_idempotency_key',
      );
      answered(await own.bank.request('POST', approve, { ...viewer, body: {} }), 400, 'invalid_field');
      answered(await own.bank.request('POST', approve, { ...viewer, key }), 409, 'idempotency_key_reused');
      answered(await own.bank.request('POST', approve, viewer), 404, 'not_found');
      // 403 before 409: who may not act is not told how it ended.
      answered(await own.act('approve', settled, 'viewer'), 403, 'authority_insufficient');
      answered(await own.act('approve', settled, 'creator'), 403, 'authority_insufficient');
      answered(await own.act('reject', missing, 'viewer', { body: {} }), 400, 'missing_field');
      answered(await own.act('reject', missing, 'viewer'), 404, 'not_found');
      answered(await own.act('reject', settled, 'viewer'), 403, 'authority_insufficient');
      answered(await foreign.request('POST', `/v1/transfers/${text(id)}/reject`, { body: {} }), 400, 'missing_field');
    });

    it('leaves a line in the audit log with who approved and what became of it', async () => {
      await own.setPolicy({ approvals: 2 });
      const { id } = await own.pend();
      for (const person of ['viewer', 'creator', 'approver', 'second'] as const) await own.act('approve', id, person);
      const acts = await db.sql(
        `SELECT action, actor_claimed, channel, details FROM audit_log WHERE subject_id='${text(id)}' ORDER BY id`,
      );
      assert.deepEqual(
        acts.map((act) => ({ ...act, details: JSON.parse(String(act.details)) as Json })),
        (['approver', 'second'] as const).map((person, index) => ({
          action: 'transfer.approve',
          actor_claimed: `member:${own.members[person].id}`,
          channel: 'api',
          details: { status: ['pending_approval', 'completed'][index], received: index + 1, reason: null },
        })),
      );
    });
  });

  it('is found by its key while it waits, and by status as it moves on', async () => {
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
