import assert from 'node:assert/strict';
import { MockActivityEnvironment } from '@temporalio/testing';
import { auditActivities } from '../../activities/audit.js';
import { audit, type AuditedPart, auditNext, auditStatus } from '../../src/auditor/audit.js';
import { systemClock } from '../../src/core/instant.js';
import { time } from '../../src/db/columns.js';
import { auditFindings, auditPasses } from '../../src/db/entities/audits.js';
import { AUDIT_SCHEDULE_ID } from '../../src/temporal/contracts.js';
import { startTestApi } from '../helpers/api.js';
import { idLiteral, LEAST, openBank } from '../helpers/bank.js';
import { openDatabase, testDatabase } from '../helpers/database.js';
import { newNamespace, serving, sharedAddress, until } from '../helpers/temporal.js';
import { startTestWorker } from '../helpers/temporal-worker.js';

/** More than a slice of transfers, keys, events and ledger transactions. */
const TRANSFERS = 1_000;
const FEW_CLIENTS = 16;

const db = await testDatabase();
const api = await startTestApi(db, { COMMAND_TIMEOUT_MS: '60000' });
const bank = await openBank(api);
const source = await bank.account({ funds: { COPM: 10_000n * LEAST } });
const target = await bank.account();
let made = 0;
const client = async (): Promise<void> => {
  while (made++ < TRANSFERS) await bank.sent({ from: source, to: target, raw: LEAST });
};
await Promise.all(Array.from({ length: FEW_CLIENTS }, client));

describe('the scheduled audit', () => {
  const never = new AbortController().signal;
  const openFindings = () => db.database.reader.select(auditFindings, {});

  /** Runs a pass, each part by a process of its own. Returns its parts. */
  async function wholePass(): Promise<readonly AuditedPart[]> {
    const parts: AuditedPart[] = [];
    for (const beganAt = systemClock(); ;) {
      const database = openDatabase(db.url);
      const deps = { database, clock: systemClock, everyMs: 0 };
      const part = await auditNext(deps, { beganAt, reached: parts.length }, never);
      await database.close();
      if (part === null) return parts;
      parts.push(part);
      assert.equal(part.reached, parts.length);
    }
  }

  /** Falsifies the source's balance from here to the end of the work. */
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

  it('is overdue since the first tenant was added, if none has ever ended', async () => {
    const [row] = await db.sql('SELECT MIN(created_at) AS at FROM tenants');
    const { since } = await auditStatus(db.database.reader);
    assert.equal(since, time.parse(row?.at));
  });

  it('continues where it stopped in any process, and reads every row once', async () => {
    const { checked } = await audit(db.database);
    const earlier = await db.database.reader.select(auditPasses, {});
    const parts = await wholePass();
    const sum = (rows: readonly number[]): number => rows.reduce((all, one) => all + one, 0);
    assert.equal(sum(parts.map(({ rows }) => rows)), sum(Object.values(checked)));
    assert.deepEqual(
      parts.map(({ findings, isLast }) => [findings, isLast]),
      parts.map((_, index) => [0, index === parts.length - 1]),
    );
    const passes = await db.database.reader.select(auditPasses, {}, { orderBy: ['endedAt'] });
    assert.equal(passes.length, earlier.length + 1);
    assert.equal((await auditStatus(db.database.reader)).since, passes.at(-1)?.endedAt);
  });

  it('stores a finding once, however often it recurs', async () => {
    await damaged(async () => {
      await wholePass();
      await wholePass();
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

  it('keeps the findings of a worker that stopped', async () => {
    await damaged(async () => {
      const deps = { database: db.database, clock: systemClock, everyMs: 3_600_000 };
      const pass = { beganAt: systemClock(), reached: 0 };
      const part = await auditNext(deps, pass, never);
      assert.deepEqual([part?.reached, part?.findings, (await openFindings()).length], [1, 1, 1]);
      await assert.rejects(auditNext(deps, { ...pass, reached: 1 }, AbortSignal.abort()), {
        name: 'AbortError',
      });
    });
  });

  it('waits after each slice, so that its slices are spread over the time until the next pass', async () => {
    const slices: number[] = [];
    const database = Object.create(db.database) as typeof db.database;
    database.withSnapshot = async (work, timeoutMs) => {
      slices.push(performance.now());
      return db.database.withSnapshot(work, timeoutMs);
    };
    const deps = { database, clock: systemClock, everyMs: 20 * 18_000 };
    await auditNext(deps, { beganAt: systemClock(), reached: 1 }, never);
    assert(slices.length > 8);
    // Timers may be early by a millisecond.
    for (const [index, began] of slices.slice(1).entries()) assert(began - slices[index]! >= 19);
  });

  it('an attempt of the scheduled audit continues after the check that the last heartbeat reports', async () => {
    const checks = (await wholePass()).length;
    const heartbeatDetails = { reached: checks - 1, findings: 3, checkpoint: 'known' };
    const [parts, known]: [AuditedPart[], unknown[]] = [[], []];
    const { auditLedger } = auditActivities(
      {
        audit: { database: db.database, clock: systemClock, everyMs: 0 },
        rollbackGuard: {
          renewStored: (checkpoint) => {
            known.push(checkpoint);
            return Promise.resolve(null);
          },
        },
        onAudited: (part) => parts.push(part),
      },
      never,
    );
    const attempt = new MockActivityEnvironment({ heartbeatDetails });
    const result = await attempt.run(auditLedger, 'older');
    assert.deepEqual(
      parts.map(({ reached, isLast }) => [reached, isLast]),
      [[checks, true]],
    );
    assert.deepEqual([known[0], result], ['known', { findings: 3, checkpoint: null }]);
  });

  it('is started by a schedule that the worker creates, and that a worker without audit removes', async () => {
    const temporal = await newNamespace(sharedAddress(), 'audit');
    const handle = temporal.client.schedule.getHandle(AUDIT_SCHEDULE_ID);
    await damaged(async () => {
      const environment = { ...serving('approvals'), AUDIT_PASS_EVERY_S: '1' };
      const worker = await startTestWorker(db, temporal, { environment });
      await until('it has found it', async () => (await openFindings()).length > 0, {
        limitMs: 120_000,
      });
      const metrics = await (await fetch(`${worker.adminUrl}/metrics`)).text();
      assert.match(metrics, /^audit_findings_open 1$/m);
      assert.match(metrics, /^audit_rows_total [1-9]/m);
      await worker.stop();
      await handle.describe();
    });
    const environment = { ...serving('approvals'), AUDIT_PASS_EVERY_S: '0' };
    const idle = await startTestWorker(db, temporal, { environment });
    await until('the schedule is gone', () =>
      handle.describe().then(
        () => false,
        () => true,
      ),
    );
    await idle.stop();
  });
});
