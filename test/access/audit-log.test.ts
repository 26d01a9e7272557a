import assert from 'node:assert/strict';
import { listAuditRows, operatorActor, parseDetails } from '../../src/access/audit-log.js';
import { addMember } from '../../src/members/members.js';
import { grantRole, grantRoleEverywhere, removeRole } from '../../src/members/roles.js';
import { issueToken, revokeToken, rotateToken } from '../../src/members/tokens.js';
import { setAlias } from '../../src/accounts/alias.js';
import { closeAccount, freezeAccount, unfreezeAccount } from '../../src/accounts/status.js';
import { removeFeeSchedule, setFeeAccount, setFeeSchedule } from '../../src/operations/fees.js';
import { clearAccountLimits, setAccountLimits } from '../../src/operations/limits.js';
import { openAccount } from '../../src/accounts/open-accounts.js';
import type { Uuid } from '../../src/core/ids.js';
import { systemClock as clock } from '../../src/core/instant.js';
import { errnoOf } from '../../src/db/failures.js';
import {
  approveAdjustment,
  proposeAdjustment,
  recordPayIn,
  rejectAdjustment,
} from '../../src/funding/service.js';
import { startTestApi } from '../helpers/api.js';
import { answered, type Bank, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { feeSchedule, someone } from '../helpers/world.js';

const ACTOR = operatorActor('maria');
const DECIDED = { actor: ACTOR, reason: 'ticket 118' };
/** The error of the database for a user without the right. */
const DENIED = 1142;

const db = await testDatabase();
const api = await startTestApi(db);

describe('the audit log', () => {
  let bank: Bank;
  let tenantId: Uuid;

  beforeEach(async () => {
    bank = await openBank(api);
    tenantId = bank.tenant.tenant.id;
  });

  const acts = (limit = 100) => listAuditRows(db.database.reader, { tenantId }, limit);
  /** The actions that the work adds, oldest first: action, subject and details. */
  async function added(work: () => Promise<unknown>): Promise<unknown[]> {
    const known = new Set((await acts()).map(({ id }) => id));
    await work();
    const fresh = (await acts()).filter(({ id }) => !known.has(id)).reverse();
    return fresh.map((act) => [act.action, act.subjectType, act.subjectId, parseDetails(act)]);
  }

  it("can be neither changed, emptied nor removed by the service's own user", async () => {
    for (const statement of [
      'UPDATE audit_log SET actor=0x61',
      'DELETE FROM audit_log',
      'TRUNCATE audit_log',
    ])
      await assert.rejects(
        db.database.withTransaction((transaction) => transaction.execute(statement)),
        (failure) => errnoOf(failure) === DENIED,
      );
  });

  it('shows actor, channel, time and tenant of each action, newest first', async () => {
    const { id } = await bank.account();
    const before = clock();
    await freezeAccount(db.deps, id, DECIDED);
    await unfreezeAccount(db.deps, id, { actor: operatorActor('bob'), reason: null });
    const [newest, older] = await acts(2);
    assert.deepEqual(
      [
        newest?.action,
        newest?.actorClaimed,
        newest?.channel,
        newest?.tenantId,
        older?.action,
        older?.actorClaimed,
      ],
      ['account.unfreeze', 'bob', 'ops', tenantId, 'account.freeze', 'maria'],
    );
    assert.ok(newest !== undefined && newest.at >= before && newest.at <= clock());
  });

  it('names the member who acted through the API', async () => {
    const { id } = await bank.account({ isVerified: false, type: 'person' });
    const { id: memberId } = bank.tenant.owner;
    const path = `/v1/accounts/${id}`;
    answered(await bank.request('PUT', `${path}/alias`, { body: { alias: '$audited.api' } }), 200);
    answered(await bank.request('DELETE', `${path}/alias`), 204);
    const declared = {
      ...{ type: 'person', legal_name: 'Ana Pérez', document_type: 'CC', country: 'CO' },
      document_number: '1020304051',
    };
    for (let count = 0; count < 2; count += 1)
      answered(await bank.request('PUT', `${path}/verification`, { body: declared }), 200);
    const own = (await listAuditRows(db.database.reader, { tenantId, subjectId: id }, 10))
      .reverse()
      .slice(1);
    assert.deepEqual(
      own.map(({ action, actorClaimed, channel }) => [action, actorClaimed, channel]),
      ['alias.set', 'alias.release', 'account.verify', 'account.verification_replace'].map(
        (action) => [action, `member:${memberId}`, 'api'],
      ),
    );
  });

  it('contains no personal data', async () => {
    const { id } = await bank.account({
      type: 'person',
      name: 'Zenobia Quijano',
      phone: '+573175550999',
    });
    await setAlias(db.deps, id, '$zenobia', ACTOR);
    const declared = {
      ...{
        type: 'person',
        legal_name: 'Zenobia Quijano Ávila',
        document_type: 'CC',
        country: 'CO',
      },
      document_number: '7766554433',
    };
    answered(await bank.request('PUT', `/v1/accounts/${id}/verification`, { body: declared }), 200);
    await closeAccount(db.deps, id, DECIDED);
    const all = JSON.stringify(await acts());
    for (const secret of ['enobia', 'uijano', '3175550999', '7766554433'])
      assert.ok(!all.includes(secret), secret);
  });

  it('contains every change of members and tokens', async () => {
    const { id: accountId } = await bank.account();
    const { database } = db;
    const member = await addMember(database, clock, tenantId, 'clerk', ACTOR);
    const grant = (role: 'viewer' | 'admin') =>
      grantRole(database, clock, member, accountId, role, ACTOR);
    const granted = (role: string, previous: string | null): unknown => [
      ...['role.grant', 'member', member.id, { account_id: accountId, role, previous }],
    ];
    const remove = () => removeRole(database, clock, member, accountId, ACTOR);
    const removed = { account_id: accountId, accounts: 1 };
    for (const [work, ...lines] of [
      [() => grant('viewer'), granted('viewer', null)],
      [() => grant('viewer')],
      [() => grant('admin'), granted('admin', 'viewer')],
      [remove, ['role.remove', 'member', member.id, removed]],
      [remove],
      [
        () => grantRoleEverywhere(database, clock, member, 'viewer', ACTOR),
        ['role.grant_everywhere', 'member', member.id, { role: 'viewer', accounts: 1 }],
      ],
    ] as const)
      assert.deepEqual(await added(work), lines);

    const scopes = ['read', 'lookup'] as const;
    const wanted = { name: 'server', scopes, expiresAt: null, cidrs: ['10.0.0.0/8'] };
    const { token, text } = await issueToken(database, clock, member, wanted, ACTOR);
    const described = {
      ...{ member_id: member.id, scopes: 'read,lookup', cidrs: '10.0.0.0/8', expires_at: null },
      ...{ effective_at: null, created_by_key: null },
    };
    const [issued] = await acts(1);
    assert.deepEqual([issued?.action, issued?.subjectId], ['token.issue', token.keyId]);
    assert.deepEqual(parseDetails(issued!), described);
    const { token: next } = await rotateToken(database, clock, token.keyId, 0, ACTOR);
    assert.deepEqual(await added(() => revokeToken(database, clock, next.keyId, ACTOR)), [
      ['token.revoke', 'token', next.keyId, { member_id: member.id }],
    ]);
    assert.deepEqual(await added(() => revokeToken(database, clock, next.keyId, ACTOR)), []);
    const rotated = (await acts()).find(({ action }) => action === 'token.rotate');
    assert.deepEqual(
      [rotated?.subjectId, parseDetails(rotated!)],
      [token.keyId, { replaced_by: next.keyId, grace_ms: 0 }],
    );
    assert.ok(!JSON.stringify(await acts()).includes(text.slice(-40)));
  });

  it('contains every change of accounts, limits and fees', async () => {
    const opening = {
      tenantId,
      type: 'person',
      name: 'Ana',
      alias: null,
      phone: null,
      grants: [],
    } as const;
    const { id } = await openAccount(db.deps, opening, ACTOR);
    const [opened] = await acts(1);
    assert.deepEqual(
      [opened?.action, opened?.subjectId, opened?.actorClaimed],
      ['account.open', id, 'maria'],
    );
    const limits = { accountId: id, asset: 'COPM', maximum: 500_000n } as const;
    const terms = { operation: 'payout', flatRaw: 1n, basisPoints: 2n, floorRaw: 3n } as const;
    const schedule = feeSchedule({ tenantId, ...terms });
    const priced = { operation: 'payout', asset: 'COPM' };
    const priceOf = (flat: string): object => ({
      ...{ flat: `${flat} COPM`, basis_points: '2', floor: '0.03 COPM' },
    });
    for (const [work, ...line] of [
      [
        () => setAccountLimits(db.deps, limits, ACTOR),
        ...['limits.set', 'account', id],
        {
          ...{ asset: 'COPM', minimum: null, maximum: '5,000.00 COPM', month: null },
          maximum_before: '12,000,000.00 COPM',
        },
      ],
      [
        () => setAccountLimits(db.deps, { ...limits, minimum: null, maximum: 600_000n }, ACTOR),
        ...['limits.set', 'account', id],
        {
          ...{ asset: 'COPM', minimum: null, maximum: '6,000.00 COPM', month: null },
          maximum_before: '5,000.00 COPM',
        },
      ],
      [
        () => clearAccountLimits(db.deps, id, 'COPM', ACTOR),
        ...['limits.clear', 'account', id, { asset: 'COPM', maximum_before: '6,000.00 COPM' }],
      ],
      [
        () => setFeeAccount(db.deps, tenantId, id, ACTOR),
        ...['tenant.set_fee_account', 'tenant', tenantId, { account_id: id, previous: null }],
      ],
      [
        () => setFeeSchedule(db.deps, schedule, ACTOR),
        ...['fees.set', 'tenant', tenantId],
        { ...priced, ...priceOf('0.01'), cap: null },
      ],
      [
        () => setFeeSchedule(db.deps, { ...schedule, flatRaw: 2n, capRaw: 500n }, ACTOR),
        ...['fees.set', 'tenant', tenantId],
        {
          ...{ ...priced, ...priceOf('0.02'), cap: '5.00 COPM' },
          ...{ flat_before: '0.01 COPM', cap_before: null },
        },
      ],
      [
        () => removeFeeSchedule(db.deps, schedule, ACTOR),
        ...['fees.remove', 'tenant', tenantId],
        {
          ...{ ...priced, flat_before: '0.02 COPM', basis_points_before: '2' },
          ...{ floor_before: '0.03 COPM', cap_before: '5.00 COPM' },
        },
      ],
    ] as const)
      assert.deepEqual(await added(work), [line]);
    const { id: closing } = await openAccount(
      db.deps,
      { ...opening, alias: '$audited.closing' },
      ACTOR,
    );
    assert.deepEqual(await added(() => closeAccount(db.deps, closing, DECIDED)), [
      ['alias.release', 'account', closing, {}],
      ['account.close', 'account', closing, { reason: 'ticket 118' }],
    ]);
    assert.deepEqual(await added(() => closeAccount(db.deps, closing, DECIDED)), []);
  });

  it('contains every action that moves money, written once with the posting, even if it is repeated', async () => {
    const deps = { database: db.database, writer: api.core.writer };
    const { id: accountId } = await bank.account();
    const amount = { raw: 700n, asset: 'COPM' } as const;
    const wire = { tenantId, accountId, amount, reference: 'wire-1', by: someone('maria') };
    const payIn = () => recordPayIn(deps, { ...wire, description: 'for Ana' });
    const { resource: recorded } = await payIn();
    const [act] = await acts(1);
    const money = { account_id: accountId, asset: 'COPM', raw: '700' };
    assert.deepEqual(
      [act?.action, act?.subjectId, act?.at],
      ['payin.record', recorded.id, recorded.createdAt],
    );
    assert.deepEqual(parseDetails(act!), { ...money, reference: 'wire-1' });
    assert.deepEqual(await added(payIn), []);

    const wanted = { tenantId, accountId, direction: 'out', amount, reason: 'twice' } as const;
    const propose = async (reference: string) =>
      (await proposeAdjustment(deps, { ...wanted, reference, by: someone('maria') })).resource;
    const [one, two] = [await propose('case-1'), await propose('case-2')];
    const told = { ...money, direction: 'out', reason: 'twice', proposed_by: 'maria' };
    await assert.rejects(approveAdjustment(deps, one, someone('maria')));
    assert.deepEqual(await added(() => approveAdjustment(deps, one, someone('bob'))), [
      [
        'adjustment.approve',
        'adjustment',
        one.id,
        { ...told, reference: 'case-1', status: 'posted' },
      ],
    ]);
    assert.deepEqual(await added(() => approveAdjustment(deps, one, someone('bob'))), []);
    assert.deepEqual(await added(() => rejectAdjustment(deps, two, someone('maria'))), [
      [
        'adjustment.reject',
        'adjustment',
        two.id,
        { ...told, reference: 'case-2', status: 'rejected' },
      ],
    ]);
    const proposed = (await acts()).filter(({ action }) => action === 'adjustment.propose');
    assert.deepEqual(
      new Set(proposed.map(({ subjectId }) => subjectId)),
      new Set([one.id, two.id]),
    );
  });

  it('does not contain refused actions of members', async () => {
    const { id } = await bank.account({ funds: { COPM: 1n } });
    const before = await acts();
    await assert.rejects(closeAccount(db.deps, id, DECIDED));
    await assert.rejects(setAlias(db.deps, id, '$admin', ACTOR));
    answered(
      await bank.request('PUT', `/v1/accounts/${id}/alias`, { body: { alias: '$banco' } }),
      422,
      'alias_reserved',
    );
    assert.deepEqual(await acts(), before);
  });
});
