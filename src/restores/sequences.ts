import { type Actor, recordAction } from '../access/audit-log.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, maxInstant, toRfc3339 } from '../core/instant.js';
import { RESTORE_GAP, SYSTEM_CHAIN } from '../db/audit-hash.js';
import * as column from '../db/columns.js';
import type { DatabaseDeps, Transaction } from '../db/database.js';
import { eventCounters } from '../db/entities/events.js';
import { auditChains } from '../db/entities/identity.js';
import { type EventGap, eventGaps, type Restore } from '../db/entities/restores.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { throughFor } from './rules.js';

/** Numbers that outsiders may have seen are never used again. (docs/contract.md, Events) */

type LossyRestore = Restore & { readonly restoredTo: Instant; readonly skip: bigint };

export function isLossy(restore: Restore): restore is LossyRestore {
  return restore.restoredTo !== null && restore.skip !== null;
}

/** Makes the gap in each event log, a tenant per transaction. Throws DatabaseUnavailable. */
export async function moveSequences(
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
      moveTenant(transaction, restore, tenantId, actor, deps.clock()),
    );
    onProgress(index + 1, rows.length);
  }
}

async function moveTenant(
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
  const throughSequence = throughFor(after, restore.skip);
  const gap: EventGap = {
    ...{
      tenantId,
      afterSequence: after,
      throughSequence,
      restoreId: restore.id,
      restoredTo: restore.restoredTo,
    },
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
  await leaveOut(transaction, restore, tenantId, actor, now, events);
}

export function moveSystemChain(
  deps: DatabaseDeps,
  restore: LossyRestore,
  actor: Actor,
): Promise<void> {
  return transact(deps.database, async (transaction) => {
    const own = `action='${RESTORE_GAP}' AND subject_id=${column.string.literal(restore.id)} AND tenant_id IS NULL`;
    const known = await transaction.query(`SELECT 1 FROM audit_log WHERE ${own} LIMIT 1`);
    if (known.length === 0) await leaveOut(transaction, restore, null, actor, deps.clock(), {});
  });
}

/** Sets the chain's next number after the gap; the row with that number records the gap. */
async function leaveOut(
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
  const lastSequence = throughFor(after, restore.skip);
  if (chain !== undefined)
    await transaction.execute(updateSql(auditChains, { lastSequence }, { chainId }));
  const details = {
    acts_after: after.toString(),
    acts_through: chain === undefined ? after.toString() : lastSequence.toString(),
    ...events,
    restored_to: toRfc3339(restore.restoredTo),
  };
  await recordAction(transaction, actor, now, {
    ...{ tenantId, action: RESTORE_GAP, subjectType: 'restore', subjectId: restore.id, details },
  });
}
