import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Uuid } from '../../src/core/ids.js';
import { transferWorkflowId } from '../../src/temporal/contracts.js';
import { request, startTestApi } from '../helpers/api.js';
import { idLiteral } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { Fleet } from '../helpers/fleet.js';
import { HttpReceiver } from '../helpers/http-receiver.js';
import { changedRelease } from '../helpers/releases.js';
import type { ServiceProcess } from '../helpers/service-process.js';
import { type TestTemporal, until, untilWaiting } from '../helpers/temporal.js';
import { type GuardedBank, openGuardedBank } from '../helpers/temporal-world.js';
import { openWebhookBank } from '../helpers/webhook-world.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { assertLedgerSound } from '../helpers/world.js';
import { continueWaiting, countWaiting, tenantsOf, untilAllEnded } from './left-waiting.js';
import { assertAllArrived, SteadyLoad } from './rolling.js';

interface Upgrade {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  /** Transfers that wait for two approvals while releases come and go. */
  readonly open: number;
  /** Transfers beside them. */
  readonly perSecond: number;
}

const TENANTS = 4;
const END_MS = 300_000;
const MAX_AT_ONCE = 50;
/** The server's way to show a workflow that ends a signal of the same moment: it does so with its next task. */
const UNHANDLED_COMMAND = 1;

/**
 * Upgrades two API processes and two workers, one after the other, to a release with changed workflows, under load and with transfers
 * that wait, and with everything that waited in the database before. Passes if no response is 5xx, every event reaches its receiver, no workflow task fails and the outbox is empty at the end.
 */
export function upgradeCampaign(campaign: Upgrade): Promise<string> {
  const { db, temporal, open: count, perSecond } = campaign;
  return withCleanup(async (open) => {
    const folder = await open(mkdtemp(join(tmpdir(), 'money-release-')), (own) =>
      rm(own, { recursive: true, force: true }),
    );
    const next = { RELEASE: changedRelease(folder) };
    const left = await countWaiting(db);
    const tenantIds = await tenantsOf(db);
    const receiver = await open(new HttpReceiver().open(), (own) => own.close());
    const fleet = await open(Fleet.start({ mysqlUrl: db.url, temporal }), (own) => own.end());
    const tool = await open(startTestApi(db, {}, { receiver: 'real' }), (own) => own.stop());
    const banks = await Promise.all(
      Array.from({ length: TENANTS }, () => openWebhookBank(tool, receiver)),
    );
    const guarded = await openGuardedBank(tool, {
      approvals: 2,
      funds: BigInt(count + 1) * 100_000n,
    });
    const load = new SteadyLoad(fleet.baseUrl, banks, perSecond);
    const waiting = await createPending(temporal, guarded, count);
    await assertReplays(folder, temporal);
    const all = [...fleet.workers, ...fleet.apis];
    await roll(all, next);
    if (left > 0) await continueWaiting(db, tenantIds, fleet.baseUrl, receiver);
    const later = await createPending(temporal, guarded, 1);
    await approveThrough(fleet, guarded, [...waiting, ...later], 0);
    await approveThrough(fleet, guarded, [...waiting, ...later], 1);
    await assertEnded(db, temporal, [...waiting, ...later]);
    await assertAllArrived(receiver, banks, await load.finish());
    if (left > 0) await untilAllEnded(db, receiver);
    await untilOutboxEmpty(db);
    await assertLedgerSound(db.database);
    return `upgrade with ${left} waiting resources of a dump of 1.0.0 to a release with changed workflows, under ${count + 1} waiting transfers and ${perSecond} requests a second: ${load.summary()}, every event arrived; no workflow task failed, nothing is left in the outbox`;
  });
}

/** As docs/operations/upgrade.md has it before an upgrade: the open workflows, and the recorded ones, can continue on the release. */
async function assertReplays(folder: string, { address, namespace }: TestTemporal): Promise<void> {
  const program = join(folder, 'dist/development/replay.js');
  const asked = ['--address', address, '--namespace', namespace];
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...asked], {
    cwd: folder,
  });
  assert.match(stdout, /^[1-9]\d* recorded histories/);
}

/** One process after the other, workers first, as docs/operations/upgrade.md has it. */
async function roll(
  processes: readonly ServiceProcess[],
  release: Readonly<Record<string, string>>,
): Promise<void> {
  for (const process of processes) {
    assert.equal(await process.stop(), 0, 'a process did not end by itself');
    await process.start(release);
  }
}

async function createPending(
  temporal: TestTemporal,
  guarded: GuardedBank,
  count: number,
): Promise<readonly Uuid[]> {
  const ids: Uuid[] = [];
  while (ids.length < count)
    ids.push(...(await guarded.createManyPending(Math.min(MAX_AT_ONCE, count - ids.length))));
  for (const id of ids) await untilWaiting(temporal, id, 'transfer', { limitMs: END_MS });
  return ids;
}

async function approveThrough(
  fleet: Fleet,
  { approvers }: GuardedBank,
  ids: readonly Uuid[],
  approver: 0 | 1,
): Promise<void> {
  for (let done = 0; done < ids.length; done += MAX_AT_ONCE)
    await Promise.all(
      ids.slice(done, done + MAX_AT_ONCE).map(async (id) => {
        const path = `/v1/transfers/${id}/approve`;
        const answer = await request(fleet.baseUrl, 'POST', path, { token: approvers[approver] });
        assert.equal(answer.status, 200, answer.text);
      }),
    );
}

async function assertEnded(
  db: TestDatabase,
  temporal: TestTemporal,
  ids: readonly Uuid[],
): Promise<void> {
  for (const id of ids) {
    const [row] = await db.sql(`SELECT status FROM transfers WHERE id=${idLiteral(id)}`);
    assert.equal(row?.status, 'completed');
    const handle = temporal.client.workflow.getHandle(transferWorkflowId(id));
    await until(
      `the workflow of ${id} ends`,
      async () => (await handle.describe()).status.name === 'COMPLETED',
      {
        limitMs: END_MS,
      },
    );
    const { events } = await handle.fetchHistory();
    const failed = (events ?? []).filter(
      ({ workflowTaskFailedEventAttributes: one }) =>
        (one?.cause ?? UNHANDLED_COMMAND) !== UNHANDLED_COMMAND,
    );
    assert.deepEqual(failed, [], `a task of ${id} failed`);
  }
}

async function untilOutboxEmpty(db: TestDatabase): Promise<void> {
  await until('the outbox is empty', async () => {
    const rows = await db.sql(`SELECT COUNT(*) AS n FROM outbox`);
    return Number(rows[0]?.n) === 0;
  });
}
