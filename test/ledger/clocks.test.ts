import assert from 'node:assert/strict';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { entries } from '../../src/db/entities/ledger.js';
import { type Account, accounts } from '../../src/db/entities/parties.js';
import { policiesSweep, setPolicyDelay } from '../../src/approvals/policy-delay.js';
import { approvalPolicies } from '../../src/db/entities/approvals.js';
import { events } from '../../src/db/entities/events.js';
import { setRetention } from '../../src/events/retention.js';
import { retentionSweep } from '../../src/webhooks/sweeps.js';
import { resetClock } from '../../src/accounts/clock.js';
import {
  type MovementFilter,
  type MovementPage,
  readMovements,
} from '../../src/accounts/movements.js';
import { CLOCK_BOUNDS, ClockGuard } from '../../src/ledger/clock-guard.js';
import type { Answer } from '../../src/ledger/desk/types.js';
import { startTestApi } from '../support/api.js';
import { answered, idLiteral, LEAST, openBank, text, transferBody } from '../support/bank.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { approvalsOfKind, KINDS, openGuarded } from '../support/guarded.js';
import { move, testKind } from '../support/kinds.js';
import {
  assertLedgerSound,
  findings,
  fund,
  makeAccount,
  makeTenant,
  openDesk,
  TEST_ACTOR,
  type TestTenant,
  type WatchedDesk,
} from '../support/world.js';

const HOUR_MS = 3_600_000;
const { warnMs, refuseMs } = CLOCK_BOUNDS;

