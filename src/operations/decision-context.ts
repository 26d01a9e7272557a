import { type Asset, ASSETS } from '../core/amount.js';
import { firstIdAt, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { integer, nullable, string, time, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type Approval, approvals } from '../db/entities/approvals.js';
import { balances, entries, holds, noBalance } from '../db/entities/ledger.js';
import { transfers } from '../db/entities/operations.js';
import { accounts } from '../db/entities/parties.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { columnList, literal, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { readLimitStates } from './limits.js';

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
  const [[context], approved] = await Promise.all([
    readDecisionContexts(reader, [decision], now),
    readApproved(reader, decision.accountId, now),
  ]);
  return context && { ...context, approved };
}

export type DecisionContext = Awaited<ReturnType<typeof readDecisionContexts>>[number];

/** Returns what is known about each decision, in their order: undefined for the id of no account. */
export async function readDecisionContexts(
  reader: Reader,
  decisions: readonly Decision[],
  now: Instant,
) {
  const accountId = [...new Set(decisions.map((decision) => decision.accountId))];
  const found = await reader.select(accounts, { id: accountId });
  const [own, limits, paid] = await Promise.all([
    reader.select(balances, { accountId }),
    readLimitStates(reader, found, now),
    readEarlierPaid(reader, decisions),
  ]);
  return decisions.map((decision) => {
    const { accountId: id, asset } = decision;
    const index = found.findIndex((account) => account.id === id);
    const account = found[index];
    const balance = own.find((one) => one.accountId === id && one.asset === asset);
    return (
      account && {
        balance: balance ?? noBalance(account, asset),
        limit: limits[index]?.find((one) => one.asset === asset),
        paid: paid.get(decision) ?? null,
      }
    );
  });
}

/** A decision, whose payments are those of an account to `key`, which the SQL of the search returns. */
interface Search {
  readonly decision: Decision;
  readonly accountId: Uuid;
  readonly key: string;
}

/** Returns what was paid before to the recipients of the decisions. */
async function readEarlierPaid(
  reader: Reader,
  decisions: readonly Decision[],
): Promise<ReadonlyMap<Decision, EarlierPaid>> {
  const toBanks = decisions.flatMap((decision): Search[] => {
    const { accountId, recipient } = decision;
    return typeof recipient === 'object' ? [{ decision, accountId, key: keyOf(recipient) }] : [];
  });
  const received = decisions.flatMap((decision): Search[] => {
    const { accountId, recipient } = decision;
    const key = accountId.replaceAll('-', '');
    return typeof recipient === 'string' ? [{ decision, accountId: recipient, key }] : [];
  });
  const [paid, found] = await Promise.all([
    countPaid(reader, toBanks, payoutsSql(toBanks)),
    // The recipient usually has fewer entries than the payer.
    countPaid(reader, received, entriesSql(['transfer_in', 'bonus_in'])),
  ]);
  const sent = received.flatMap(({ decision, accountId }): Search[] => {
    const known = found.get(decision);
    const isClear = known !== undefined && (known.areAllExamined || known.count > 0);
    const key = accountId.replaceAll('-', '');
    return isClear ? [] : [{ decision, accountId: decision.accountId, key }];
  });
  const others = await countPaid(reader, sent, entriesSql(['transfer_out', 'bonus_out']));
  return new Map([...paid, ...found, ...others]);
}

/** Returns the SQL of an account's newest rows, with whom they paid. */
type NewestSql = (accountId: Uuid) => string;

function entriesSql(
  kinds: readonly ('transfer_in' | 'bonus_in' | 'transfer_out' | 'bonus_out')[],
): NewestSql {
  return (accountId) =>
    `SELECT account_id, created_at,
       IF(kind IN (${literals(entries, 'kind', kinds)}), LOWER(HEX(counterparty_account_id)), NULL) AS paid_to
     FROM entries FORCE INDEX (PRIMARY) WHERE account_id=${literal(entries, 'accountId', accountId)}
     ORDER BY seq DESC`;
}

/** Columns that describe where a payout goes, without secrets. Only the last may contain the separator. */
const DESTINATION = [
  ...(['country', 'bankCode', 'accountType', 'accountEnd'] as const),
  ...(['keyType', 'keyEnd', 'holderName'] as const),
];

/** Returns a text that is the same for payouts to bank accounts or keys that look the same. */
function keyOf(payout: Payout): string {
  return DESTINATION.map((name) => payout[name] ?? '').join('|');
}

/** The payouts that are decided do not count. */
function payoutsSql(searches: readonly Search[]): NewestSql {
  const decided = searches.flatMap(({ decision: { recipient } }) =>
    typeof recipient === 'object' ? recipient.id : [],
  );
  const ids = literals(payouts, 'id', decided);
  const parts = DESTINATION.map((name) => `IFNULL(${payouts.column(name).name},'')`);
  return (accountId) =>
    `SELECT source_account_id AS account_id, created_at,
       IF(status=${literal(payouts, 'status', 'completed')} AND id NOT IN (${ids}), CONCAT_WS('|',${parts.join(',')}), NULL) AS paid_to
     FROM payouts FORCE INDEX (source) WHERE source_account_id=${literal(payouts, 'sourceAccountId', accountId)}
     ORDER BY created_at DESC, id DESC`;
}

/** Counts the payments among the newest rows of the accounts, with one statement for all. */
async function countPaid(
  reader: Reader,
  searches: readonly Search[],
  newestSql: NewestSql,
): Promise<ReadonlyMap<Decision, EarlierPaid>> {
  if (searches.length === 0) return new Map();
  const newest = [...new Set(searches.map(({ accountId }) => accountId))].map(
    (id) => `(${newestSql(id)} LIMIT ${MAX_EXAMINED + 1})`,
  );
  const keys = [...new Set(searches.map(({ key }) => string.literal(key)))].join(',');
  const rows = await reader.query(
    `SELECT account_id, IF(paid_to IN (${keys}), paid_to, NULL) AS one, COUNT(*) AS found, MAX(created_at) AS last_at
     FROM (${newest.join(' UNION ALL ')}) newest GROUP BY account_id, one`,
  );
  const groups = rows.map((row) => ({
    accountId: uuid.parse(row.account_id),
    key: nullable(string).parse(row.one),
    count: integer.parse(row.found),
    lastAt: time.parse(row.last_at),
  }));
  return new Map(
    searches.map(({ decision, accountId, key }) => {
      const own = groups.filter((group) => group.accountId === accountId);
      const { count, lastAt } = own.find((group) => group.key === key) ?? NONE;
      const examined = own.reduce((sum, group) => sum + group.count, 0);
      return [decision, { count, lastAt, areAllExamined: examined <= MAX_EXAMINED }];
    }),
  );
}

const NONE = { count: 0, lastAt: null };

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
