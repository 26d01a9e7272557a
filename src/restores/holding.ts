import { newId } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { DatabaseDeps, Transaction } from '../db/database.js';
import { outbox } from '../db/entities/outbox.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { RESTORE_FINDINGS, type Restore, restoreFindings } from '../db/entities/restores.js';
import { insertSql, literals } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { lockAccount } from '../accounts/access.js';
import { outboxEntry } from '../temporal/outbox-entry.js';
import { contradicts } from './rules.js';
import { isLossy } from './sequences.js';

/** Payouts that rails have, or may have been given in the lost time: their money comes back only on the rail's word. */

/** Those waiting for approval are raised, approved ones become in progress: neither can be ended then. */
export async function keepFromEnding(
  transaction: Transaction,
  restore: Restore,
  unasked: readonly string[],
  now: Instant,
): Promise<void> {
  const found = await transaction.select(restoreFindings, { restoreId: restore.id });
  const contrary = found.filter(contradicts).map(({ payoutId }) => payoutId);
  const begun = found.filter((one) => !contradicts(one)).map(({ payoutId }) => payoutId);
  const raise = `stuck_since=COALESCE(stuck_since, ${time.literal(now)}), stuck_reason='contradiction'`;
  const begin = beginSql(now);
  const known = (ids: typeof contrary): string => `id IN (${literals(payouts, 'id', ids)})`;
  const updates = [
    ...(contrary.length > 0 ? [`${raise} WHERE status IN ('pending_approval','approved') AND ${known(contrary)}`] : []),
    ...(begun.length > 0 ? [`${begin} WHERE status='approved' AND ${known(begun)}`] : []),
  ];
  if (unasked.length > 0 && isLossy(restore)) {
    const theirs = `rail IN (${literals(payouts, 'rail', unasked)})`;
    updates.push(`${raise} WHERE status='pending_approval' AND ${theirs}`);
    updates.push(`${begin} WHERE status='approved' AND ${theirs}`);
  }
  for (const update of updates) await transaction.execute(`UPDATE payouts SET ${update}`);
}

/** As if it was handed over: its workflow asks the rail, and gives it only what it never heard of. */
function beginSql(now: Instant): string {
  return `status='in_progress', submitted_at=GREATEST(approved_at, ${time.literal(now)}),
    stuck_since=IF(stuck_reason='no_outcome', NULL, stuck_since), stuck_reason=NULLIF(stuck_reason, 'no_outcome')`;
}

/** The clocks of two processes never differ by more. */
const CLOCKS_APART = 'INTERVAL 1 MINUTE';

/**
 * What was raised for rails that have been asked since. Approved meanwhile, and the rail has it or does not answer: in
 * progress, as if it had been approved before. Unknown to its rail: it can be ended again.
 */
export async function followAnswers(
  deps: DatabaseDeps,
  { id: restoreId }: Restore,
  asked: Iterable<string>,
): Promise<void> {
  const rails = [...asked];
  if (rails.length === 0) return;
  const restore = uuid.literal(restoreId);
  const theirs = `rail IN (${literals(payouts, 'rail', rails)})`;
  const finding = `SELECT 1 FROM restore_findings f WHERE f.restore_id=${restore}
    AND f.kind IN (${literals(restoreFindings, 'kind', RESTORE_FINDINGS)}) AND f.rail=payouts.rail AND f.payout_id=payouts.id`;
  const goesOn = `status='approved' AND ${theirs} AND EXISTS (${finding} AND f.kind='goes_on')`;
  const isCalm = `${theirs} AND stuck_reason='contradiction'
    AND stuck_since>=(SELECT r.finished_at FROM restores r WHERE r.id=${restore})
    AND NOT EXISTS (${finding} AND (f.kind<>'goes_on' OR payouts.status='approved'))
    AND NOT EXISTS (SELECT 1 FROM payout_rail_events e
      WHERE e.payout_id=payouts.id AND e.effect='conflict' AND e.at>=payouts.stuck_since-${CLOCKS_APART})`;
  const { reader } = deps.database;
  const begun = await reader.list(payouts, `FORCE INDEX (expiring) WHERE ${goesOn}`);
  const calm = await reader.list(payouts, `FORCE INDEX (stuck) WHERE stuck_since IS NOT NULL AND ${isCalm}`);
  for (const payout of [...begun, ...calm]) await followAnswer(deps, payout, goesOn, isCalm);
}

async function followAnswer(
  { database, clock }: DatabaseDeps,
  { id, tenantId, sourceAccountId }: Payout,
  goesOn: string,
  isCalm: string,
): Promise<void> {
  const own = `id=${uuid.literal(id)}`;
  await transact(database, async (transaction) => {
    await lockAccount(transaction, sourceAccountId);
    const now = clock();
    const begun = await transaction.execute(`UPDATE payouts SET ${beginSql(now)} WHERE ${own} AND ${goesOn}`);
    await transaction.execute(`UPDATE payouts SET stuck_since=NULL, stuck_reason=NULL WHERE ${own} AND ${isCalm}`);
    if (begun === 0) return;
    const told = { outboxId: newId(), tenantId, resourceType: 'payout', resourceId: id } as const;
    await transaction.execute(insertSql(outbox, [outboxEntry(told, now)]));
  });
}
