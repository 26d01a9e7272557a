import * as column from '../db/columns.js';
import { type Actor, recordAction } from '../access/audit-log.js';
import { ApiError, invalidState } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { time, uuid } from '../db/columns.js';
import type { DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { payouts } from '../db/entities/payouts.js';
import {
  type EventGap,
  eventGaps,
  type Restore,
  type RestoreFinding,
  restores,
} from '../db/entities/restores.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { audit } from '../auditor/audit.js';
import type { AuditReport } from '../auditor/scan.js';
import type { RailCalls } from '../payouts/rail-calls.js';
import { currentRefusal } from '../staff/people.js';
import { assertMayAct, secondPersonRefusal, type StaffIdentity } from '../staff/rules.js';
import { holdNewerPayouts, holdPayouts } from './hold-payouts.js';
import { lastRestore, restoreAudit } from './begin-restore.js';
import { findingsOf } from './rails.js';
import { contradicts, isLossy, type LossyRestore, lastSkipped } from './rules.js';
import { type Instant, maxInstant, toRfc3339 } from '../core/instant.js';
import { RESTORE_GAP, SYSTEM_CHAIN } from '../db/audit-hash.js';
import { eventCounters } from '../db/entities/events.js';
import { auditChains } from '../db/entities/identity.js';

/** A step of the repair of a restored database, which may be repeated. (docs/operations/backup.md) */
type Step = 'sequencesMovedAt' | 'workflowsRebuiltAt' | 'railsQueriedAt' | 'auditedAt';

type Progress = (step: string, done: number, total: number) => void;

/** Returns the open restore, else the last finished one. Throws ApiError. */
export async function restoreToFinish(reader: Reader, by: StaffIdentity): Promise<Restore> {
  assertMayAct('restore.finish', by);
  const open = await lastRestore(reader);
  if (open === undefined) throw new ApiError(invalidState('this database was never restored'));
  if (open.finishedAt !== null) return open;
  if (open.beganById === null)
    throw new ApiError(
      invalidState('the restore has not begun: run restore begin first (restore begin --help)'),
    );
  const refusal = secondPersonRefusal(open.beganById, by.id);
  if (refusal !== null) throw new ApiError(refusal);
  return open;
}

/** Runs `work` and records the step as done, unless it is done already. */
export async function runStep(
  { database, clock }: DatabaseDeps,
  restore: Restore,
  step: Step,
  work: () => Promise<void>,
): Promise<void> {
  if (restore[step] !== null) return;
  await work();
  await transact(database, (transaction) =>
    transaction.execute(
      `UPDATE restores SET ${restores.column(step).name}=${time.literal(clock())} WHERE id=${uuid.literal(restore.id)}`,
    ),
  );
}

/** If data was lost, skips the sequence numbers that clients may have seen. */
export function skipLostNumbers(
  deps: DatabaseDeps,
  restore: Restore,
  by: StaffIdentity,
  onProgress: Progress,
): Promise<void> {
  return runStep(deps, restore, 'sequencesMovedAt', async () => {
    if (!isLossy(restore)) return;
    await skipSequences(deps, restore, by, (done, total) =>
      onProgress('Skipping lost numbers', done, total),
    );
    await skipSystemChain(deps, restore, by);
  });
}

/** Audits the database. Records the step as done if there are at most `accepted` findings. */
export async function auditRestored(
  deps: DatabaseDeps,
  restore: Restore,
  accepted: number,
  onProgress: Progress,
): Promise<AuditReport> {
  const report = await audit(deps.database, {
    onProgress: (done, total) => onProgress('Auditing', done, total),
  });
  if (report.findings.length > accepted) return report;
  await runStep(deps, restore, 'auditedAt', () => Promise.resolve());
  return report;
}

/**
 * Opens the ledger, after holding payouts that rails may have received. `figures` go to the audit
 * log. Throws ApiError authority_insufficient if the person has lost the right meanwhile.
 */
export async function openLedger(
  deps: DatabaseDeps,
  restore: Restore,
  by: StaffIdentity,
  unqueriedRails: readonly string[],
  figures: Readonly<Record<string, string | number>>,
): Promise<void> {
  await holdPayouts(deps, restore, unqueriedRails);
  const { database, clock } = deps;
  await transact(database, async (transaction) => {
    const now = clock();
    const finished = { finishedAt: now, finishedBy: by.name, finishedById: by.id };
    // Finishes all open restores, because several workers may have noticed the same one.
    const open = await transaction.select(
      restores,
      { finishedAt: null },
      { orderBy: ['id'], forUpdate: true },
    );
    if (open.length === 0) return;
    const refusal = await currentRefusal(transaction, 'restore.finish', by);
    if (refusal !== null) throw new ApiError(refusal);
    await holdNewerPayouts(transaction, restore, unqueriedRails, now);
    await transaction.execute(updateSql(restores, finished, { id: open.map(({ id }) => id) }));
    const entry = restoreAudit('restore.finish', restore);
    await recordAction(transaction, by, now, {
      ...entry,
      details: { ...entry.details, ...figures, left_out: unqueriedRails.join(',') },
    });
  });
}

/** Polls payouts that contradict their rail, which flags them. May be repeated. Returns how many. */
export async function flagContradictions(
  { database: { reader } }: DatabaseDeps,
  restoreId: Uuid,
  calls: RailCalls,
): Promise<number> {
  let flagged = 0;
  for (const finding of await findingsOf(reader, restoreId)) {
    if (!contradicts(finding)) continue;
    const payout = await reader.find(payouts, { id: finding.payoutId });
    if (payout === undefined) continue;
    if (payout.stuckSince !== null && (await isReportRecorded(reader, finding))) continue;
    await calls.poll(payout);
    flagged += 1;
  }
  return flagged;
}

/** Returns whether the rail's report has been recorded since the finding. */
async function isReportRecorded(
  reader: Reader,
  { payoutId, foundAt }: RestoreFinding,
): Promise<boolean> {
  const rows = await reader.query(
    `SELECT 1 FROM payout_rail_events FORCE INDEX (payout)
     WHERE payout_id=${uuid.literal(payoutId)} AND effect='conflict' AND at>=${time.literal(foundAt)} LIMIT 1`,
  );
  return rows.length > 0;
}

/**
 * Leaves a gap in each tenant's event log, because numbers that clients may have seen are never used
 * again. Uses one transaction for each tenant. Throws DatabaseUnavailable. (docs/contract.md, Events)
 */
export async function skipSequences(
  deps: DatabaseDeps,
  restore: LossyRestore,
  actor: Actor,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const rows = await deps.database.reader.query(
    'SELECT tenant_id FROM event_counters ORDER BY tenant_id',
  );
  for (const [index, row] of rows.entries()) {
    const tenantId = column.uuid.parse(row.tenant_id);
    await transact(deps.database, (transaction) =>
      skipSequencesOf(transaction, restore, tenantId, actor, deps.clock()),
    );
    onProgress(index + 1, rows.length);
  }
}

async function skipSequencesOf(
  transaction: Transaction,
  restore: LossyRestore,
  tenantId: Uuid,
  actor: Actor,
  now: Instant,
): Promise<void> {
  const counter = await transaction.find(eventCounters, { tenantId }, { forUpdate: true });
  const known = await transaction.find(eventGaps, { restoreId: restore.id, tenantId });
  if (counter === undefined || known !== undefined) return;
  const { lastSequence: after, lastAt, restores } = counter;
  const throughSequence = lastSkipped(after, restore.skip);
  const gap: EventGap = {
    tenantId,
    afterSequence: after,
    throughSequence,
    restoreId: restore.id,
    restoredTo: restore.restoredTo,
    announcedAt: maxInstant(lastAt, now),
  };
  const moved = { lastSequence: throughSequence, lastAt: gap.announcedAt, restores: restores + 1 };
  await transaction.all([
    insertSql(eventGaps, [gap]),
    updateSql(eventCounters, moved, { tenantId }),
    // An endpoint that had handled every remaining event continues after the gap.
    `UPDATE webhook_endpoints SET cursor_sequence=${throughSequence}
     WHERE tenant_id=${column.uuid.literal(tenantId)} AND cursor_sequence=${after}`,
  ]);
  const events = { events_after: after.toString(), events_through: throughSequence.toString() };
  await skipAuditNumbers(transaction, restore, tenantId, actor, now, events);
}

function skipSystemChain(deps: DatabaseDeps, restore: LossyRestore, actor: Actor): Promise<void> {
  return transact(deps.database, async (transaction) => {
    const own = `action='${RESTORE_GAP}' AND subject_id=${column.string.literal(restore.id)} AND tenant_id IS NULL`;
    const known = await transaction.query(`SELECT 1 FROM audit_log WHERE ${own} LIMIT 1`);
    if (known.length === 0)
      await skipAuditNumbers(transaction, restore, null, actor, deps.clock(), {});
  });
}

/** Sets the chain's next number after the gap; the row with that number records the gap. */
async function skipAuditNumbers(
  transaction: Transaction,
  restore: LossyRestore,
  tenantId: Uuid | null,
  actor: Actor,
  now: Instant,
  events: Readonly<Record<string, string>>,
): Promise<void> {
  const chainId = tenantId ?? SYSTEM_CHAIN;
  const chain = await transaction.find(auditChains, { chainId }, { forUpdate: true });
  const after = chain?.lastSequence ?? 0n;
  const lastSequence = lastSkipped(after, restore.skip);
  if (chain !== undefined)
    await transaction.execute(updateSql(auditChains, { lastSequence }, { chainId }));
  const details = {
    rows_after: after.toString(),
    acts_through: chain === undefined ? after.toString() : lastSequence.toString(),
    ...events,
    restored_to: toRfc3339(restore.restoredTo),
  };
  await recordAction(transaction, actor, now, {
    tenantId,
    action: RESTORE_GAP,
    subjectType: 'restore',
    subjectId: restore.id,
    details,
  });
}
