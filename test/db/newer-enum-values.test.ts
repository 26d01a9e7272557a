import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addMember, listMembers } from '../../src/access/members.js';
import { assertAllowedSomewhere } from '../../src/accounts/access.js';
import { readAccountDetails } from '../../src/accounts/directory.js';
import { ApiError } from '../../src/core/errors.js';
import { systemClock } from '../../src/core/instant.js';
import { asUuid, newId } from '../../src/core/ids.js';
import { UnknownEnumValue } from '../../src/db/columns.js';
import { batchWaiting } from '../../src/batches/waiting.js';
import { payoutWaiting } from '../../src/payouts/waiting.js';
import { transferWaiting } from '../../src/transfers/waiting.js';
import { webhookWaiting } from '../../src/webhooks/waiting.js';
import { tellAgainSweep } from '../../src/temporal/telling-again.js';
import { Outbox } from '../../src/temporal/outbox.js';
import { startTestApi, type TestAnswer, type TestApi } from '../support/api.js';
import { answered, type Bank, idLiteral, LEAST, list, openBank, text, transferBody } from '../support/bank.js';
import { type TestDatabase, widen } from '../support/database.js';
import { outboxRow } from '../support/temporal-world.js';
import { insertSql } from '../../src/db/statements.js';
import { outbox as outboxTable } from '../../src/db/entities/outbox.js';
import { assertLedgerSound, TEST_ACTOR } from '../support/world.js';
import { ownDatabase } from '../webhooks/support.js';

