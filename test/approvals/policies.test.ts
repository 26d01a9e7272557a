import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { listAuditRows, operatorActor, parseDetails } from '../../src/access/audit-log.js';
import { closeAccount } from '../../src/accounts/status.js';
import {
  listPolicies,
  type PolicyChange,
  removePolicy,
  setPolicy,
} from '../../src/approvals/policies.js';
import type { ApiError } from '../../src/core/errors.js';
import { newId } from '../../src/core/ids.js';
import { formatAmount } from '../../src/core/amount.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { type Account, accounts } from '../../src/db/entities/parties.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, type Bank, type Json, LEAST, object, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import { openGuarded, THRESHOLD } from '../helpers/guarded.js';
import { TEST_ACTOR } from '../helpers/world.js';

const GOOD = { threshold: '1000000', approvals: 2, expires_in_s: 86_400, refuses_batches: false };
/** The policy's rule about batches, by its number of approvals. */
const RULES = ['.', ', and not approved by 2.', ', and not approved by 3.'].map(
  (end) =>
    `A batch whose total reaches the threshold, even of one row, is executed by one member other than its uploader${end}`,
);
const MOST = 2n ** 63n - 1n;

const db = await testDatabase();

let now: Instant | null = null;
const api = await describedApi(await startTestApi(db, {}, { clock: () => now ?? systemClock() }));
const own = await openGuarded(api);
const { bank } = own;

