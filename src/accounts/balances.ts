import { type Asset, ASSETS, eachAsset } from '../core/amount.js';
import type { Batcher } from '../core/batcher.js';
import { groupBy } from '../core/collections.js';
import { ApiError, invalidField, ledgerUnavailable } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant, toRfc3339 } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import { coalescedReads, transactFor } from '../db/reader.js';
import { bigint, nullable, time, uuid } from '../db/columns.js';
import type { Database, DatabaseDeps, Reader, StoredRow } from '../db/database.js';
import {
  balances,
  entries,
  ENTRY_KINDS,
  type LastPosting,
  lastPostingOf,
} from '../db/entities/ledger.js';
import { accounts, memberRoles } from '../db/entities/parties.js';
import { TransactionRetryable } from '../db/failures.js';
import { columnList, equalsSql, literal, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import {
  type DatabaseClock,
  readClockResetsByAccount,
  SETTLED_AFTER_MS,
} from '../ledger/database-clock.js';
import { assertAllowed, pairsSql, readAccount } from './access.js';
import { findSeqRanges } from './movements.js';

interface BalanceQuery {
  readonly caller: Caller;
  readonly accountId: Uuid;
}

export class Balances {
  private readonly reads: Batcher<BalanceQuery, readonly StoredRow[]>;

  constructor(reader: Reader) {
    this.reads = coalescedReads((queries) => readBalanceRows(reader, queries));
  }

  /**
   * Returns the balances and the instant of the account's last change, read by one statement. Every
   * later commit has a later instant. (docs/decisions/0023-the-database-clock.md)
   */
  async read(caller: Caller, accountId: Uuid): Promise<Readonly<Record<string, unknown>>> {
    const stored = await this.reads.submit({ caller, accountId });
    assertAllowed('readAccount', stored[0]);
    const rows = stored.map((row) => parseRow(balances, row));
    return {
      account_id: accountId,
      balances: ASSETS.map((asset) => {
        const row = rows.find((one) => one.asset === asset);
        const { available, held } = row ?? { available: 0n, held: 0n };
        const texts = { available: available.toString(), held: held.toString() };
        return { asset, ...texts, total: (available + held).toString() };
      }),
      as_of: toRfc3339(lastPostingOf(rows).lastPostedAt),
    };
  }
}

/** Returns for each query the rows of the tenant's own account with the caller's role. */
async function readBalanceRows(
  reader: Reader,
  queries: readonly BalanceQuery[],
): Promise<(key: BalanceQuery) => readonly StoredRow[]> {
  const ids = literals(accounts, 'id', new Set(queries.map(({ accountId }) => accountId)));
  const memberIds = new Set(queries.map(({ caller }) => caller.memberId));
  const members = literals(memberRoles, 'memberId', memberIds);
  const pairs = pairsSql(queries.map((one) => ({ ...one, tenantId: one.caller.tenantId })));
  const [owned, roles] = await Promise.all([
    reader.query(
      `SELECT a.tenant_id, ${columnList(balances, 'b')} FROM accounts a JOIN balances b ON b.account_id=a.id
       WHERE a.id IN (${ids}) AND (a.tenant_id, a.id) IN (${pairs}) AND a.type<>'system'`,
    ),
    reader.query(
      `SELECT account_id, member_id, role FROM member_roles WHERE account_id IN (${ids}) AND member_id IN (${members})`,
    ),
  ]);
  const pairKey = (first: unknown, second: unknown): string =>
    `${uuid.parse(first)}|${uuid.parse(second)}`;
  const byOwner = groupBy(owned, (row) => pairKey(row.tenant_id, row.account_id));
  const role = new Map(roles.map((row) => [pairKey(row.account_id, row.member_id), row.role]));
  return ({ caller, accountId }) =>
    (byOwner.get(`${caller.tenantId}|${accountId}`) ?? []).map((row) => ({
      ...row,
      caller_role: role.get(`${accountId}|${caller.memberId}`) ?? null,
    }));
}

/** Returns the account's last posting. Under its lock, no later one exists. */
export async function readLastPosting(reader: Reader, accountId: Uuid): Promise<LastPosting> {
  return lastPostingOf(await reader.select(balances, { accountId }));
}

type Totals = Readonly<Record<Asset, bigint>>;

/** A position in an account's entries: right after entry `seq`, or before the first if it is 0. */
interface EntryPosition {
  readonly accountId: Uuid;
  readonly seq: bigint;
}

/** Throws invalid_field if postings dated `at` may still be committed. */
export function assertSettled(field: string, at: Instant, now: Instant): void {
  if (at > now) throw new ApiError(invalidField(field, 'in_the_future'));
  if (at > now - SETTLED_AFTER_MS) throw new ApiError(invalidField(field, 'too_recent'));
}

/**
 * Waits for uncommitted postings dated `at` or earlier, which lock the account's row. An account
 * whose last posting is later gets no more of them. Throws ledger_unavailable.
 */
export async function awaitPostings(
  database: Database,
  accountIds: readonly Uuid[],
  at: Instant,
  owner: Caller | null = null,
): Promise<void> {
  const reader = owner === null ? database.reader : database.readerFor(owner);
  const rows = await reader.query(
    `SELECT account_id FROM balances WHERE ${equalsSql(balances, { accountId: accountIds })}
     GROUP BY account_id HAVING MAX(last_posted_at)<=${time.literal(at)}`,
  );
  const id = rows.map((row) => uuid.parse(row.account_id));
  if (id.length === 0) return;
  try {
    await transactFor(owner, database, (transaction) =>
      transaction.select(accounts, { id }, { orderBy: ['id'], forUpdate: true }),
    );
  } catch (failure) {
    throw failure instanceof TransactionRetryable ? ledgerUnavailable() : failure;
  }
}

export interface ReadingDeps extends DatabaseDeps {
  readonly databaseClock: DatabaseClock;
}

/** Returns the balances at a past moment. (docs/contract.md, Balances) */
export async function readPastBalances(
  { database, databaseClock }: ReadingDeps,
  caller: Caller,
  accountId: Uuid,
  at: Instant,
): Promise<Readonly<Record<string, unknown>>> {
  assertSettled('at', at, await databaseClock.read(database.lookup));
  const reader = database.readerFor(caller);
  const account = await readAccount(reader, caller, accountId, 'readAccount');
  if (at < account.createdAt) throw new ApiError(invalidField('at', 'before_opening'));
  await awaitPostings(database, [accountId], at, caller);
  const totals = (await totalsAt(reader, [accountId], at)).get(accountId) ?? ZERO;
  return {
    account_id: accountId,
    balances: ASSETS.map((asset) => ({ asset, total: totals[asset].toString() })),
    as_of: toRfc3339(at),
  };
}

/** Returns the totals at a settled moment, by binary search through the entries. */
export async function totalsAt(
  reader: Reader,
  accountIds: readonly Uuid[],
  at: Instant,
): Promise<ReadonlyMap<Uuid, Totals>> {
  const resets = await readClockResetsByAccount(reader, accountIds);
  const withoutResets = accountIds.filter((id) => !resets.has(id));
  const positions = await findPositions(reader, withoutResets, at);
  const found = new Map(await totalsAtPositions(reader, positions));
  for (const id of accountIds.filter((one) => resets.has(one)))
    found.set(id, await totalsAcrossResets(reader, id, resets.get(id) ?? [], at));
  return found;
}

/** Sums the changes of the balance in each range of entries between two resets of the clock. */
async function totalsAcrossResets(
  reader: Reader,
  accountId: Uuid,
  resets: readonly bigint[],
  at: Instant,
): Promise<Totals> {
  const ranges = await findSeqRanges(reader, accountId, { to: at });
  let sum = ZERO;
  for (const [index, { last }] of ranges.entries()) {
    const begin = resets[index - 1] ?? 0n;
    const totalsAfter = async (seq: bigint): Promise<Totals> =>
      (await totalsAtPositions(reader, [{ accountId, seq }])).get(accountId) ?? ZERO;
    const [before, after] = [await totalsAfter(begin), await totalsAfter(last ?? begin)];
    sum = eachAsset((asset) => sum[asset] + after[asset] - before[asset]);
  }
  return sum;
}

const ZERO: Totals = eachAsset(() => 0n);

/** Finds the last entry of each account dated `at` or earlier, by a binary search. */
async function findPositions(
  reader: Reader,
  accountIds: readonly Uuid[],
  at: Instant,
): Promise<EntryPosition[]> {
  if (accountIds.length === 0) return [];
  const middle = '(h.low+h.high) DIV 2';
  const isEarlier = `e.created_at<${time.literal(instant(at + 1))}`;
  // A missing entry counts as later, so the search always ends.
  const rows = await reader.query(
    `WITH RECURSIVE halves (account_id, low, high) AS (
       SELECT account_id, CAST(1 AS SIGNED), CAST(MAX(seq) AS SIGNED)+1 FROM balances
       WHERE account_id IN (${literals(balances, 'accountId', accountIds)}) GROUP BY account_id
       UNION ALL
       SELECT h.account_id, IF(${isEarlier}, ${middle}+1, h.low), IF(${isEarlier}, h.high, ${middle})
       FROM halves h LEFT JOIN entries e FORCE INDEX (PRIMARY) ON e.account_id=h.account_id AND e.seq=${middle}
       WHERE h.low<h.high)
     SELECT account_id, MAX(low)-1 AS seq FROM halves GROUP BY account_id`,
  );
  return rows.map((row) => ({ accountId: uuid.parse(row.account_id), seq: bigint.parse(row.seq) }));
}

/** Reads the total after the last entry in each asset, found by one index search for each kind. */
async function totalsAtPositions(reader: Reader, positions: readonly EntryPosition[]) {
  if (positions.length === 0) return new Map();
  const selects = positions.map(
    ({ accountId, seq }) => `SELECT ${uuid.literal(accountId)} AS account_id, ${seq} AS seq`,
  );
  const lastSeqs = ASSETS.map(
    (asset) => `GREATEST(${ENTRY_KINDS.map((kind) => lastSeqSql(asset, kind)).join()}) AS ${asset}`,
  );
  const rows = await reader.query(
    `SELECT last_seqs.account_id, ${ASSETS.map((asset) => `e${asset}.total_after AS ${asset}`).join()}
     FROM (SELECT positions.account_id, ${lastSeqs.join()} FROM (${selects.join(' UNION ALL ')}) positions) last_seqs
     ${ASSETS.map((asset) => `LEFT JOIN entries e${asset} ON e${asset}.account_id=last_seqs.account_id AND e${asset}.seq=last_seqs.${asset}`).join(' ')}`,
  );
  return new Map(
    rows.map((row) => [
      uuid.parse(row.account_id),
      eachAsset((asset) => nullable(bigint).parse(row[asset]) ?? 0n),
    ]),
  );
}

/** SQL for the account's last entry of the kind up to the row in `positions`; 0 without one. */
function lastSeqSql(asset: Asset, kind: (typeof ENTRY_KINDS)[number]): string {
  return `COALESCE((SELECT e.seq FROM entries e FORCE INDEX (asset_kind) WHERE e.account_id=positions.account_id
    AND e.asset=${literal(entries, 'asset', asset)} AND e.kind=${literal(entries, 'kind', kind)} AND e.seq<=positions.seq
    ORDER BY e.seq DESC LIMIT 1), 0)`;
}
