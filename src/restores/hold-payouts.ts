import { newId } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { outbox } from '../db/entities/outbox.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { RESTORE_FINDINGS, type Restore, restoreFindings } from '../db/entities/restores.js';
import { insertSql, literals } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { lockAccount } from '../accounts/access.js';
import { outboxEntry } from '../temporal/outbox.js';
import { isLossy } from './rules.js';

const ROWS_PER_SEARCH = 10_000;
const SLICE = 500;

/**
 * Holds payouts that rails may have received in the lost time, so that only the rail's report ends
 * them. Runs while the ledger is closed, and may be repeated.
 */
export async function holdPayouts(
  { database, clock }: DatabaseDeps,
  restore: Restore,
  unqueriedRails: readonly string[],
): Promise<void> {
  for (const rule of holdRules(clock()))
    for (;;) {
      const changes = await readChanges(database.current, rule, restore, unqueriedRails);
      if (changes.length === 0) break;
      for (const change of changes)
        await transact(database, (transaction) => transaction.execute(change));
    }
}

/** Holds payouts that changed since `holdPayouts`, in the transaction that opens the ledger. */
export async function holdNewerPayouts(
  transaction: Transaction,
  restore: Restore,
  unqueriedRails: readonly string[],
  now: Instant,
): Promise<void> {
  for (const rule of holdRules(now))
    for (const change of await readChanges(transaction, rule, restore, unqueriedRails))
      await transaction.execute(change);
}

/** A change of the payouts with certain findings, and of those whose rail was not queried. */
interface HoldRule {
  readonly set: string;
  readonly finding: string;
  readonly status: Payout['status'];
  readonly isUnheld: string;
}

function holdRules(now: Instant): readonly HoldRule[] {
  const set = `stuck_since=COALESCE(stuck_since, ${time.literal(now)}), stuck_reason='contradiction'`;
  const isUnheld = `NOT stuck_reason<=>'contradiction'`;
  return [
    { set, finding: `f.kind<>'goes_on'`, status: 'pending_approval', isUnheld },
    { set: submitSql(now), finding: `f.kind='goes_on'`, status: 'approved', isUnheld: 'TRUE' },
  ];
}

async function readChanges(
  reader: Pick<Reader, 'query'>,
  { set, finding, status, isUnheld }: HoldRule,
  restore: Restore,
  unqueriedRails: readonly string[],
): Promise<readonly string[]> {
  const ofRails =
    unqueriedRails.length > 0 && isLossy(restore)
      ? `rail IN (${literals(payouts, 'rail', unqueriedRails)})`
      : 'FALSE';
  const rows = await reader.query(
    `(SELECT p.id FROM restore_findings f STRAIGHT_JOIN payouts p ON p.id=f.payout_id
      WHERE f.restore_id=${uuid.literal(restore.id)} AND ${finding} AND p.status IN ('approved','${status}') AND ${isUnheld}
      LIMIT ${ROWS_PER_SEARCH})
     UNION (SELECT id FROM payouts FORCE INDEX (expiring) WHERE status='${status}' AND ${ofRails} AND ${isUnheld}
      LIMIT ${ROWS_PER_SEARCH})`,
  );
  const changes: string[] = [];
  for (let from = 0; from < rows.length; from += SLICE) {
    const ids = rows.slice(from, from + SLICE).map((row) => uuid.parse(row.id));
    const own = `id IN (${literals(payouts, 'id', ids)}) AND status IN ('approved','${status}') AND ${isUnheld}`;
    changes.push(`UPDATE payouts SET ${set} WHERE ${own}`);
  }
  return changes;
}

/** Marks a payout as submitted, so that its workflow asks the rail before it submits. */
function submitSql(now: Instant): string {
  return `status='in_progress', submitted_at=GREATEST(approved_at, ${time.literal(now)}),
    stuck_since=IF(stuck_reason='no_outcome', NULL, stuck_since), stuck_reason=NULLIF(stuck_reason, 'no_outcome')`;
}

const CLOCKS_APART = 'INTERVAL 1 MINUTE';

/**
 * Releases held payouts of rails that were queried after the ledger was opened. A payout that was
 * approved meanwhile becomes in progress if the rail may have it. A payout that the rail does not
 * know can end again.
 */
export async function settlePayouts(
  deps: DatabaseDeps,
  restore: Restore,
  queriedRails: Iterable<string>,
): Promise<void> {
  const rails = [...queriedRails];
  if (rails.length === 0) return;
  const ofRails = `rail IN (${literals(payouts, 'rail', rails)})`;
  const finding = `SELECT 1 FROM restore_findings f WHERE f.restore_id=${uuid.literal(restore.id)}
    AND f.kind IN (${literals(restoreFindings, 'kind', RESTORE_FINDINGS)}) AND f.${ofRails} AND f.payout_id=payouts.id`;
  const continuesSql = `status='approved' AND ${ofRails} AND EXISTS (${finding} AND f.kind='goes_on')`;
  // A payout with another contradiction stays flagged.
  const agreesSql = `${ofRails} AND stuck_reason='contradiction'
    AND stuck_since>=${time.literal(restore.beganAt)}-${CLOCKS_APART}
    AND NOT EXISTS (${finding} AND (f.kind<>'goes_on' OR payouts.status='approved'))
    AND NOT EXISTS (SELECT 1 FROM payout_rail_events e
      WHERE e.payout_id=payouts.id AND (e.effect='conflict' OR e.kind='statement') AND e.at>=payouts.stuck_since-${CLOCKS_APART})`;
  const { reader } = deps.database;
  const begun = await reader.list(payouts, `FORCE INDEX (expiring) WHERE ${continuesSql}`);
  const agreeing = await reader.list(
    payouts,
    `FORCE INDEX (stuck) WHERE stuck_since IS NOT NULL AND ${agreesSql}`,
  );
  for (const payout of [...begun, ...agreeing])
    await settlePayout(deps, payout, continuesSql, agreesSql);
}

async function settlePayout(
  { database, clock }: DatabaseDeps,
  { id, tenantId, sourceAccountId }: Payout,
  continuesSql: string,
  agreesSql: string,
): Promise<void> {
  const own = `id=${uuid.literal(id)}`;
  await transact(database, async (transaction) => {
    await lockAccount(transaction, sourceAccountId);
    const now = clock();
    const begun = await transaction.execute(
      `UPDATE payouts SET ${submitSql(now)} WHERE ${own} AND ${continuesSql}`,
    );
    await transaction.execute(
      `UPDATE payouts SET stuck_since=NULL, stuck_reason=NULL WHERE ${own} AND ${agreesSql}`,
    );
    if (begun === 0) return;
    const entry = { outboxId: newId(), tenantId, resourceType: 'payout', resourceId: id } as const;
    await transaction.execute(insertSql(outbox, [outboxEntry(entry, now)]));
  });
}
