import { assertStatementQuota } from '../access/quotas.js';
import { ApiError, type CommandResult, invalidField, type Refusal } from '../core/errors.js';
import type { RequestKey } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Database, Reader } from '../db/database.js';
import { memberRoles, tenants } from '../db/entities/parties.js';
import { type Statement, statements } from '../db/entities/statements.js';
import { findSeqRanges } from '../accounts/movements.js';
import { assertSettled, awaitPostings, type ReadingDeps, totalsAt } from '../accounts/balances.js';
import { assertAllowed, readAccount, readReach } from '../accounts/access.js';
import { writeKeyed } from '../ledger/keyed-writes.js';
import type { Amount } from '../core/amount.js';
import type { Page, TimePosition } from '../core/page.js';
import { uuid } from '../db/columns.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { readVisible } from '../db/visible-list.js';
import type { FileKind } from '../spreadsheets/open-sheet.js';
import { pieceReader, type StoredFiles } from '../spreadsheets/generated-files.js';

/** The period includes both `from` and `to`. */
interface StatementRequest {
  readonly accountId: Uuid;
  readonly asset: Amount['asset'];
  readonly from: Instant;
  readonly to: Instant;
}

/** Limit of movements in all assets, so that spreadsheet programs can open the file. */
export const MAX_MOVEMENTS = 500_000;

function assertPeriod({ from, to }: Pick<StatementRequest, 'from' | 'to'>): void {
  if (to < from) throw new ApiError(invalidField('to', 'before_from'));
}

export function assertNotTooLong(movements: bigint): void {
  if (movements <= BigInt(MAX_MOVEMENTS)) return;
  const refusal: Refusal = {
    code: 'quota_exceeded',
    message: `the account has ${movements} movements in the period, and a statement at most ${MAX_MOVEMENTS}`,
    details: { quota: 'movements', used: movements.toString(), limit: String(MAX_MOVEMENTS) },
  };
  throw new ApiError(refusal);
}

export type CreateDeps = ReadingDeps;

/** Creates a statement and fixes its figures; the files follow. (docs/contract.md, Statements) */
export async function createStatement(
  deps: CreateDeps,
  caller: Caller,
  id: Uuid,
  statementRequest: StatementRequest,
  idempotency: RequestKey,
): Promise<CommandResult<Statement>> {
  const { database, databaseClock } = deps;
  const { tenantId, deadline } = caller;
  const request = {
    kind: { resourceType: 'statement', table: statements },
    command: { ...idempotency, tenantId },
  } as const;
  const now = await databaseClock.read(database.lookup);
  // Settled figures never change, so they are read outside the transaction. A refusal is thrown
  // later, because the key may already have a result.
  const figures = await readFigures(deps, caller, statementRequest, now).catch(
    (failure: unknown) => {
      if (failure instanceof ApiError) return failure;
      throw failure;
    },
  );
  return writeKeyed(database, request, deadline, async (transaction) => {
    if (figures instanceof ApiError) throw figures;
    // Locks the tenant, so that concurrent requests cannot exceed its quota.
    await transaction.find(tenants, { id: tenantId }, { forUpdate: true });
    await assertStatementQuota(transaction, tenantId, figures.entryCount);
    return { row: newStatement(id, caller, statementRequest, figures, now) };
  });
}

type Figures = Pick<Statement, 'openingRaw' | 'closingRaw' | 'entryCount'>;

async function readFigures(
  { database }: CreateDeps,
  caller: Caller,
  { accountId, asset, from, to }: StatementRequest,
  now: Instant,
): Promise<Figures> {
  assertPeriod({ from, to });
  assertSettled('to', to, now);
  const reader = database.readerFor(caller);
  const account = await readAccount(reader, caller, accountId, 'readAccount', 'account_id');
  if (to < account.createdAt) throw new ApiError(invalidField('to', 'before_opening'));
  await awaitPostings(database, [accountId], to, caller);
  const entryCount = await countEntries(reader, accountId, from, to);
  assertNotTooLong(entryCount);
  const before = await totalsAt(reader, [accountId], instant(from - 1));
  const after = await totalsAt(reader, [accountId], to);
  const openingRaw = before.get(accountId)?.[asset] ?? 0n;
  const closingRaw = after.get(accountId)?.[asset] ?? 0n;
  return { openingRaw, closingRaw, entryCount: Number.parseInt(entryCount.toString(), 10) };
}