describe('a process beside a newer one, which writes words it does not know', () => {
  let db: TestDatabase;
  let api: TestApi;
  let bank: Bank;

  before(async () => {
    db = await ownDatabase('words');
    await widen(db, 'x_loan', 'resource_type', ['outbox']);
    await widen(db, 'x_held', 'status', ['transfers']);
    // What a migration to come says anew.
    await db.change('ALTER TABLE transfers DROP CONSTRAINT transfers_approval');
    api = await startTestApi(db);
    bank = await openBank(api);
  });

  after(async () => {
    await api.stop();
    await db.remove();
  });

  it('takes from the outbox what it knows, and leaves the rest to those who know it', async () => {
    const { id: tenantId } = bank.tenant.tenant;
    const [known, unknown] = [outboxRow({ tenantId, id: newId() }), outboxRow({ tenantId, id: newId() })];
    await db.change(insertSql(outboxTable, [unknown, known]));
    await db.change(`UPDATE outbox SET resource_type='x_loan' WHERE id=${idLiteral(unknown.id)}`);
    const outbox = new Outbox(db.database, systemClock);
    assert.deepEqual(
      (await outbox.list({}, 10)).map(({ id, resourceType }) => [id, resourceType]).sort(),
      [
        [unknown.id, 'x_loan'],
        [known.id, known.resourceType],
      ].sort(),
    );
    assert.deepEqual(
      (await outbox.claim(10)).map(({ id }) => id),
      [known.id],
    );
    await outbox.remove([known]);
    assert.equal((await outbox.depth()).entries, 1);
    assert.equal(await outbox.release({}), 1);
    assert.deepEqual(await outbox.claim(10), []);
    await db.change('DELETE FROM outbox');
  });

  it('leaves out of its lists what it cannot read, and says only of it that nothing is known', async () => {
    const [from, to] = [await bank.account({ funds: { COPM: 10n * LEAST } }), await bank.account()];
    const ids: string[] = [];
    for (let made = 0; made < 4; made += 1) ids.push(text((await bank.sent({ from, to, raw: LEAST })).id));
    const status = (word: string): Promise<number> =>
      db.change(`UPDATE transfers SET status='${word}' WHERE id=${idLiteral(ids[2]!)}`);
    await status('x_held');
    const path = `/v1/transfers?source_account=${from.id}`;
    assert.deepEqual(
      list(answered(await bank.get(path), 200).json.items).map(({ id }) => id),
      [ids[3], ids[1], ids[0]],
    );
    answered(await bank.get(`/v1/transfers/${ids[2]}`), 503, 'ledger_unavailable');
    await status('completed');
    assert.equal(list(answered(await bank.get(path), 200).json.items).length, 4);
    await assertLedgerSound(db.database);
  });

  it('treats nothing in an unknown state as settled: its entry waits for those who know it', async () => {
    const [from, to] = [await bank.account({ funds: { COPM: 10n * LEAST } }), await bank.account()];
    const [sent, held] = [await bank.sent({ from, to, raw: LEAST }), await bank.sent({ from, to, raw: LEAST })];
    const ids = [asUuid(text(sent.id)), asUuid(text(held.id))] as const;
    const status = (word: string): Promise<number> =>
      db.change(`UPDATE transfers SET status='${word}' WHERE id=${idLiteral(ids[1])}`);
    await status('x_held');
    const { reader } = db.database;
    assert.equal((await transferWaiting.waiting(reader, [ids[0]])).size, 0);
    for (const source of [transferWaiting, payoutWaiting, batchWaiting, webhookWaiting])
      assert.equal((await source.waiting(reader, [newId()])).size, 0);
    await assert.rejects(transferWaiting.waiting(reader, ids), UnknownEnumValue);
    await status('completed');
    assert.equal((await transferWaiting.waiting(reader, ids)).size, 0);
    await assertLedgerSound(db.database);
  });

  it('continues after a pass of announcing again that a newer one left amid what only that one knows', async () => {
    const sweep = tellAgainSweep({
      ...{ database: db.database, outbox: new Outbox(db.database, systemClock), sources: [transferWaiting] },
      ...{ clock: systemClock, lookAgainMs: 3_600_000, onTold: () => undefined },
    });
    await db.change(
      `INSERT INTO sweep_passes (name, began_at, at_type, after_id, found, found_before)
       VALUES ('told again', UTC_TIMESTAMP(3), 'x_loan', ${idLiteral(newId())}, 7, 9)`,
    );
    await sweep.run(new AbortController().signal);
    const [pass] = await db.sql('SELECT at_type, after_id, found FROM sweep_passes');
    assert.deepEqual([pass?.at_type, pass?.after_id, Number(pass?.found)], [null, null, 7]);
  });

  it('says that nothing is known of a key bound to a refusal with a code it does not know', async () => {
    const [from, to] = [await bank.account(), await bank.account()];
    const [key, body] = [randomUUID(), transferBody({ from, to, raw: LEAST })];
    const again = (): Promise<TestAnswer> => bank.request('POST', '/v1/transfers', { key, body });
    answered(await again(), 422, 'insufficient_funds');
    const recode = (was: string, code: string): Promise<number> =>
      db.change(
        `UPDATE idempotency_keys SET refusal=REPLACE(refusal,'"${was}"','"${code}"') WHERE idempotency_key='${key}'`,
      );
    await recode('insufficient_funds', 'x_blocked');
    answered(await again(), 503, 'ledger_unavailable');
    await recode('x_blocked', 'insufficient_funds');
    answered(await again(), 422, 'insufficient_funds');
  });

  it('grants nothing for a role it does not know, but shows it', async () => {
    const { database } = db;
    const member = await addMember(database, systemClock, bank.tenant.tenant.id, `newer ${randomUUID()}`, TEST_ACTOR);
    const account = await bank.account({ roles: [{ memberId: member.id, role: 'operator' }] });
    const other = await bank.account({ roles: [{ memberId: member.id, role: 'viewer' }] });
    await widen(db, 'x_teller', 'role', ['member_roles']);
    await db.change(
      `UPDATE member_roles SET role='x_teller' WHERE account_id=${idLiteral(other.id)} AND role='viewer'`,
    );
    const caller = { tenantId: member.tenantId, memberId: member.id, tokenKeyId: '', scopes: [] };
    await assertAllowedSomewhere(database.reader, 'createBonus', caller);
    await assert.rejects(assertAllowedSomewhere(database.reader, 'manageWebhooks', caller), ApiError);
    const known = (await listMembers(database.reader, member.tenantId)).find((one) => one.member.id === member.id);
    assert.deepEqual(
      new Map(known?.roles),
      new Map([
        ['operator', 1],
        ['x_teller', 1],
      ]),
    );
    const { members } = await readAccountDetails(database.reader, other.id);
    assert.ok(members.some(({ name, role }) => name === member.name && role === 'x_teller'));
    answered(await bank.get(`/v1/accounts/${account.id}`), 200);
  });

  it('reads a log with events of a type it does not know', async () => {
    const [from, to] = [await bank.account({ funds: { COPM: LEAST } }), await bank.account()];
    await bank.sent({ from, to, raw: LEAST });
    const [first] = list(answered(await bank.get('/v1/events?limit=1'), 200).json.items);
    const id = text(first?.id);
    const retype = (type: string): Promise<number> =>
      db.change(`UPDATE events SET type='${type}' WHERE id=${idLiteral(id)}`);
    await retype('loan.granted');
    assert.equal(answered(await bank.get('/v1/events?limit=1'), 200).json.items !== undefined, true);
    assert.equal(answered(await bank.get(`/v1/events/${id}`), 200).json.id, id);
    await retype('transfer.completed');
    await assertLedgerSound(db.database);
  });
});
