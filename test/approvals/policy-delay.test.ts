import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { listAuditRows, operatorActor, parseDetails } from '../../src/access/audit-log.js';
import {
  MAX_POLICY_DELAY_S,
  applyDueChanges,
  setPolicyDelay,
} from '../../src/approvals/policies.js';
import { ApiError } from '../../src/core/errors.js';
import { newId } from '../../src/core/ids.js';
import { formatAmount } from '../../src/core/amount.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, idLiteral, type Json, LEAST, object, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import { openGuarded } from '../helpers/guarded.js';
import { TEST_ACTOR } from '../helpers/world.js';

const DELAY_S = 600;
const START = Date.parse('2034-03-01T10:00:00.000Z');
const STRICT = {
  threshold: LEAST.toString(),
  approvals: 2,
  expires_in_s: 3_600,
  refuses_batches: true,
};
const LAX = {
  threshold: (10n * LEAST).toString(),
  approvals: 1,
  expires_in_s: 7_200,
  refuses_batches: false,
};

const ruleOf = ({ refuses_batches: refuses, approvals }: Json): string => {
  const reached = 'A batch whose total reaches the threshold';
  if (refuses === true) return `${reached} is rejected when it is validated.`;
  const rule = `${reached}, even of one row, is executed by one member other than its uploader`;
  return approvals === 1 ? `${rule}.` : `${rule}, and not approved by ${String(approvals)}.`;
};

const db = await testDatabase();

let now: Instant = instant(START);
const api = await describedApi(await startTestApi(db, {}, { clock: () => now }));
const own = await openGuarded(api);
const { bank } = own;

