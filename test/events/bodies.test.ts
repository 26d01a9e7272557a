import assert from 'node:assert/strict';
import { audit } from '../../src/auditor/audit.js';
import { type Instant, systemClock } from '../../src/core/instant.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, idLiteral, type Json, LEAST, text, walk } from '../support/bank.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { approvalsOf, type GuardedBank, openGuarded } from '../support/guarded.js';
import { FakeReceiver } from '../support/receiver.js';
import { assertLedgerSound } from '../support/world.js';
import { drained, expireLease, hooked, partsOf } from '../webhooks/support.js';

const REASON = 'no "ünï" \\ → 💸';

describe('the bodies of events', () => {
  let db: TestDatabase;
  let receiver: FakeReceiver;
  let api: TestApi;
  let previous: TestApi;
  let late = 0;

  before(async () => {
    db = await testDatabase();
    receiver = new FakeReceiver();
    const clock = (): Instant => (systemClock() + late) as Instant;
    api = await startTestApi(db, {}, { clock, receiver });
    previous = await startTestApi(db, { EVENT_BODIES: 'whole' }, { clock });
  });
  after(async () => {
    await assertLedgerSound(db.database);
    await previous.stop();
    await api.stop();
  });

  const stored = async ({ guarded }: GuardedBank): Promise<string[]> =>
    (await db.sql(`SELECT body FROM events WHERE tenant_id=${idLiteral(guarded.tenantId)} ORDER BY sequence`)).map(
      ({ body }) => String(body),
    );
  const shown = async ({ bank }: GuardedBank): Promise<string> =>
    (await bank.get('/v1/events?order=asc&limit=100')).text;

  /** A transfer of each kind of end: at once, approved, rejected, expired. */
  async function ended(on: TestApi): Promise<GuardedBank> {
    const own = await openGuarded(on);
    await own.bank.sent({ from: own.guarded, to: own.receiver, raw: LEAST, description: REASON });
    await own.setPolicy({ approvals: 2, expiresInS: 60 });
    const approved = await own.pend();
    for (const person of ['approver', 'second'] as const) answered(await own.act('approve', approved.id, person), 200);
    answered(await own.act('reject', (await own.pend()).id, 'approver', { body: { reason: REASON } }), 200);
    const expired = await own.pend();
    late += 60_000;
    assert.equal((await approvalsOf(on).expire(text(expired.id))).status, 'expired');
    return own;
  }

  it('of transfers are stored as their shape, and read as the bytes that the release before stored', async () => {
    const own = await ended(previous);
    const [was, text] = [await stored(own), await shown(own)];
    assert.equal(was.length, 4);
    for (const body of was) assert(text.includes(body), body);
    await db.change(`UPDATE events SET body='t1' WHERE tenant_id=${idLiteral(own.guarded.tenantId)}`);
    assert.equal(await shown(own), text);
    assert.deepEqual(await stored(await ended(api)), ['t1', 't1', 't1', 't1']);
  });

  it('say how often the log was put back, whichever way they are stored', async () => {
    for (const on of [previous, api]) {
      const own = await openGuarded(on);
      const of = idLiteral(own.guarded.tenantId);
      await db.change(`UPDATE event_counters SET restores=2 WHERE tenant_id=${of}`);
      await own.bank.sent({ from: own.guarded, to: own.receiver, raw: LEAST });
      const [event] = await walk(own.bank, '/v1/events');
      assert.deepEqual([event?.sequence, event?.restores], [1, 2]);
      const text = await shown(own);
      await db.change(`UPDATE events SET body='t1,"restores":2' WHERE tenant_id=${of}`);
      assert.equal(await shown(own), text);
    }
  });

  it('are delivered as they are listed and read one by one', async () => {
    const own = await hooked(api, ['transfer.completed']);
    const { bank } = own;
    const [from, to] = [await bank.account({ funds: { COPM: 100n * LEAST } }), await bank.account()];
    for (let count = 0; count < 3; count += 1) await bank.sent({ from, to, raw: LEAST, description: REASON });
    assert.deepEqual((await drained(partsOf(api, receiver), own.id)).attempts, 3);
    const got = receiver.at(own.url).map(({ body }) => body);
    const listed = (await bank.get('/v1/events?order=asc')).text;
    for (const body of got) assert(listed.includes(body), body);
    for (const body of got) {
      const { id } = JSON.parse(body) as Json;
      assert.equal((await bank.get(`/v1/events/${text(id)}`)).text, body);
      assert.equal((await bank.request('POST', `/v1/events/${text(id)}/redeliver`)).text, body);
    }
    await drained(partsOf(api, receiver), own.id);
    assert.deepEqual(
      receiver
        .at(own.url)
        .slice(3)
        .map(({ body }) => body)
        .sort(),
      [...got].sort(),
    );
  });

  it('of a shape that only a later release knows are left to it: 503, and no delivery is lost', async () => {
    const own = await hooked(api, ['transfer.completed']);
    const { bank } = own;
    const [from, to] = [await bank.account({ funds: { COPM: 100n * LEAST } }), await bank.account()];
    await bank.sent({ from, to, raw: LEAST });
    const of = `tenant_id=${idLiteral(from.tenantId)}`;
    await db.change(`UPDATE events SET body='z9' WHERE ${of}`);
    assert.equal((await bank.get('/v1/events')).status, 503);
    await assert.rejects(drained(partsOf(api, receiver), own.id), /z9/);
    const { findings } = await audit(db.database, { tenantId: from.tenantId });
    assert.deepEqual(
      findings.map(({ check }) => check),
      ['event_body'],
    );
    await db.change(`UPDATE events SET body='t1' WHERE ${of}`);
    await expireLease(db, own.id);
    assert.equal((await drained(partsOf(api, receiver), own.id)).attempts, 1);
  });

  it('are not told from a transfer that has not ended as they say: a new primary may still be behind', async () => {
    const own = await hooked(api, ['transfer.completed']);
    const { bank } = own;
    const [from, to] = [await bank.account({ funds: { COPM: 100n * LEAST } }), await bank.account()];
    const { id } = await bank.sent({ from, to, raw: LEAST });
    const of = `WHERE id=${idLiteral(text(id))}`;
    await db.change(`UPDATE transfers SET status='pending_approval', approval_expires_at=created_at ${of}`);
    assert.equal((await bank.get('/v1/events')).status, 503);
    await assert.rejects(drained(partsOf(api, receiver), own.id), /as it ended/);
    assert.deepEqual(receiver.at(own.url), []);
    await db.change(`UPDATE transfers SET status='completed', approval_expires_at=NULL ${of}`);
    await expireLease(db, own.id);
    assert.equal((await drained(partsOf(api, receiver), own.id)).attempts, 1);
  });

  it('of the shape t1 are these bytes, and of no other for ever', async () => {
    const own = await openGuarded(api);
    const sent = await own.bank.sent({ from: own.guarded, to: own.receiver, raw: LEAST, description: REASON });
    const { id, created_at: created, sequence } = (await walk(own.bank, '/v1/events'))[0]!;
    const money = (raw: bigint): string =>
      JSON.stringify((sent.amount as Json).raw === String(raw) ? sent.amount : sent.fee);
    const transfer = [
      `{"id":"${text(sent.id)}","scope":"internal","status":"completed","source_account":"${own.guarded.id}"`,
      `"destination":{"type":"account","account_id":"${own.receiver.id}"},"amount":${money(LEAST)},"fee":${money(0n)}`,
      `"description":${JSON.stringify(REASON)},"created_at":"${text(sent.created_at)}","approval":null,"rejection":null}`,
    ].join(',');
    const head = `{"id":"${text(id)}","type":"transfer.completed","api_version":"2026-11-01","created_at":"${text(created)}"`;
    assert.equal(
      (await own.bank.get(`/v1/events/${text(id)}`)).text,
      `${head},"sequence":${Number(sequence)},"data":{"object":${transfer}}}`,
    );
  });
});
