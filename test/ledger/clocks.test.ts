import type { CommandResult } from '../../src/core/errors.js';
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { entries } from '../../src/db/entities/ledger.js';
import { type Account, accounts } from '../../src/db/entities/parties.js';
import { delaysSweep, setPolicyDelay } from '../../src/approvals/policies.js';
import { approvalPolicies } from '../../src/db/entities/approvals.js';
import { events } from '../../src/db/entities/events.js';
import { setRetention } from '../../src/events/retention.js';
import { retentionSweep } from '../../src/webhooks/sweeps.js';
import { readLastPosting } from '../../src/accounts/balances.js';
import { resetClock } from '../../src/accounts/status.js';
import { type MovementFilter, readMovements } from '../../src/accounts/movements.js';
import { DatabaseClock } from '../../src/ledger/database-clock.js';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral, LEAST, text } from '../helpers/bank.js';
import { testDatabase, untilLockIsAwaited } from '../helpers/database.js';
import { approvalsOfKind, KINDS, openGuarded } from '../helpers/guarded.js';
import { move, testKind } from '../helpers/kinds.js';
import {
  assertLedgerSound,
  findings,
  fund,
  makeAccount,
  makeTenant,
  openWriter,
  TEST_ACTOR,
  TestClock,
  type TestTenant,
  type WatchedWriter,
} from '../helpers/world.js';

type Page = Awaited<ReturnType<typeof readMovements>>;

const HOUR_MS = 3_600_000;
/** Further ahead of the database's clock, an account is refused. */
const MAX_AHEAD_MS = 5_000;

const db = await testDatabase();