describe('an approval policy', () => {
  let account: Account;
  /** Each test has its own account: one that was posted to in another year moves its payers there. */
  let receiver: Account;

  beforeEach(async () => {
    now = null;
    account = await own.account({ funds: { COPM: 100n * THRESHOLD } });
    receiver = await own.account();
  });

  const pathOf = (asset = 'COPM', of: Pick<Account, 'id'> = account): string =>
    `/v1/accounts/${of.id}/approval_policies/${asset}`;
  const put = (body: unknown, options: Parameters<Bank['request']>[2] = {}): Promise<TestAnswer> =>
    bank.request('PUT', pathOf(), { body, ...options });

  const shown = (settings: Json, asset = 'COPM'): Json => ({
    ...{ account_id: account.id, asset, ...settings, pending: null },
    batch_rule: RULES[Number(settings.approvals) - 1],
  });

  it('is set, shown, replaced and removed, for each asset separately', async () => {
    answered(await bank.get(pathOf()), 404, 'not_found');
    assert.deepEqual(answered(await put(GOOD), 200).json, shown(GOOD));
    assert.deepEqual(answered(await bank.get(pathOf()), 200).json, shown(GOOD));
    answered(await bank.get(pathOf('DUSD')), 404, 'not_found');
    const other = { threshold: '0', approvals: 3, expires_in_s: 60, refuses_batches: false };
    assert.deepEqual(answered(await put(other), 200).json, shown(other));
    answered(await bank.request('PUT', pathOf('DUSD'), { body: GOOD }), 200);
    assert.equal(answered(await bank.request('DELETE', pathOf()), 204).text, '');
    answered(await bank.request('DELETE', pathOf()), 404, 'not_found');
    answered(await bank.get(pathOf()), 404, 'not_found');
    const inDollars = answered(await bank.get(pathOf('DUSD')), 200).json;
    assert.deepEqual(inDollars, shown(GOOD, 'DUSD'));
  });

  it('expires after seven days by default; null means the default', async () => {
    const { threshold, approvals } = GOOD;
    for (const body of [
      { threshold, approvals },
      { threshold, approvals, expires_in_s: null },
    ])
      assert.equal(answered(await put(body), 200).json.expires_in_s, 604_800);
  });

  it('states its rule for batches, and refuses them only if refuses_batches is set', async () => {
    const { refuses_batches: _, ...unsaid } = GOOD;
    for (const body of [unsaid, { ...unsaid, refuses_batches: null }, GOOD]) {
      const { json } = answered(await put(body), 200);
      assert.deepEqual([json.refuses_batches, json.batch_rule], [false, RULES[1]]);
    }
    const refusing = { ...GOOD, refuses_batches: true };
    const rule = 'A batch whose total reaches the threshold is rejected when it is validated.';
    for (const answer of [await put(refusing), await bank.get(pathOf())])
      assert.deepEqual(
        [answered(answer, 200).json.refuses_batches, answer.json.batch_rule],
        [true, rule],
      );
    answered(await put(unsaid), 200);
    assert.equal(answered(await bank.get(pathOf()), 200).json.refuses_batches, false);
  });

  it('has the ranges of the contract, to the last unit', async () => {
    for (const change of [
      { threshold: '0' },
      { threshold: MOST.toString() },
      { approvals: 1 },
      { approvals: 3 },
      { expires_in_s: 60 },
      { expires_in_s: 2_592_000 },
    ])
      assert.deepEqual(
        answered(await put({ ...GOOD, ...change }), 200).json,
        shown({ ...GOOD, ...change }),
      );
  });

  it('with a missing, malformed or unknown field is 400 {field, reason}, and is not stored', async () => {
    for (const [change, field, reason] of [
      [{ threshold: (MOST + 1n).toString() }, 'threshold', 'out_of_range'],
      [{ threshold: '-1' }, 'threshold', 'not_an_integer_string'],
      [{ threshold: '01' }, 'threshold', 'not_an_integer_string'],
      [{ account_id: newId() }, 'account_id', 'unknown'],
      [{ approvals: undefined }, 'approvals', undefined],
    ] as readonly (readonly [Json, string, string | undefined])[]) {
      const code = reason === undefined ? 'missing_field' : 'invalid_field';
      const { details } = answered(await put({ ...GOOD, ...change }), 400, code);
      assert.deepEqual([details?.field, details?.reason], [field, reason]);
    }
    answered(await bank.get(pathOf()), 404, 'not_found');
  });

  it('of an unknown asset, or of an unknown, foreign or system account, is the same 404', async () => {
    const stranger = await openBank(api);
    const foreign = await stranger.account();
    await stranger.guard(foreign);
    const system = await db.database.reader.find(accounts, {
      ...{ tenantId: account.tenantId, systemRole: 'pay_in' },
    });
    const paths = [
      ...['USD', 'copm', 'COPM '].map((asset) => pathOf(asset)),
      ...[{ id: newId() }, foreign, system!].map((of) => pathOf('COPM', of)),
      '/v1/accounts/x/approval_policies/COPM',
    ];
    for (const path of paths)
      for (const [method, options] of [['GET'], ['PUT', { body: GOOD }], ['DELETE']] as const)
        answered(await bank.request(method, encodeURI(path), options), 404, 'not_found');
    assert.equal((await listPolicies(db.database.reader, foreign.id, systemClock())).length, 1);
  });

  it('a request for an approval policy with an invalid body is 400 even if the account does not exist', async () => {
    answered(
      await bank.request('PUT', pathOf('USD', { id: newId() }), { body: {} }),
      400,
      'missing_field',
    );
    answered(await put('{'), 400, 'invalid_field');
    answered(await bank.request('DELETE', pathOf(), { body: GOOD }), 400, 'invalid_field');
    answered(await bank.get(`${pathOf()}?asset=COPM`), 400, 'invalid_field');
  });

  it('of a closed account is not changed: 409 invalid_state {current: "closed"}', async () => {
    const closed = await bank.account();
    answered(await bank.request('PUT', pathOf('COPM', closed), { body: GOOD }), 200);
    await closeAccount(db.deps, closed.id, { actor: TEST_ACTOR, reason: null });
    for (const [method, options] of [['PUT', { body: GOOD }], ['DELETE']] as const) {
      const refused = await bank.request(method, pathOf('COPM', closed), options);
      assert.equal(answered(refused, 409, 'invalid_state').details?.current, 'closed');
    }
    answered(await bank.get(pathOf('COPM', closed)), 200);
  });

  it('setting or removing an approval policy is recorded in the audit log with actor and channel', async () => {
    const acts = async (): Promise<unknown[]> =>
      (await listAuditRows(db.database.reader, { subjectId: account.id }, 20))
        .filter(({ action }) => action.startsWith('approval_policy'))
        .reverse()
        .map((act) => [act.action, act.actorClaimed, act.channel, act.tenantId, parseDetails(act)]);
    const byAdmin = { token: own.tokens.admin };
    await put(GOOD, byAdmin);
    await bank.request('DELETE', pathOf(), byAdmin);
    await bank.request('DELETE', pathOf(), byAdmin);
    await put({ ...GOOD, approvals: 4 }, byAdmin);
    await put(GOOD, { token: own.tokens.viewer });
    await setPolicy(db.database, systemClock, changeOf({}), operatorActor('maria'));
    const remove = () =>
      removePolicy(db.database, systemClock, account.id, 'COPM', operatorActor('maria'));
    assert.deepEqual(await remove(), { current: null, pending: null });
    assert.equal(await remove(), null);
    const tenant = account.tenantId;
    const admin = `member:${own.members.admin.id}`;
    const threshold = formatAmount({ raw: BigInt(GOOD.threshold), asset: 'COPM' });
    const set = { asset: 'COPM', ...GOOD, threshold };
    const before = Object.entries(set).map(([name, value]) => [`${name}_before`, value]);
    const { asset_before: _, ...settings } = Object.fromEntries(before) as Json;
    const removed = { asset: 'COPM', ...settings };
    assert.deepEqual(await acts(), [
      ['approval_policy.set', admin, 'api', tenant, set],
      ['approval_policy.remove', admin, 'api', tenant, removed],
      ['approval_policy.set', 'maria', 'ops', tenant, set],
      ['approval_policy.remove', 'maria', 'ops', tenant, removed],
    ]);
  });

  function changeOf(change: Partial<PolicyChange>): PolicyChange {
    return {
      accountId: account.id,
      asset: 'COPM',
      threshold: 1_000_000n,
      approvals: 2,
      expiresInS: 86_400,
      refusesBatches: false,
      ...change,
    };
  }

  it('has the same ranges for operators, and needs an account', async () => {
    for (const [change, code, field] of [
      [{ threshold: MOST + 1n }, 'invalid_field', 'threshold'],
      [{ approvals: 4 }, 'invalid_field', 'approvals'],
      [{ expiresInS: 59 }, 'invalid_field', 'expires_in_s'],
      [{ accountId: newId() }, 'not_found', 'path'],
    ] as const)
      await assert.rejects(
        async () => setPolicy(db.database, systemClock, changeOf(change), TEST_ACTOR),
        ({ refusal }: ApiError) => refusal.code === code && refusal.details?.field === field,
      );
  });

  const send = (raw: bigint, key = randomUUID()): Promise<TestAnswer> =>
    bank.send({ from: account, to: receiver, raw }, { token: own.tokens.creator, key });

  it('applies from its threshold on: one unit less, another asset or another account completes at once', async () => {
    await put({ ...GOOD, threshold: THRESHOLD.toString() });
    answered(await send(THRESHOLD - 1n), 201);
    answered(await send(THRESHOLD), 202);
    answered(await send(THRESHOLD + 1n), 202);
    await bank.fund(account, { raw: 2n * THRESHOLD, asset: 'DUSD' });
    const inDollars = { from: account, to: receiver, raw: THRESHOLD, asset: 'DUSD' } as const;
    answered(await bank.send(inDollars), 201);
    const other = await own.account({ funds: { COPM: THRESHOLD } });
    answered(await bank.send({ from: other, to: account, raw: THRESHOLD }), 201);
    await put({ ...GOOD, threshold: '0' });
    answered(await send(LEAST), 202);
    await put({ ...GOOD, threshold: MOST.toString() });
    answered(await send(50n * THRESHOLD), 201);
  });

  it('applies to every creator, including the owner', async () => {
    await put({ ...GOOD, threshold: LEAST.toString() });
    for (const person of ['owner', 'admin', 'creator'] as const)
      answered(
        await bank.send({ from: account, to: receiver, raw: LEAST }, { token: own.tokens[person] }),
        202,
      );
  });

  it('changing or removing an approval policy does not affect pending operations, even if they were created at the same instant', async () => {
    now = instant(Date.parse('2035-03-01T10:00:00.000Z'));
    await put({ threshold: '0', approvals: 2, expires_in_s: 3_600 });
    const first = answered(await send(THRESHOLD), 202).json;
    await put({ threshold: '0', approvals: 1, expires_in_s: 60 });
    const second = answered(await send(THRESHOLD), 202).json;
    await bank.request('DELETE', pathOf());
    assert.equal(answered(await send(THRESHOLD), 201).json.approval, null);
    assert.deepEqual(first.approval, {
      required: 2,
      received: 0,
      expires_at: '2035-03-01T11:00:00.000Z',
    });
    assert.deepEqual(second.approval, {
      required: 1,
      received: 0,
      expires_at: '2035-03-01T10:01:00.000Z',
    });
    assert.deepEqual(
      [first.created_at, second.created_at],
      ['2035-03-01T10:00:00.000Z', '2035-03-01T10:00:00.000Z'],
    );
    for (const transfer of [first, second]) assert.deepEqual(await own.read(transfer.id), transfer);
    now = instant(now + 60_000);
    // The first waits on, with two approvals; the second's time is over.
    assert.deepEqual(
      object(answered(await own.act('approve', first.id, 'approver'), 200).json.approval).received,
      1,
    );
    const late = answered(await own.act('approve', second.id, 'approver'), 409, 'invalid_state');
    assert.equal(late.details?.current, 'expired');
    assert.equal(
      answered(await own.act('approve', first.id, 'second'), 200).json.status,
      'completed',
    );
  });
});
