import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/core/instant.js';
import { time } from '../../src/db/columns.js';
import { auditFindings, auditPasses } from '../../src/db/entities/audits.js';
import { audit, auditSome } from '../../src/auditor/audit.js';
import {
  type AuditPosition,
  packPosition,
  startOfAudit,
  unpackPosition,
} from '../../src/auditor/position.js';
import { auditStanding, StandingAudit, type StandingStep } from '../../src/auditor/standing.js';
import { Tally } from '../../src/auditor/tally.js';
import { AUDIT_SCHEDULE_ID } from '../../src/temporal/contracts.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { type Bank, idLiteral, LEAST, openBank } from '../support/bank.js';
import type { Database } from '../../src/db/database.js';
import { openDatabase, type TestDatabase, testDatabase } from '../support/database.js';
import { newNamespace, serving, sharedAddress, until } from '../support/temporal.js';
import { WorkerProcess } from '../support/worker-process.js';
import { assertLedgerSound } from '../support/world.js';
import type { Account } from '../../src/db/entities/parties.js';

/** More than a slice of transfers, keys, events and ledger transactions. */
const TRANSFERS = 1_000;
const FEW_CLIENTS = 16;
/** Of the checks in audit.ts: the one that compares. */
const CROSSING = 6;

describe('the audit that runs by itself', () => {
  let db: TestDatabase;
  let api: TestApi;
  let bank: Bank;
  let source: Account;

  before(async () => {
    db = await testDatabase();
    api = await startTestApi(db, { COMMAND_TIMEOUT_MS: '60000' });
    bank = await openBank(api);
    source = await bank.account({ funds: { COPM: 10_000n * LEAST } });
    const target = await bank.account();
    let made = 0;
    const client = async (): Promise<void> => {
      while (made++ < TRANSFERS) await bank.sent({ from: source, to: target, raw: LEAST });
    };
    await Promise.all(Array.from({ length: FEW_CLIENTS }, client));
  });
  after(async () => {
    await api.stop();
    await assertLedgerSound(db.database);
  });

  const never = new AbortController().signal;
  const standing = (workMs: number, database = db.database, passEveryMs = 0): StandingAudit =>
    new StandingAudit({ database, clock: systemClock, passEveryMs, workMs, share: 1 });
  const openFindings = () => db.database.reader.select(auditFindings, {});

  /** Steps, each by connections of its own, until a pass has ended. */
  async function wholePass(workMs: number): Promise<readonly StandingStep[]> {
    const steps: StandingStep[] = [];
    while (steps.at(-1)?.ended !== 'done') {
      const database = openDatabase(db.url);
      steps.push(await standing(workMs, database).step(never));
      await database.close();
      assert(steps.length < 500);
    }
    return steps;
  }

  /** What is wrong with the source's balance from here to the end of the work. */
  async function damaged(work: () => Promise<void>): Promise<void> {
    const of = `account_id=${idLiteral(source.id)} AND asset='COPM'`;
    await db.change(`UPDATE balances SET available=available+7 WHERE ${of}`);
    try {
      await work();
    } finally {
      await db.change(`UPDATE balances SET available=available-7 WHERE ${of}`);
      await db.change('DELETE FROM audit_findings');
    }
  }

  it('is overdue since the first tenant was added, if none has ever begun', async () => {
    const [row] = await db.sql('SELECT MIN(created_at) AS at FROM tenants');
    const { since } = await auditStanding(db.database.reader);
    assert.equal(since, time.parse(row?.at));
  });

  it('rests after every slice and looks at as many rows as the audit in one go, none twice', async () => {
    const whole = await audit(db.database);
    const checked: Record<string, number> = {};
    let [position, steps]: [AuditPosition | null, number] = [startOfAudit(Date.now()), 0];
    while (position !== null) {
      const step: Awaited<ReturnType<typeof auditSome>> = await auditSome(db.database, position, {
        isOver: () => true,
      });
      for (const [name, rows] of Object.entries(step.checked))
        checked[name] = (checked[name] ?? 0) + rows;
      assert.deepEqual(step.findings, []);
      position = step.position === null ? null : unpackPosition(packPosition(step.position));
      steps += 1;
    }
    assert.deepEqual(checked, whole.checked);
    assert(steps > 16, `${steps} steps, though it rests behind each check and within some`);
  });

  it('leaves operations that began after it to the next, however many days it takes', async () => {
    const entriesFrom = 2;
    let position: AuditPosition | null = startOfAudit(Date.now() - 30 * 86_400_000);
    const upTo = async (check: number): Promise<void> => {
      while (position !== null && (position.place?.check ?? 0) < check)
        position = (await auditSome(db.database, position, { isOver: () => true })).position;
    };
    await upTo(entriesFrom);
    await bank.sent({ from: source, to: await bank.account(), raw: LEAST });
    await upTo(CROSSING);
    assert.equal(new Tally(position.tally).differing(0, 1_000).size, 0);
  });

  it('leaves the database to others after a slice, for as long as its share of the time asks for', async () => {
    const slices: { began: number; ended: number }[] = [];
    const database = Object.create(db.database) as Database;
    database.withSnapshot = async (work, timeoutMs) => {
      const began = performance.now();
      const read = await db.database.withSnapshot(work, timeoutMs);
      await sleep(5);
      slices.push({ began, ended: performance.now() });
      return read;
    };
    await auditSome(database, startOfAudit(Date.now()), { share: 1 / 4 });
    // Timers may be early by a millisecond. The last check, which is made in one go, does not rest.
    const rested = slices.filter(({ began, ended }, index) => {
      const next = slices[index + 1]?.began ?? Infinity;
      return next - ended >= 3 * (ended - began) - 2;
    });
    assert(rested.length > slices.length / 2, `${rested.length} of ${slices.length}`);
  });

  it('continues where it stopped in any process, and ends a pass without a finding in a sound ledger', async () => {
    const steps = await wholePass(0);
    assert(steps.length > 16 && steps.every(({ findings }) => findings === 0));
    const [pass] = await db.database.reader.select(auditPasses, {}, { orderBy: ['beganAt'] });
    assert(pass !== undefined && pass.endedAt !== null && pass.isOpen === null);
    assert.equal(pass.rowsChecked, BigInt(steps.reduce((sum, { rows }) => sum + rows, 0)));
    assert.deepEqual(await db.sql('SELECT number FROM audit_pieces'), []);
  });

  it('keeps what it finds, once, however often it finds it and in whatever steps', async () => {
    await damaged(async () => {
      await wholePass(60_000);
      await wholePass(0);
      const found = await openFindings();
      assert.deepEqual(
        found.map(({ checkName, subject }) => [checkName, subject]),
        [['balance_total', `account ${source.id} COPM`]],
      );
      assert(found[0]!.lastFoundAt > found[0]!.firstFoundAt);
      const { findings } = await audit(db.database);
      assert.deepEqual(
        [findings[0]?.check, findings[0]?.message],
        ['balance_total', found[0]!.message],
      );
    });
  });

  it('writes nothing in a step that another has overtaken', async () => {
    await damaged(async () => {
      const slow = standing(60_000).step(never);
      const open = () => db.database.reader.find(auditPasses, { isOpen: true });
      await until('it has begun', async () => (await open()) !== undefined);
      // As the beginning of another step does.
      await db.change('UPDATE audit_passes SET fence=fence+1 WHERE is_open=1');
      assert.equal((await slow).ended, 'superseded');
      assert.deepEqual([await openFindings(), (await open())?.rowsChecked], [[], 0n]);
      await wholePass(60_000);
    });
  });

  it('spreads a pass over the time until the next, and hurries when it is late', async () => {
    const hour = 3_600_000;
    await db.change('UPDATE audit_passes SET began_at=began_at - INTERVAL 1 HOUR');
    const first = await standing(500, db.database, hour).step(never);
    // The accounts alone: what comes next is due in minutes.
    assert.deepEqual([first.ended, first.rows < TRANSFERS], ['rests', true]);
    await db.change(
      'UPDATE audit_passes SET began_at=began_at - INTERVAL 59 MINUTE WHERE is_open=1',
    );
    const second = await standing(60_000, db.database, hour).step(never);
    assert.deepEqual([second.ended, second.rows > 4 * TRANSFERS], ['done', true]);
    assert.equal((await standing(0, db.database, hour).step(never)).ended, 'idle');
    await db.change(
      'UPDATE audit_passes SET began_at=began_at - INTERVAL 1 MINUTE ORDER BY began_at DESC LIMIT 1',
    );
    assert.equal((await standing(0, db.database, hour).step(never)).ended, 'rests');
    await wholePass(60_000);
  });

  it('stops waiting when its worker stops, and keeps what it has done', async () => {
    const stopping = new AbortController();
    const step = standing(3_600_000, db.database, 3_600_000);
    await db.change('UPDATE audit_passes SET began_at=began_at - INTERVAL 1 HOUR');
    const working = step.step(stopping.signal);
    await sleep(500);
    stopping.abort();
    const { ended, rows } = await working;
    const open = await db.database.reader.find(auditPasses, { isOpen: true });
    assert.deepEqual([ended, open?.rowsChecked], ['rests', BigInt(rows)]);
    assert(rows > 0);
    await wholePass(60_000);
  });

  it('is started by a schedule that the worker creates, and that a worker without audit removes', async () => {
    const temporal = await newNamespace(sharedAddress(), 'audit');
    const handle = temporal.client.schedule.getHandle(AUDIT_SCHEDULE_ID);
    await damaged(async () => {
      const every = { ...serving('approvals'), AUDIT_PASS_EVERY_S: '1' };
      const worker = await WorkerProcess.start(db.url, temporal, every);
      await until('it has found it', async () => (await openFindings()).length > 0, {
        limitMs: 120_000,
      });
      assert.match(await worker.metrics(), /^audit_findings_open 1$/m);
      assert.match(await worker.metrics(), /^audit_steps_total\{ended="(done|rests)"\} [1-9]/m);
      await worker.stop();
      await handle.describe();
    });
    const idle = await WorkerProcess.start(db.url, temporal, {
      ...serving('approvals'),
      AUDIT_PASS_EVERY_S: '0',
    });
    await until('the schedule is gone', () =>
      handle.describe().then(
        () => false,
        () => true,
      ),
    );
    await idle.stop();
  });
});