/** Entries are numbered without gaps, so they need not be counted. */
async function countEntries(
  reader: Reader,
  accountId: Uuid,
  from: Instant,
  to: Instant,
): Promise<bigint> {
  const ranges = await findSeqRanges(reader, accountId, { from, to });
  return ranges.reduce(
    (sum, { first, last }) => (last === null || last < first ? sum : sum + last - first + 1n),
    0n,
  );
}

function newStatement(
  id: Uuid,
  { tenantId, memberId }: Caller,
  { accountId, asset, from, to }: StatementRequest,
  figures: Figures,
  createdAt: Instant,
): Statement {
  return {
    id,
    tenantId,
    accountId,
    asset,
    fromAt: from,
    toAt: to,
    ...figures,
    status: 'preparing',
    createdBy: memberId,
    createdAt,
    generationAttempt: 0,
    leaseUntil: null,
    generatedAt: null,
    movementCount: null,
    csvBytes: null,
    xlsxBytes: null,
  };
}

/** Returns one of the tenant's statements. Throws not_found, authority_insufficient. */
export async function readStatement(reader: Reader, caller: Caller, id: Uuid): Promise<Statement> {
  const member = literal(memberRoles, 'memberId', caller.memberId);
  const [row] = await reader.query(
    `SELECT r.role AS caller_role, ${columnList(statements, 's')} FROM statements s
     LEFT JOIN member_roles r ON r.account_id=s.account_id AND r.member_id=${member}
     WHERE s.id=${uuid.literal(id)} AND s.tenant_id=${uuid.literal(caller.tenantId)}`,
  );
  assertAllowed('readAccount', row);
  return parseRow(statements, row);
}

/** Returns statements of accounts in which the member has a role, newest first. */
export async function listStatements(
  reader: Reader,
  { tenantId, memberId }: Caller,
  accountId: Uuid | undefined,
  before: TimePosition | null,
  limit: number,
): Promise<Page<Statement>> {
  // A foreign account gives an empty list, as for operations.
  if (accountId !== undefined) {
    const reach = await readReach(reader, [{ tenantId, accountId }]);
    if (!reach.owns(tenantId, accountId)) return { items: [], next: null };
  }
  const rows =
    accountId === undefined
      ? { index: 'tenant', within: [`t.tenant_id=${uuid.literal(tenantId)}`] }
      : { index: 'account', within: [`t.account_id=${uuid.literal(accountId)}`] };
  const filters = [
    `l.tenant_id=${uuid.literal(tenantId)}`,
    `EXISTS (SELECT 1 FROM member_roles r WHERE r.account_id=l.account_id
       AND r.member_id=${literal(memberRoles, 'memberId', memberId)})`,
  ];
  return readVisible(reader, { table: statements, ...rows, filters }, before, limit);
}

/** Opens a file of the statement. Throws not_found if the statement or its file does not exist. */
export async function openStatement(
  database: Database,
  files: StoredFiles,
  caller: Caller,
  id: Uuid,
  format: FileKind,
): Promise<AsyncIterable<Buffer>> {
  const reader = database.readerFor(caller);
  const { csvBytes, xlsxBytes } = await readStatement(reader, caller, id);
  const size = format === 'csv' ? csvBytes : xlsxBytes;
  const file = { tenantId: caller.tenantId, id, format, size };
  // The download itself may take longer than the request's deadline.
  return files.open(file, pieceReader(database.reader, id, format));
}
