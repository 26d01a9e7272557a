import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { listAuditRows } from '../../src/access/audit-log.js';
import { applyDueRoles, grantRole, grantRoleEverywhere } from '../../src/members/roles.js';
import { setPolicyDelay } from '../../src/approvals/policies.js';
import { newId } from '../../src/core/ids.js';
import { type Instant, instant } from '../../src/core/instant.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, type Bank, idLiteral, openBank, text, walk } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import { assertLedgerSound, TEST_ACTOR } from '../helpers/world.js';
import { created, createToken, person, type Person, setRole } from './own-access-support.js';

const DELAY_S = 600;
const db = await testDatabase();

describe("the delay of a tenant's wider access", () => {
  let bank: Bank;
  let account: { readonly id: string };
  let clerk: Person;
  let now: Instant = instant(Date.parse('2034-03-01T10:00:00.000Z'));
  const clock = (): Instant => now;
  const api = startTestApi(db, {}, { clock }).then(describedApi);

  beforeEach(async () => {
    bank = await openBank(await api);
    account = await bank.account();
    clerk = await person(bank);
    await delay(DELAY_S);
  });
  after(() => assertLedgerSound(db.database));

  const delay = (seconds: number | null): Promise<void> =>
    setPolicyDelay(db.database, clock, bank.tenant.tenant.id, seconds, TEST_ACTOR);
  const later = (seconds: number): void => void (now = instant(now + seconds * 1_000));
  const at = (seconds: number): string => new Date(now + seconds * 1_000).toISOString();
  const apply = (): Promise<number> => applyDueRoles({ database: db.database, clock }, 100);
  const give = (...[member, role]: [Person, Parameters<typeof setRole>[3]]): Promise<TestAnswer> =>
    setRole(bank, account, member.member, role);
  const effective = async (answer: Promise<TestAnswer>): Promise<unknown> =>
    answered(await answer, 200).json.effective_at;
  const role = async ({ member }: Person): Promise<unknown> => {
    const [row] = await db.sql(
      `SELECT role FROM member_roles WHERE member_id=${idLiteral(member.id)}`,
    );
    return row?.role;
  };
  const pending = async ({ member }: Person): Promise<unknown> =>
    (await walk(bank, '/v1/members')).find(({ id }) => id === member.id)?.pending_roles;
  const lines = async ({ member }: Person): Promise<unknown[]> =>
    (await listAuditRows(db.database.reader, { subjectId: member.id }, 20))
      .reverse()
      .slice(1)
      .map(({ action, channel }) => `${action} ${channel}`);

  it('a role that permits more waits, also after a repetition, and then takes effect', async () => {
    const due = at(DELAY_S);
    assert.equal(await effective(give(clerk, 'operator')), due);
    later(100);
    assert.equal(await effective(give(clerk, 'operator')), due);
    assert.deepEqual(await pending(clerk), [
      { account_id: account.id, role: 'operator', effective_at: due },
    ]);
    later(DELAY_S - 101);
    await apply();
    assert.equal(await role(clerk), undefined);
    later(1);
    await apply();
    assert.equal(await role(clerk), 'operator');
    assert.deepEqual(await pending(clerk), []);
    assert.deepEqual(await lines(clerk), ['role.request api', 'role.take_effect api']);
  });

  it('a role takes effect at its time, even if an older one cannot be stored', async () => {
    const { member } = await person(bank);
    await setRole(bank, account, member, 'operator');
    const unknown = idLiteral(newId());
    await db.change(
      `UPDATE pending_roles SET member_id=${unknown}, effective_at=effective_at-INTERVAL 1 SECOND WHERE member_id=${idLiteral(member.id)}`,
    );
    await give(clerk, 'operator');
    later(DELAY_S);
    await assert.rejects(apply(), { message: 'the resource does not exist' });
    assert.equal(await role(clerk), 'operator');
    await db.change(`DELETE FROM pending_roles WHERE member_id=${unknown}`);
  });

  it('a repeated creation of a member shows the role that waits since', async () => {
    const options = { body: { name: 'payroll' }, key: randomUUID() };
    const add = (): Promise<TestAnswer> => bank.request('POST', '/v1/members', options);
    const id = text(answered(await add(), 201).json.id);
    const waiting = answered(await setRole(bank, account, { id }, 'operator'), 200).json;
    const { role: waits, effective_at: due } = waiting;
    assert.deepEqual(answered(await add(), 200).json.pending_roles, [
      { account_id: account.id, role: waits, effective_at: due },
    ]);
  });

  it('a role that permits no more takes effect at once, and withdraws the one that waits', async () => {
    await delay(null);
    assert.equal(await effective(give(clerk, 'admin')), null);
    await delay(DELAY_S);
    for (const [next, waits] of [
      ['owner', true],
      ['admin', false],
      ['approver', false],
      // An operator creates, which an approver may not.
      ['operator', true],
      ['viewer', false],
    ] as const)
      assert.equal(await effective(give(clerk, next)), waits ? at(DELAY_S) : null, next);
    assert.equal(await role(clerk), 'viewer');
    assert.deepEqual(await pending(clerk), []);
    assert.deepEqual(await lines(clerk), [
      ...['role.grant', 'role.request', 'role.withdraw', 'role.grant', 'role.request'].map(
        (action) => `${action} api`,
      ),
      ...['role.withdraw api', 'role.grant api'],
    ]);
  });

  it('a waiting role ends with the removal of the role, and with the removal of the member', async () => {
    await give(clerk, 'owner');
    answered(
      await bank.request('DELETE', `/v1/accounts/${account.id}/roles/${clerk.member.id}`),
      204,
    );
    await give(clerk, 'owner');
    answered(await bank.request('DELETE', `/v1/members/${clerk.member.id}`), 204);
    later(DELAY_S);
    await apply();
    assert.equal(await role(clerk), undefined);
  });

  it('a waiting role does not take effect if the owner who gave it is no owner any more', async () => {
    for (const lose of [
      ({ member }: Person) => bank.request('DELETE', `/v1/members/${member.id}`),
      (thief: Person) => give(thief, 'admin'),
    ]) {
      await delay(null);
      const [thief, heir] = [await person(bank), await person(bank)];
      await give(thief, 'owner');
      await delay(DELAY_S);
      answered(await setRole(bank, account, heir.member, 'owner', { token: thief.token }), 200);
      assert.ok((await lose(thief)).status < 300);
      later(DELAY_S);
      await apply();
      assert.equal(await role(heir), undefined);
      assert.deepEqual(await lines(heir), ['role.request api', 'role.withdraw api']);
    }
  });

  it('an owner whose ownership waits is not yet one, and does not count as one', async () => {
    await give(clerk, 'owner');
    answered(
      await setRole(bank, account, clerk.member, 'owner', { token: clerk.token }),
      403,
      'authority_insufficient',
    );
    const own = `/v1/accounts/${account.id}/roles/${bank.tenant.owner.id}`;
    answered(await bank.request('DELETE', own), 422, 'last_owner');
  });

  it('a token is not issued for a member whose waiting role the owner lacks', async () => {
    await delay(null);
    const local = await person(bank);
    await give(local, 'owner');
    const other = await bank.account();
    await delay(DELAY_S);
    answered(await setRole(bank, other, clerk.member, 'admin'), 200);
    answered(
      await createToken(bank, clerk.member, { token: local.token }),
      403,
      'authority_insufficient',
    );
  });

  it('a new token is refused until the delay is over, also one by operators, and may be revoked before', async () => {
    const due = at(DELAY_S);
    const use = (token: string): Promise<TestAnswer> =>
      bank.request('GET', '/v1/accounts', { token });
    const made = await created(bank, bank.tenant.owner);
    const revoked = await created(bank, bank.tenant.owner);
    const [first, second] = await walk(bank, '/v1/tokens');
    assert.deepEqual([first?.effective_at, second?.effective_at], [due, due]);
    answered(await bank.request('DELETE', `/v1/tokens/${revoked.keyId}`), 204);
    later(DELAY_S - 1);
    answered(await use(made.token), 401, 'unauthorized');
    later(1);
    answered(await use(made.token), 200);
    answered(await use(revoked.token), 401, 'unauthorized');
  });

  it("operators' grants wait like those of members, in one account and in all", async () => {
    const { database } = db;
    const { member } = clerk;
    const other = await bank.account();
    await grantRole(database, clock, member, (await bank.account()).id, 'viewer', TEST_ACTOR);
    assert.equal(await grantRoleEverywhere(database, clock, member, 'viewer', TEST_ACTOR), 3);
    assert.equal(await role(clerk), undefined);
    later(DELAY_S);
    await apply();
    const rows = await db.sql(
      `SELECT role FROM member_roles WHERE member_id=${idLiteral(member.id)}`,
    );
    assert.equal(rows.length, 3);
    assert.equal(other.status, 'active');
  });
});
