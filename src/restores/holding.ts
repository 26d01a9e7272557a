import type { Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { DatabaseDeps, Transaction } from '../db/database.js';
import { payouts } from '../db/entities/payouts.js';
import { type Restore, restoreFindings } from '../db/entities/restores.js';
import { literals } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { lockAccount } from '../accounts/access.js';
import { contradicts } from './rules.js';
import { isLossy } from './sequences.js';

/** Payouts that rails have, or may have been given in the lost time: their money comes back only on the rail's word. */

/** Those waiting for approval are raised, approved ones become in progress: neither can be ended then. */
export async function holdPayouts(
  transaction: Transaction,
  restore: Restore,
  unasked: readonly string[],
  now: Instant,
): Promise<void> {
  const found = await transaction.select(restoreFindings, { restoreId: restore.id });
  const contrary = found.filter(contradicts).map(({ payoutId }) => payoutId);
  const begun = found.filter((one) => !contradicts(one)).map(({ payoutId }) => payoutId);
  const raise = `stuck_since=COALESCE(stuck_since, ${time.literal(now)}), stuck_reason='contradiction'`;
  const begin = `status='in_progress', submitted_at=GREATEST(approved_at, ${time.literal(now)}),
    stuck_since=IF(stuck_reason='no_outcome', NULL, stuck_since), stuck_reason=NULLIF(stuck_reason, 'no_outcome')`;
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

/** What was held for rails that have been asked since, and that they do not know, can be ended again. */
export async function releaseUnknown(
  { database }: DatabaseDeps,
  { id: restoreId }: Restore,
  asked: Iterable<string>,
): Promise<void> {
  const rails = [...asked];
  if (rails.length === 0) return;
  const restore = uuid.literal(restoreId);
  const isHeld = `rail IN (${literals(payouts, 'rail', rails)}) AND stuck_reason='contradiction'
    AND stuck_since>=(SELECT r.finished_at FROM restores r WHERE r.id=${restore})
    AND NOT EXISTS (SELECT 1 FROM restore_findings f
      WHERE f.restore_id=${restore} AND f.payout_id=payouts.id AND f.kind<>'goes_on')
    AND NOT EXISTS (SELECT 1 FROM payout_rail_events e WHERE e.payout_id=payouts.id AND e.effect='conflict')`;
  const held = await database.reader.list(payouts, `FORCE INDEX (stuck) WHERE stuck_since IS NOT NULL AND ${isHeld}`);
  for (const { id, sourceAccountId } of held)
    await transact(database, async (transaction) => {
      await lockAccount(transaction, sourceAccountId);
      const own = `id=${uuid.literal(id)} AND ${isHeld}`;
      await transaction.execute(`UPDATE payouts SET stuck_since=NULL, stuck_reason=NULL WHERE ${own}`);
    });
}