describe('the delay of a weaker approval policy', () => {
  let account: Account;

  beforeEach(async () => {
    await delay(DELAY_S);
    account = await own.account({ funds: { COPM: 1_000n * LEAST } });
  });

  const delay = (seconds: number | null): Promise<void> =>
    setPolicyDelay(db.database, () => now, bank.tenant.tenant.id, seconds, operatorActor('maria'));
  const path = (): string => `/v1/accounts/${account.id}/approval_policies/COPM`;
  const put = (body: unknown): Promise<TestAnswer> =>
    bank.request('PUT', path(), { body, token: own.tokens.admin });
  const remove = (): Promise<TestAnswer> =>
    bank.request('DELETE', path(), { token: own.tokens.admin });
  const get = async (): Promise<Json> => answered(await bank.get(path()), 200).json;
  const send = (raw: bigint): Promise<TestAnswer> =>
    bank.send(
      { from: account, to: own.receiver, raw },
      { token: own.tokens.creator, key: randomUUID() },
    );
  const later = (seconds: number): void => void (now = instant(now + seconds * 1_000));
  const at = (seconds: number): string => new Date(now + seconds * 1_000).toISOString();
  const shown = (settings: Json, pending: Json | null): Json => ({
    account_id: account.id,
    asset: 'COPM',
    ...settings,
    batch_rule: ruleOf(settings),
    pending,
  });
  const lines = async (): Promise<unknown[]> =>
    (await listAuditRows(db.database.reader, { subjectId: account.id }, 50))
      .filter(({ action }) => action.startsWith('approval_policy'))
      .reverse()
      .map((act) => [act.action.replace('approval_policy.', ''), act.channel, parseDetails(act)]);

  it('a weaker approval policy is shown as pending during its delay, and then takes effect without any job', async () => {
    answered(await put(STRICT), 200);
    const pending = { policy: LAX, effective_at: at(DELAY_S) };
    assert.deepEqual(answered(await put(LAX), 200).json, shown(STRICT, pending));
    later(DELAY_S);
    now = instant(now - 1);
    assert.deepEqual(await get(), shown(STRICT, pending));
    assert.deepEqual(answered(await send(LEAST), 202).json.approval, {
      required: 2,
      received: 0,
      expires_at: at(3_600),
    });
    now = instant(now + 1);
    assert.deepEqual(await get(), shown(LAX, null));
    answered(await send(LEAST), 201);
    assert.deepEqual(object(answered(await send(10n * LEAST), 202).json.approval).required, 1);
  });

  it('after the delay of a weaker approval policy, a process whose clock is behind decides at the time of the change or later', async () => {
    await put(STRICT);
    await put(LAX);
    const effectiveAt = at(DELAY_S);
    later(DELAY_S);
    await applyDueChanges({ database: db.database, clock: () => now }, 100);
    later(-1);
    assert.equal(answered(await send(LEAST), 201).json.created_at, effectiveAt);
    await put(STRICT);
    const { pending } = answered(await put(LAX), 200).json;
    assert.equal(object(pending).effective_at, at(DELAY_S + 1));
    later(1);
  });

  it('does not delay a stricter policy, nor a first one', async () => {
    assert.deepEqual(answered(await put(LAX), 200).json, shown(LAX, null));
    assert.deepEqual(answered(await put({ ...STRICT, expires_in_s: 60 }), 200).json.pending, null);
    assert.equal(object(answered(await send(LEAST), 202).json.approval).required, 2);
  });

  it('splits a change: its stricter part counts at once, its weaker part after the delay', async () => {
    await put(STRICT);
    const wanted = {
      threshold: (5n * LEAST).toString(),
      approvals: 3,
      expires_in_s: 60,
      refuses_batches: false,
    };
    const { json } = answered(await put(wanted), 200);
    assert.deepEqual(
      json,
      shown(
        { ...wanted, threshold: STRICT.threshold, refuses_batches: true },
        { policy: wanted, effective_at: at(DELAY_S) },
      ),
    );
    assert.deepEqual(answered(await send(LEAST), 202).json.approval, {
      required: 3,
      received: 0,
      expires_at: at(60),
    });
  });

  it('a removed approval policy stays in force during the delay: repeated DELETEs are 204, and 404 after it', async () => {
    await put(STRICT);
    const effectiveAt = at(DELAY_S);
    answered(await remove(), 204);
    later(1);
    answered(await remove(), 204);
    assert.deepEqual(await get(), shown(STRICT, { policy: null, effective_at: effectiveAt }));
    answered(await send(LEAST), 202);
    later(DELAY_S);
    answered(await bank.get(path()), 404, 'not_found');
    answered(await remove(), 404, 'not_found');
    answered(await send(LEAST), 201);
  });

  it('starts over for a different request only; requesting the current policy withdraws the change', async () => {
    await put(STRICT);
    const first = at(DELAY_S);
    await put(LAX);
    later(DELAY_S - 1);
    assert.equal(object(answered(await put(LAX), 200).json.pending).effective_at, first);
    const other = { ...LAX, threshold: (11n * LEAST).toString() };
    assert.equal(object(answered(await put(other), 200).json.pending).effective_at, at(DELAY_S));
    later(2);
    // A pending change keeps its instant, also if the tenant's delay changes.
    await delay(null);
    assert.equal(object((await get()).pending).effective_at, at(DELAY_S - 2));
    await delay(DELAY_S);
    assert.equal((await get()).threshold, STRICT.threshold);
    assert.equal(answered(await put(STRICT), 200).json.pending, null);
    later(10 * DELAY_S);
    assert.deepEqual(await get(), shown(STRICT, null));
    answered(await send(LEAST), 202);
  });

  it('is zero by default; only operators set it, from 1 s to 30 days, with a line in the audit log', async () => {
    const fresh = await openGuarded(api);
    const tenantId = fresh.bank.tenant.tenant.id;
    assert.equal(fresh.bank.tenant.tenant.policyDelayS, 0);
    for (const seconds of [0, -1, 1.5, MAX_POLICY_DELAY_S + 1, Number.NaN])
      await assert.rejects(
        setPolicyDelay(db.database, systemClock, tenantId, seconds, TEST_ACTOR),
        ApiError,
      );
    await assert.rejects(
      setPolicyDelay(db.database, systemClock, newId(), 60, TEST_ACTOR),
      ApiError,
    );
    await setPolicyDelay(db.database, systemClock, tenantId, 60, operatorActor('maria'));
    await setPolicyDelay(db.database, systemClock, tenantId, null, operatorActor('maria'));
    const acts = await listAuditRows(
      db.database.reader,
      { tenantId, action: 'tenant.set_policy_delay' },
      10,
    );
    assert.deepEqual(
      acts.map((act) => [act.actorClaimed, parseDetails(act)]),
      [
        ['maria', { seconds: 0, before: 60 }],
        ['maria', { seconds: 60, before: 0 }],
      ],
    );
  });

  it('a delayed change of an approval policy takes effect, even if an older one cannot be stored', async () => {
    const { id: older } = await own.account();
    const unknown = idLiteral(newId());
    for (const id of [older, account.id]) {
      const path = `/v1/accounts/${id}/approval_policies/COPM`;
      for (const body of [STRICT, LAX])
        answered(await bank.request('PUT', path, { body, token: own.tokens.admin }), 200);
    }
    await db.change(
      `UPDATE approval_policies SET account_id=${unknown}, effective_at=effective_at-INTERVAL 1 SECOND WHERE account_id=${idLiteral(older)}`,
    );
    later(DELAY_S);
    await assert.rejects(applyDueChanges({ database: db.database, clock: () => now }, 100));
    const [row] = await db.sql(
      `SELECT COUNT(effective_at) AS waiting FROM approval_policies WHERE account_id=${idLiteral(account.id)}`,
    );
    assert.equal(Number(row!.waiting), 0);
    await db.change(`DELETE FROM approval_policies WHERE account_id=${unknown}`);
  });

  it('a delayed change of an approval policy has a line in the audit log for the request, its effect and its withdrawal', async () => {
    await put(STRICT);
    const recorded = (settings: Json): Json => {
      const raw = BigInt(text(settings.threshold));
      return { asset: 'COPM', ...settings, threshold: formatAmount({ raw, asset: 'COPM' }) };
    };
    const [lax, strict] = [recorded(LAX), recorded(STRICT)];
    /** Returns what a line adds to the settings if it changes them from `one` to `other`. */
    const from = (one: Json, other: Json): Json =>
      Object.fromEntries(
        Object.entries(one).flatMap(([name, was]) =>
          was === other[name] ? [] : [[`${name}_before`, was]],
        ),
      );
    const first = { ...lax, effective_at: at(DELAY_S) };
    await put(LAX);
    await put(LAX);
    await put(STRICT);
    const second = { ...lax, effective_at: at(DELAY_S) };
    await put(LAX);
    later(DELAY_S);
    await applyDueChanges({ database: db.database, clock: () => now }, 100);
    await applyDueChanges({ database: db.database, clock: () => now }, 100);
    const gone = {
      asset: 'COPM',
      threshold: null,
      approvals: null,
      expires_in_s: null,
      refuses_batches: null,
      effective_at: at(DELAY_S),
    };
    await remove();
    later(DELAY_S);
    // No sweep ran: the next change first reports what took effect.
    await put(STRICT);
    assert.deepEqual(await lines(), [
      ['set', 'api', strict],
      ['request', 'api', { ...first, ...from(strict, lax) }],
      ['withdraw', 'api', first],
      ['set', 'api', strict],
      ['request', 'api', { ...second, ...from(strict, lax) }],
      ['take_effect', 'api', { ...second, ...from(strict, lax) }],
      ['request', 'api', { ...gone, ...from(lax, gone) }],
      ['take_effect', 'api', { ...gone, ...from(lax, gone) }],
      ['set', 'api', strict],
    ]);
  });

  it('a transfer concurrent with a weakening of its approval policy is decided by the old policy until the change takes effect', async () => {
    now = instant(START + 86_400_000);
    for (let round = 0; round < 4; round += 1) {
      await delay(null);
      await put({ ...STRICT, threshold: '0' });
      await delay(DELAY_S);
      const sent = Array.from({ length: 8 }, () => send(LEAST));
      const change = round % 2 === 0 ? put(LAX) : remove();
      const answers = await Promise.all(sent);
      await change;
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]));
      later(DELAY_S);
      const after = await Promise.all(Array.from({ length: 4 }, () => send(LEAST)));
      assert.deepEqual(new Set(after.map(({ status }) => status)), new Set([201]));
    }
  });

  it('applies to bonuses until the same instant', async () => {
    await put(STRICT);
    await remove();
    const bonus = (): Promise<TestAnswer> =>
      bank.request('POST', '/v1/bonuses', {
        token: own.tokens.creator,
        key: randomUUID(),
        body: {
          source_account: account.id,
          recipient: { account_id: own.receiver.id },
          amount: { raw: LEAST.toString(), asset: 'COPM' },
        },
      });
    answered(await bonus(), 403, 'authority_insufficient');
    later(DELAY_S);
    answered(await bonus(), 201);
  });
});
