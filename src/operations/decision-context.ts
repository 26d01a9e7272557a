import { type Asset, ASSETS } from '../core/amount.js';
import { firstIdAt, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { integer, nullable, time } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type Approval, approvals } from '../db/entities/approvals.js';
import { balances, entries, holds, noBalance } from '../db/entities/ledger.js';
import { transfers } from '../db/entities/operations.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { readLimitState } from './limits.js';

/** Reads by indexes what a person who decides about a payment needs to know about its account. */

/** A payment, or several from one account, that a person decides about. */
export interface Decision {
  /** The account that the money leaves, or that is adjusted. */
  readonly accountId: Uuid;
  readonly asset: Asset;
  /** An account, or the payout to a bank account or key. Absent for several recipients. */
  readonly recipient?: Uuid | Payout;
}

/** Rows of one account that are examined for each answer. */
export const MAX_EXAMINED = 5_000;
const DAYS = 30;
const DAY_MS = 86_400_000;
/** Age of an operation at which it can still be approved. */
const OLDEST_MS = 62 * DAY_MS;
const SHOWN_APPROVALS = 10;

/** Payments to a recipient. If not all rows were examined, there may be earlier ones. */
export interface EarlierPaid {
  readonly count: number;
  readonly lastAt: Instant | null;
  readonly areAllExamined: boolean;
}

/** Returns undefined for the id of no account. */
export async function readDecisionContext(reader: Reader, decision: Decision, now: Instant) {
  const { accountId, asset, recipient } = decision;
  const account = await reader.find(accounts, { id: accountId });
  if (account === undefined) return undefined;
  const [balance, limits, paid, approved] = await Promise.all([
    reader.find(balances, { accountId, asset }),
    readLimitState(reader, account, now),
    recipient === undefined ? null : readEarlierPaid(reader, account, recipient),
    readApproved(reader, accountId, now),
  ]);
  return {
    balance: balance ?? noBalance(account, asset),
    limit: limits.find((one) => one.asset === asset),
    paid,
    approved,
  };
}

async function readEarlierPaid(
  reader: Reader,
  { id: payer }: Account,
  recipient: Uuid | Payout,
): Promise<EarlierPaid> {
  if (typeof recipient !== 'string') return readPayouts(reader, recipient);
  // The recipient usually has fewer entries than the payer.
  const received = await readEntries(reader, recipient, payer, ['transfer_in', 'bonus_in']);
  if (received.areAllExamined || received.count > 0) return received;
  return readEntries(reader, payer, recipient, ['transfer_out', 'bonus_out']);
}

/** Counts the newest entries of the account with this counterparty. */
function readEntries(
  reader: Reader,
  accountId: Uuid,
  counterparty: Uuid,
  kinds: readonly ('transfer_in' | 'bonus_in' | 'transfer_out' | 'bonus_out')[],
): Promise<EarlierPaid> {
  const ofKind = kinds.map((kind) => literal(entries, 'kind', kind)).join(',');
  return countPaid(
    reader,
    `SELECT created_at, counterparty_account_id=${literal(entries, 'counterpartyAccountId', counterparty)}
       AND kind IN (${ofKind}) AS is_paid
     FROM entries FORCE INDEX (PRIMARY) WHERE account_id=${literal(entries, 'accountId', accountId)}
     ORDER BY seq DESC`,
  );
}

/** Columns that describe where a payout goes, without secrets. */
const DESTINATION = [
  ...(['country', 'bankCode', 'accountType', 'accountEnd', 'holderName'] as const),
  ...(['keyType', 'keyEnd'] as const),
];

/** Counts the newest payouts that were paid to a bank account or key that looks the same. */
function readPayouts(reader: Reader, payout: Payout): Promise<EarlierPaid> {
  const same = DESTINATION.map(
    (name) => `${payouts.column(name).name} <=> ${literal(payouts, name, payout[name])}`,
  );
  return countPaid(
    reader,
    `SELECT created_at, id<>${literal(payouts, 'id', payout.id)}
       AND status=${literal(payouts, 'status', 'completed')} AND ${same.join(' AND ')} AS is_paid
     FROM payouts FORCE INDEX (source)
     WHERE source_account_id=${literal(payouts, 'sourceAccountId', payout.sourceAccountId)}
     ORDER BY created_at DESC, id DESC`,
  );
}

async function countPaid(reader: Reader, rowsSql: string): Promise<EarlierPaid> {
  const [row] = await reader.query(
    `SELECT COUNT(*) AS examined, COALESCE(SUM(is_paid),0) AS found,
       MAX(IF(is_paid, created_at, NULL)) AS last_at
     FROM (${rowsSql} LIMIT ${MAX_EXAMINED + 1}) newest`,
  );
  return {
    count: integer.parse(row?.found),
    lastAt: nullable(time).parse(row?.last_at),
    areAllExamined: integer.parse(row?.examined) <= MAX_EXAMINED,
  };
}

/** An approval of the last 30 days, and what was approved. */
interface Approved {
  readonly approval: Approval;
  readonly operation:
    { readonly id: Uuid; readonly raw: bigint; readonly asset: Asset } | undefined;
}

/** Returns the newest approvals of the account. Every operation that waits for approval has a hold. */
async function readApproved(
  reader: Reader,
  accountId: Uuid,
  now: Instant,
): Promise<readonly Approved[]> {
  const own = `SELECT resource_id FROM holds FORCE INDEX (account)
    WHERE account_id=${literal(holds, 'accountId', accountId)} AND asset=`;
  const oldest = literal(holds, 'resourceId', firstIdAt(now - OLDEST_MS));
  // The ids in the index are ordered by time, for each amount that remains.
  const held = ASSETS.map((asset) => own + literal(holds, 'asset', asset)).flatMap((one) => [
    `(${one} AND remaining=0 AND resource_id>=${oldest} ORDER BY resource_id DESC LIMIT ${MAX_EXAMINED})`,
    `(${one} AND remaining>0 LIMIT ${MAX_EXAMINED})`,
  ]);
  const since = literal(approvals, 'createdAt', instant(now - DAYS * DAY_MS));
  const rows = await reader.query(
    `SELECT ${columnList(approvals, 'a')} FROM (${held.join(' UNION ALL ')}) h
     STRAIGHT_JOIN approvals a FORCE INDEX (approver) ON a.resource_id=h.resource_id
     WHERE a.created_at>=${since} ORDER BY a.created_at DESC, a.id DESC LIMIT ${SHOWN_APPROVALS}`,
  );
  const found = rows.map((row) => parseRow(approvals, row));
  const id = [...new Set(found.map(({ resourceId }) => resourceId))];
  const operations = await Promise.all([
    reader.select(transfers, { id }),
    reader.select(payouts, { id }),
  ]);
  const byId = new Map(operations.flat().map((operation) => [operation.id, operation]));
  return found.map((approval) => ({ approval, operation: byId.get(approval.resourceId) }));
}
