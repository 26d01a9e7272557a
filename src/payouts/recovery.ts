import { setTimeout as sleep } from 'node:timers/promises';
import { UnknownKey } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import { string, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { sweepLeases } from '../db/entities/sweeps.js';
import { columnList, equalsSql, literal } from '../db/statements.js';
import { parseRow, rowParser } from '../db/table.js';
import type { Outbox } from '../temporal/outbox.js';
import type { Sweep } from '../temporal/sweeper.js';
import type { RailCalls, PayoutSubmitter } from './rail-calls.js';

interface RecoveryDeps {
  readonly calls: RailCalls;
  readonly submitter: Pick<PayoutSubmitter, 'submit' | 'poll'>;
  readonly outbox: Pick<Outbox, 'add'>;
}

/** Waiting payouts are resumed in pages, so that a recovering rail is not flooded. */
const PAGE = 50;
const PAUSE_MS = 500;
/** A probe chooses one of these at random, because a rail may never respond about some payout. */
const CANDIDATES = 5;
const EVERY_MS = 1_000;

const parseWaiting = rowParser({ id: uuid, tenantId: uuid });
type WaitingPayout = ReturnType<typeof parseWaiting>;

/** Probes rails that do not respond, and resumes their payouts when they respond again. */
export class RailRecovery {
  constructor(private readonly deps: RecoveryDeps) {}

  async probeDue(rail: string): Promise<void> {
    if (await this.deps.calls.deps.breakers.claimProbe(rail)) await this.probe(rail);
  }

  /** Notifies waiting payouts' workflows, oldest first, while the rail responds. */
  async resumeDue(rail: string, signal: AbortSignal): Promise<void> {
    const { outbox } = this.deps;
    const { breakers } = this.deps.calls.deps;
    const dueAt = await breakers.resumesAt(rail);
    if (dueAt === null) return;
    let after: Uuid | null = null;
    while (!signal.aborted && (await breakers.isClosed(rail))) {
      const rows: WaitingPayout[] = await this.waiting(rail, after);
      await outbox.add(
        rows.map(({ id, tenantId }) => ({ tenantId, resourceType: 'payout', resourceId: id })),
      );
      after = rows.at(-1)?.id ?? null;
      if (rows.length < PAGE) {
        await breakers.recordResumed(rail, dueAt);
        break;
      }
      await sleep(PAUSE_MS);
    }
  }

  /**
   * Polls a payout that the rail has received, or else submits a waiting payout or, if that cannot
   * be sent, polls it, or else polls any payout in progress.
   */
  private async probe(rail: string): Promise<void> {
    const { calls, submitter } = this.deps;
    const inProgress = `status='in_progress'`;
    const known =
      (await this.pickOne(
        rail,
        'polling',
        'next_poll_at IS NOT NULL ORDER BY next_poll_at DESC',
      )) ??
      (await this.pickOne(
        rail,
        'submitted',
        `${inProgress} AND rail_reference IS NOT NULL ORDER BY submitted_at DESC`,
      ));
    if (known !== undefined) return void (await calls.poll(known));
    // A payout of a frozen account is not submitted.
    const maySend = `EXISTS (SELECT 1 FROM accounts a WHERE a.id=source_account_id AND a.status='active')`;
    const waiting = await this.pickOne(
      rail,
      'expiring',
      `status='approved' AND ${maySend} ORDER BY id`,
    );
    if (waiting !== undefined) {
      const { isHeld } = await submitter
        .submit(waiting.id, { ignoresBreaker: true })
        .catch(heldByUnknownKey);
      // Nothing was sent, for example because the rail does not name the holder of the payout's key.
      return void (isHeld && (await calls.poll(waiting)));
    }
    const order = `${inProgress} ORDER BY attempted_at, submitted_at`;
    const lost = await this.pickOne(rail, 'submitted', order);
    if (lost !== undefined) await submitter.poll(lost.id, { ignoresBreaker: true });
  }

  private async waiting(rail: string, after: Uuid | null): Promise<WaitingPayout[]> {
    const afterSql = after === null ? '' : ` AND id>${uuid.literal(after)}`;
    const rows = await this.deps.calls.deps.database.reader.query(
      `SELECT id, tenant_id FROM payouts FORCE INDEX (expiring)
       WHERE status IN ('approved','in_progress') AND rail_reference IS NULL
         AND rail=${literal(payouts, 'rail', rail)}${afterSql} ORDER BY id LIMIT ${PAGE}`,
    );
    return rows.map(parseWaiting);
  }

  private async pickOne(rail: string, index: string, where: string): Promise<Payout | undefined> {
    const rows = await this.deps.calls.deps.database.reader.query(
      `SELECT ${columnList(payouts)} FROM payouts FORCE INDEX (${index})
       WHERE rail=${literal(payouts, 'rail', rail)} AND ${where} LIMIT ${CANDIDATES}`,
    );
    // Only the chosen row is read, so that one that cannot be read does not end all probes.
    const row = rows[Math.floor(Math.random() * rows.length)];
    return row && parseRow(payouts, row);
  }
}

function heldByUnknownKey(failure: unknown): { readonly isHeld: true } {
  if (failure instanceof UnknownKey) return { isHeld: true };
  throw failure;
}

const SWEEP_PREFIX = 'probes ';

/** Probes a rail while its breaker is open, and resumes its payouts once the breaker is closed. */
export function recoverySweeps(recovery: RailRecovery, rails: Iterable<string>): Sweep[] {
  return Array.from(rails, (rail) => ({
    name: SWEEP_PREFIX + rail,
    everyMs: EVERY_MS,
    run: async (signal) => {
      await recovery.probeDue(rail);
      await recovery.resumeDue(rail, signal);
      return false;
    },
  }));
}

const GONE_AFTER_HOURS = 24;

/** Returns whether a worker has probed the rail within the last day, by the lease of that sweep. */
export async function isServed(reader: Reader, rail: string): Promise<boolean> {
  const rows = await reader.query(
    `SELECT 1 FROM sweep_leases WHERE ${equalsSql(sweepLeases, { name: SWEEP_PREFIX + rail })}
     AND lease_until>UTC_TIMESTAMP(3)-INTERVAL ${GONE_AFTER_HOURS} HOUR`,
  );
  return rows.length > 0;
}

/** Returns every rail that a worker has ever probed, by the leases of these sweeps. */
export async function railsOfWorkers(reader: Reader): Promise<readonly string[]> {
  const rows = await reader.query(
    `SELECT name FROM sweep_leases WHERE name LIKE '${SWEEP_PREFIX}%'`,
  );
  return rows.map((row) => string.parse(row.name).slice(SWEEP_PREFIX.length));
}