describe("the database's clock", () => {
  let safe: WatchedWriter;
  let tenant: TestTenant;
  let payer: Account;
  let receiver: Account;

  beforeEach(async () => {
    safe = openWriter(db.database);
    const deps = { database: db.database, writer: safe.writer };
    tenant = await makeTenant(db.database);
    payer = await makeAccount(deps, tenant, { funds: { COPM: 1_000n } });
    receiver = await makeAccount(deps, tenant);
  });

  const offBy = (offMs: number) => (): Instant => instant(systemClock() + offMs);
  /** A writer of a process whose own clock is off. */
  const writerOff = (offMs: number): WatchedWriter =>
    openWriter(db.database, {}, new DatabaseClock(offBy(offMs)));
  /** A writer on a database whose clock is off, such as the next primary's. */
  const writerOfServerOff = (offMs: number): WatchedWriter =>
    openWriter(db.database, {}, new TestClock(offBy(offMs), MAX_AHEAD_MS));
  const databaseTime = (): Promise<Instant> => new DatabaseClock().read(db.database.lookup);
  const pay = ({ writer }: WatchedWriter): Promise<CommandResult<unknown>> =>
    writer.submit(testKind, move({ from: payer, to: receiver, raw: 1n }));
  const refused = ({ outcome }: CommandResult<unknown>): void => {
    assert(!outcome.done);
    assert.equal(outcome.refusal.code, 'ledger_unavailable');
  };
  const lastOf = async ({ id }: Account): Promise<number> =>
    (await readLastPosting(db.database.reader, id)).lastPostedAt;

  for (const [way, sign] of [
    ['ahead', 1],
    ['behind', -1],
  ] as const)
    it(`dates what is posted by a process whose own clock is forty days ${way}`, async () => {
      const off = writerOff(sign * 40 * 24 * HOUR_MS);
      const before = await databaseTime();
      assert((await pay(off)).outcome.done);
      const dated = await lastOf(payer);
      assert(dated >= before && dated <= (await databaseTime()));
      assert.deepEqual(off.ahead, []);
    });

  it('is read under the locks, so a posting that waited for a lock is dated after the wait', async () => {
    const connection = await createConnection({ uri: db.adminUrl });
    try {
      await connection.query('START TRANSACTION');
      await connection.query(`SELECT id FROM accounts WHERE id=${idLiteral(payer.id)} FOR UPDATE`);
      const paid = pay(safe);
      await untilLockIsAwaited(db);
      await sleep(50);
      const released = await databaseTime();
      await connection.query('ROLLBACK');
      assert((await paid).outcome.done);
      assert((await lastOf(payer)) >= released);
    } finally {
      await connection.end();
    }
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

  it("never runs backwards in the receiver's entries, though the servers' clocks differ", async () => {
    const other = await makeAccount({ database: db.database, writer: safe.writer }, tenant, {
      funds: { COPM: 1_000n },
    });
    const [fast, slow] = [MAX_AHEAD_MS, -MAX_AHEAD_MS].map((ms) => writerOfServerOff(ms * 0.4)) as [
      WatchedWriter,
      WatchedWriter,
    ];
    const sends: readonly (readonly [WatchedWriter, Account])[] = [
      [fast, payer],
      [slow, other],
      [fast, payer],
      [slow, other],
    ];
    for (const [{ writer }, from] of sends)
      assert((await writer.submit(testKind, move({ from, to: receiver, raw: 1n }))).outcome.done);
    const dates = await datesOf(receiver.id);
    inOrder(dates);
    // What the slow server posted after the fast one is dated by the receiver, on both sides of the transfer.
    assert.equal((await datesOf(other.id)).at(-1), dates.at(-1));
    assert(dates[1]! >= dates[0]! && dates[0]! - systemClock() > 0);
  });

  it('never runs backwards for a payer or for the pay-in account, whichever server posts', async () => {
    const [fast, slow] = [MAX_AHEAD_MS, -MAX_AHEAD_MS].map((ms) => writerOfServerOff(ms * 0.4)) as [
      WatchedWriter,
      WatchedWriter,
    ];
    for (const own of [fast, slow, safe, slow]) {
      assert((await pay(own)).outcome.done);
      const deps = { database: db.database, writer: own.writer };
      await fund(deps, payer, { asset: 'COPM', raw: 1n });
      await fund(deps, receiver, { asset: 'COPM', raw: 1n });
    }
    const all = await db.database.reader.select(accounts, { tenantId: tenant.tenant.id });
    for (const { id } of all) inOrder(await datesOf(id));
  });

  describe('with an account that is dated too far ahead', () => {
    const dateAhead = ({ id }: Account, byMs: number): Promise<number> =>
      db.change(
        `UPDATE balances SET last_posted_at=UTC_TIMESTAMP(3) + INTERVAL ${byMs * 1_000} MICROSECOND WHERE account_id=${idLiteral(id)}`,
      );
    const reset = async ({ id }: Account): Promise<boolean> => {
      const deps = { database: db.database, databaseClock: new DatabaseClock() };
      return (await resetClock(deps, id, { actor: TEST_ACTOR, reason: 'a wrong clock' })).changed;
    };

    for (const kind of KINDS)
      it(`an account that is dated too far ahead of the database's clock keeps no other account's ${kind}s from expiring, even if many of its own expire first`, async () => {
        const api = await startTestApi(db);
        try {
          const [ahead, other] = [
            await openGuarded(api, {}, { kind }),
            await openGuarded(api, {}, { kind }),
          ];
          const ids = [
            await ahead.createPending(),
            await ahead.createPending(),
            await other.createPending(),
          ].map(({ id }) => text(id));
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

    it('the commands of one group share the date of an account that is dated slightly ahead', async () => {
      await dateAhead(payer, 1_000);
      const commands = [1n, 2n].map((raw) => move({ from: payer, to: receiver, raw }));
      const { writer } = writerOff(0);
      for (const { outcome } of await writer.submitTogether(testKind, commands))
        assert(outcome.done);
      const dates = await datesOf(payer.id);
      inOrder(dates);
      assert.equal(dates.at(-1), dates.at(-2));
    });

    it("an account dated too far ahead of the database's clock gets no postings, is logged, and fails no other command of its group", async () => {
      const other = await makeAccount({ database: db.database, writer: safe.writer }, tenant, {
        funds: { COPM: 5n },
      });
      await dateAhead(receiver, 2 * HOUR_MS);
      const from = await lastOf(payer);
      const [early, well] = await Promise.all([
        pay(safe),
        safe.writer.submit(testKind, move({ from: other, to: payer, raw: 5n })),
      ]);
      refused(early);
      assert(well.outcome.done);
      assert(safe.ahead.some(({ accountId }) => accountId === receiver.id));
      assert.equal(safe.ahead.length, 1);
      assert((await lastOf(payer)) - from < HOUR_MS);
      assert(await reset(receiver));
      assert((await pay(safe)).outcome.done);
    });

    it("an account that is dated too far ahead of the database's clock is usable again after an operator resets it, once, and the auditor knows why its time runs backwards", async () => {
      const unbounded = openWriter(db.database, {}, () => instant(systemClock() + 2 * HOUR_MS));
      assert((await pay(unbounded)).outcome.done);
      refused(await pay(safe));
      for (const account of [payer, receiver])
        assert.deepEqual([await reset(account), await reset(account)], [true, false]);
      await assertLedgerSound(db.database);
      assert((await pay(safe)).outcome.done);
      assert((await lastOf(payer)) - systemClock() < MAX_AHEAD_MS);
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

    it("an account that is dated too far ahead of the database's clock shows its movements within time bounds, from before and after the reset", async () => {
      const ahead = 2 * HOUR_MS;
      const unbounded = openWriter(db.database, {}, () => instant(systemClock() + ahead));
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
        const page: Page = await readMovements(db.database.reader, accountId, filter, before, 2);
        const { items, nextBefore } = page;
        seen.push(...items.map(({ entry }) => entry.id));
        if (nextBefore === null) return seen;
        before = nextBefore;
      }
    }
  });

  it('decides about expiries, not the clock of the process', async () => {
    const healthy = await startTestApi(db);
    const off = await startTestApi(db, {}, { clock: new DatabaseClock(offBy(HOUR_MS * 24 * 40)) });
    const own = await openGuarded(healthy);
    const { id } = await own.createPending();
    const approve = { token: own.tokens.approver };
    const path = `/v1/transfers/${String(id)}/approve`;
    const { json } = answered(await off.request('POST', path, approve), 200);
    assert.equal(json.status, 'completed');
    assert.equal((await fetch(`${off.adminUrl}/readyz`)).status, 200);
    await Promise.all([off.stop(), healthy.stop()]);
  });

  it('decides about retention and policies, though the clock of the process is forty days ahead', async () => {
    const healthy = await startTestApi(db);
    const off = await startTestApi(db, {}, { clock: new DatabaseClock(offBy(HOUR_MS * 24 * 40)) });
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

    // The sweeper reads the database's clock before every round.
    await off.core.databaseClock.read(off.core.database.lookup);
    await retentionSweep(off.core).run(new AbortController().signal);
    await delaysSweep(off.core).run(new AbortController().signal);

    assert(before[0] !== 0);
    assert.deepEqual(await kept(), before);
    await Promise.all([off.stop(), healthy.stop()]);
  });
});
