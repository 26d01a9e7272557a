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

/** Holds payouts that rails may have received in the lost time: only the rail's report ends them. */

const ROWS_PER_SEARCH = 10_000;
const SLICE = 500;

/** Prevents payouts from ending while the ledger is closed. May be repeated. */
export async function holdPayouts(
  { database, clock }: DatabaseDeps,
  restore: Restore,
  leftOutRails: readonly string[],
): Promise<void> {
  for (const rule of holdRules(clock()))
    for (;;) {
      const changes = await changesFor(database.current, rule, restore, leftOutRails);
      if (changes.length === 0) break;
      for (const change of changes)
        await transact(database, (transaction) => transaction.execute(change));
    }
}

/** Prevents newer payouts from ending, in the transaction that opens the ledger. */
export async function holdNewerPayouts(
  transaction: Transaction,
  restore: Restore,
  leftOutRails: readonly string[],
  now: Instant,
): Promise<void> {
  for (const rule of holdRules(now))
    for (const change of await changesFor(transaction, rule, restore, leftOutRails))
      await transaction.execute(change);
}

/** A change of the payouts that have certain findings or whose rail was left out. */
interface HoldRule {
  readonly set: string;
  readonly finding: string;
  readonly status: Payout['status'];
  readonly isOpen: string;
}

function holdRules(now: Instant): readonly HoldRule[] {
  const set = `stuck_since=COALESCE(stuck_since, ${time.literal(now)}), stuck_reason='contradiction'`;
  const isOpen = `NOT stuck_reason<=>'contradiction'`;
  return [
    { set, finding: `f.kind<>'goes_on'`, status: 'pending_approval', isOpen },
    { set: beginSql(now), finding: `f.kind='goes_on'`, status: 'approved', isOpen: 'TRUE' },
  ];
}

async function changesFor(
  reader: Pick<Reader, 'query'>,
  { set, finding, status, isOpen }: HoldRule,
  restore: Restore,
  leftOutRails: readonly string[],
): Promise<readonly string[]> {
  const ofRails =
    leftOutRails.length > 0 && isLossy(restore)
      ? `rail IN (${literals(payouts, 'rail', leftOutRails)})`
      : 'FALSE';
  const rows = await reader.query(
    `(SELECT p.id FROM restore_findings f STRAIGHT_JOIN payouts p ON p.id=f.payout_id
      WHERE f.restore_id=${uuid.literal(restore.id)} AND ${finding} AND p.status IN ('approved','${status}') AND ${isOpen}
      LIMIT ${ROWS_PER_SEARCH})
     UNION (SELECT id FROM payouts FORCE INDEX (expiring) WHERE status='${status}' AND ${ofRails} AND ${isOpen}
      LIMIT ${ROWS_PER_SEARCH})`,
  );
  const changes: string[] = [];
  for (let from = 0; from < rows.length; from += SLICE) {
    const ids = rows.slice(from, from + SLICE).map((row) => uuid.parse(row.id));
    const own = `id IN (${literals(payouts, 'id', ids)}) AND status IN ('approved','${status}') AND ${isOpen}`;
    changes.push(`UPDATE payouts SET ${set} WHERE ${own}`);
  }
  return changes;
}

/** Marks a payout as submitted, so that its workflow asks the rail before it submits. */
function beginSql(now: Instant): string {
  return `status='in_progress', submitted_at=GREATEST(approved_at, ${time.literal(now)}),
    stuck_since=IF(stuck_reason='no_outcome', NULL, stuck_since), stuck_reason=NULLIF(stuck_reason, 'no_outcome')`;
}

const CLOCKS_APART = 'INTERVAL 1 MINUTE';

/**
 * Releases held payouts of rails that were queried after the ledger was opened. A payout that was
 * approved meanwhile is in progress if the rail may have it. A payout that the rail does not know
 * can end again.
 */
export async function settlePayoutsOf(
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
      `UPDATE payouts SET ${beginSql(now)} WHERE ${own} AND ${continuesSql}`,
    );
    await transaction.execute(
      `UPDATE payouts SET stuck_since=NULL, stuck_reason=NULL WHERE ${own} AND ${agreesSql}`,
    );
    if (begun === 0) return;
    const entry = { outboxId: newId(), tenantId, resourceType: 'payout', resourceId: id } as const;
    await transaction.execute(insertSql(outbox, [outboxEntry(entry, now)]));
  });
}