describe("a process's clock, beside the database's", () => {
  let db: TestDatabase;
  let safe: WatchedDesk;
  let tenant: TestTenant;
  let payer: Account;
  let receiver: Account;

  before(async () => {
    db = await testDatabase();
  });

  beforeEach(async () => {
    safe = openDesk(db.database);
    const deps = { database: db.database, desk: safe.desk };
    tenant = await makeTenant(db.database);
    payer = await makeAccount(deps, tenant, { funds: { COPM: 1_000n } });
    receiver = await makeAccount(deps, tenant);
  });

  afterEach(() => assertLedgerSound(db.database));

  /** A desk whose clock is off by so much, and can be set. */
  const deskOff = (offMs: number): WatchedDesk & { set: (offMs: number) => void } => {
    let off = offMs;
    const clock = (): Instant => instant(systemClock() + off);
    return { ...openDesk(db.database, {}, clock, CLOCK_BOUNDS), set: (to) => void (off = to) };
  };
  const pay = ({ desk }: WatchedDesk): Promise<Answer<unknown>> =>
    desk.submit(testKind, move({ from: payer, to: receiver, raw: 1n }));
  const refused = ({ outcome }: Answer<unknown>): void => {
    assert(!outcome.done);
    assert.equal(outcome.refusal.code, 'ledger_unavailable');
  };
  const lastOf = async ({ id }: Account): Promise<number> =>
    (await db.database.reader.find(accounts, { id }))?.lastPostedAt ?? 0;

  for (const [way, sign] of [
    ['ahead', 1],
    ['behind', -1],
  ] as const) {
    it(`posts nothing when it is two hours ${way}, so that no account is dated by it`, async () => {
      const before = [await lastOf(payer), await lastOf(receiver)];
      const off = deskOff(sign * 2 * HOUR_MS);
      refused(await pay(off));
      assert.deepEqual([await lastOf(payer), await lastOf(receiver)], before);
      assert.equal(off.seen.refusedByClock, 1);
      assert(Math.abs((off.strayed[0] ?? 0) - sign * 2 * HOUR_MS) < 1_000);
    });

    it(`posts, and warns, when it is a little ${way}`, async () => {
      const off = deskOff(sign * (warnMs + refuseMs) * 0.5);
      const { outcome } = await pay(off);
      assert(outcome.done);
      assert.equal(off.strayed.length, 1);
      assert.equal(off.seen.refusedByClock, 0);
    });
  }

  it('is found wrong as soon as it is set wrong, and right as soon as it is corrected', async () => {
    const off = deskOff(0);
    assert((await pay(off)).outcome.done);
    off.set(HOUR_MS);
    refused(await pay(off));
    assert.deepEqual(off.strayed.length, 1);
    off.set(0);
    assert((await pay(off)).outcome.done);
  });

  it('answers what a key has bound, though it posts nothing', async () => {
    const command = move({ from: payer, to: receiver, raw: 1n });
    await safe.desk.submit(testKind, command);
    const { outcome, replayed } = await deskOff(HOUR_MS).desk.submit(testKind, command);
    assert(outcome.done && replayed);
  });

  const datesOf = async (accountId: Uuid): Promise<number[]> =>
    (await db.database.reader.select(entries, { accountId }, { orderBy: ['seq'] })).map(
      ({ createdAt }) => createdAt,
    );
  const inOrder = (dates: readonly number[]): void =>
    assert.deepEqual(
      dates,
      [...dates].sort((a, b) => a - b),
    );

  it("never runs backwards in the receiver's entries, though its payers' clocks differ", async () => {
    const other = await makeAccount({ database: db.database, desk: safe.desk }, tenant, {
      funds: { COPM: 1_000n },
    });
    const [fast, slow] = [deskOff(refuseMs * 0.8), deskOff(-refuseMs * 0.8)];
    const sends: readonly (readonly [WatchedDesk, Account])[] = [
      [fast, payer],
      [slow, other],
      [fast, payer],
      [slow, other],
    ];
    for (const [{ desk }, from] of sends)
      assert((await desk.submit(testKind, move({ from, to: receiver, raw: 1n }))).outcome.done);
    const dates = await datesOf(receiver.id);
    inOrder(dates);
    // What the slow clock posted after the fast one is dated by the receiver, on both sides of the transfer.
    assert.equal((await datesOf(other.id)).at(-1), dates.at(-1));
    assert(dates[1]! >= dates[0]! && dates[0]! - systemClock() > 0);
  });

  it('never runs backwards for a payer or for the pay-in account, whichever process posts', async () => {
    const [fast, slow] = [deskOff(refuseMs * 0.8), deskOff(-refuseMs * 0.8)];
    for (const own of [fast, slow, safe, slow]) {
      assert((await pay(own)).outcome.done);
      const deps = { database: db.database, desk: own.desk };
      await fund(deps, payer, { asset: 'COPM', raw: 1n });
      await fund(deps, receiver, { asset: 'COPM', raw: 1n });
    }
    const all = await db.database.reader.select(accounts, { tenantId: tenant.tenant.id });
    for (const { id } of all) inOrder(await datesOf(id));
  });

  describe('and an account that is dated further ahead than any clock may be', () => {
    const dateAhead = ({ id }: Account, byMs: number): Promise<number> =>
      db.change(
        `UPDATE accounts SET last_posted_at=UTC_TIMESTAMP(3) + INTERVAL ${byMs * 1_000} MICROSECOND WHERE id=${idLiteral(id)}`,
      );
    const reset = async ({ id }: Account): Promise<boolean> => {
      const guard = new ClockGuard({
        lookup: db.database.lookup,
        clock: systemClock,
        bounds: CLOCK_BOUNDS,
        observer: { compared: () => undefined, strayed: () => undefined },
      });
      const deps = { database: db.database, clock: systemClock, guard };
      return (await resetClock(deps, id, { actor: TEST_ACTOR, reason: 'a wrong clock' })).changed;
    };

    for (const kind of KINDS)
      it(`keeps no other account's ${kind}s from expiring, however many of its own come before`, async () => {
        const api = await startTestApi(db);
        try {
          const [ahead, other] = [
            await openGuarded(api, {}, { kind }),
            await openGuarded(api, {}, { kind }),
          ];
          const ids = [await ahead.pend(), await ahead.pend(), await other.pend()].map(({ id }) =>
            text(id),
          );
          for (const [index, id] of ids.entries()) {
            const at = `'${2020 + index}-01-01'`;
            await db.change(
              `UPDATE ${kind}s SET approval_expires_at=${at} WHERE id=${idLiteral(id)}`,
            );
            await db.change(
              `UPDATE holds SET expires_at=${at} WHERE resource_id=${idLiteral(id)} AND expires_at IS NOT NULL`,
            );
          }
          const approvals = approvalsOfKind(api, kind);
          const isPending = () =>
            Promise.all(
              ids.map(
                async (id) => (await approvals.state(asUuid(id))).status === 'pending_approval',
              ),
            );
          await dateAhead(ahead.guarded, 2 * HOUR_MS);
          await assert.rejects(approvals.expireDue(2), /ledger/);
          assert.deepEqual(await isPending(), [true, true, false]);
          await dateAhead(ahead.guarded, 0);
          assert.equal(await approvals.expireDue(2), 2);
          assert.deepEqual(await isPending(), [false, false, false]);
        } finally {
          await api.stop();
        }
      });

    it('is posted to by nobody, names itself, and fails no other command of its group', async () => {
      const other = await makeAccount({ database: db.database, desk: safe.desk }, tenant, {
        funds: { COPM: 5n },
      });
      await dateAhead(receiver, 2 * HOUR_MS);
      const from = await lastOf(payer);
      const [early, well] = await Promise.all([
        pay(safe),
        safe.desk.submit(testKind, move({ from: other, to: payer, raw: 5n })),
      ]);
      refused(early);
      assert(well.outcome.done);
      assert(safe.ahead.some(({ accountId }) => accountId === receiver.id));
      assert.equal(safe.ahead.length, 1);
      assert((await lastOf(payer)) - from < HOUR_MS);
      assert(await reset(receiver));
      assert((await pay(safe)).outcome.done);
    });

    it('is usable again after an operator resets it, once, and the auditor knows why its time runs backwards', async () => {
      const unbounded = openDesk(db.database, {}, () => instant(systemClock() + 2 * HOUR_MS));
      assert((await pay(unbounded)).outcome.done);
      refused(await pay(safe));
      for (const account of [payer, receiver])
        assert.deepEqual([await reset(account), await reset(account)], [true, false]);
      await assertLedgerSound(db.database);
      assert((await pay(safe)).outcome.done);
      assert((await lastOf(payer)) - systemClock() < refuseMs);
      const [{ id: act } = {}] = await db.sql(
        `SELECT HEX(id) AS id FROM audit_log WHERE subject_id='${payer.id}' AND action='account.reset_clock'`,
      );
      await assertLedgerSound(db.database);
      // Without the operator's word it is damage.
      await db.change(`UPDATE audit_log SET action='x' WHERE id=X'${String(act)}'`);
      const found = (await findings(db.database)).map(({ check }) => check);
      await db.change(
        `UPDATE audit_log SET action='account.reset_clock' WHERE id=X'${String(act)}'`,
      );
      assert.deepEqual(found, ['entry_time', 'audit_chain']);
    });

    it('shows its movements within time bounds, from before and after the reset', async () => {
      const ahead = 2 * HOUR_MS;
      const unbounded = openDesk(db.database, {}, () => instant(systemClock() + ahead));
      for (let posted = 0; posted < 3; posted += 1) assert((await pay(unbounded)).outcome.done);
      for (const account of [payer, receiver]) assert(await reset(account));
      for (let posted = 0; posted < 3; posted += 1) assert((await pay(safe)).outcome.done);
      const all = (
        await db.database.reader.select(entries, { accountId: payer.id }, { orderBy: ['seq'] })
      ).reverse();
      const dates = all.map(({ createdAt }) => createdAt);
      const bounds = [
        undefined,
        ...dates,
        instant(Math.min(...dates) - 1),
        instant(Math.max(...dates) + 1),
      ];
      for (const from of bounds)
        for (const to of bounds) {
          const shown = await walkMovements(payer.id, { from, to });
          const wanted = all.filter(
            ({ createdAt }) =>
              (from === undefined || createdAt >= from) && (to === undefined || createdAt <= to),
          );
          assert.deepEqual(
            shown,
            wanted.map(({ id }) => id),
          );
        }
    });

    /** Ids, newest first, by pages of two. */
    async function walkMovements(accountId: Uuid, filter: MovementFilter): Promise<unknown[]> {
      const seen: unknown[] = [];
      for (let before: bigint | null = null; ;) {
        const { items, nextBefore }: MovementPage = await readMovements(
          db.database.reader,
          accountId,
          filter,
          before,
          2,
        );
        seen.push(...items.map(({ entry }) => entry.id));
        if (nextBefore === null) return seen;
        before = nextBefore;
      }
    }

    it('is measured by the database: a clock slightly behind refuses nothing dated by one slightly ahead', async () => {
      assert((await pay(deskOff(refuseMs * 0.8))).outcome.done);
      const behind = deskOff(-refuseMs * 0.8);
      assert((await pay(behind)).outcome.done);
      assert.deepEqual(behind.ahead, []);
    });
  });

  it('two hours ahead makes the API not ready and its postings 503, and ends no approval', async () => {
    const healthy = await startTestApi(db);
    const off = await startTestApi(
      db,
      {},
      { clock: () => instant(systemClock() + 2 * HOUR_MS), clockBounds: CLOCK_BOUNDS },
    );
    const own = await openGuarded(healthy);
    const { id } = await own.pend();
    const { token, account } = await openBank(healthy);
    const [from, to] = [await account({ funds: { COPM: 10n * LEAST } }), await account()];
    const transfer = { token, body: transferBody({ from, to, raw: LEAST }) };

    answered(await off.request('POST', '/v1/transfers', transfer), 503, 'ledger_unavailable');
    const approve = { token: own.tokens.approver };
    answered(
      await off.request('POST', `/v1/transfers/${String(id)}/approve`, approve),
      503,
      'ledger_unavailable',
    );
    assert.equal((await own.read(id)).status, 'pending_approval');
    assert.equal((await fetch(`${off.adminUrl}/readyz`)).status, 503);
    assert.equal((await fetch(`${healthy.adminUrl}/readyz`)).status, 200);
    const metrics = await (await fetch(`${off.adminUrl}/metrics`)).text();
    assert.match(metrics, /^clock_difference_seconds (7199|7200)/m);
    assert.match(metrics, /^desk_commands_refused_by_clock_total 2$/m);
    answered(await healthy.request('POST', '/v1/transfers', transfer), 201);
    await Promise.all([off.stop(), healthy.stop()]);
  });

  it('forty days ahead removes nothing that must be kept, and lets no policy apply early', async () => {
    const healthy = await startTestApi(db);
    const clock = (): Instant => instant(systemClock() + 40 * 24 * HOUR_MS);
    const off = await startTestApi(db, {}, { clock, clockBounds: CLOCK_BOUNDS });
    const { database } = healthy.core;
    const own = await openGuarded(healthy);
    const { bank, tokens } = own;
    const account = await own.account({ funds: { COPM: 10n * LEAST } });
    const { id: tenantId } = bank.tenant.tenant;
    answered(await bank.send({ from: account, to: own.receiver, raw: LEAST }), 201);
    await setRetention(database, systemClock, 30, TEST_ACTOR);
    await setPolicyDelay(database, systemClock, tenantId, 86_400, TEST_ACTOR);
    const path = `/v1/accounts/${account.id}/approval_policies/COPM`;
    for (const approvals of [2, 1]) {
      const body = { threshold: LEAST.toString(), approvals, expires_in_s: 3_600 };
      answered(await bank.request('PUT', path, { token: tokens.admin, body }), 200);
    }
    const kept = async (): Promise<unknown[]> => [
      (await database.reader.select(events, { tenantId })).length,
      (await database.reader.find(approvalPolicies, { accountId: account.id, asset: 'COPM' }))
        ?.approvals,
    ];
    const before = await kept();

    await off.core.guard.settle();
    await retentionSweep(off.core).run(new AbortController().signal);
    await policiesSweep(off.core).run(new AbortController().signal);

    assert(before[0] !== 0);
    assert.deepEqual(await kept(), before);
    await Promise.all([off.stop(), healthy.stop()]);
  });
});
