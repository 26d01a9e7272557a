import { firstIdAt, type Uuid } from '../core/ids.js';
import { instant, type Instant, toRfc3339 } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { Database, DatabaseDeps, Reader } from '../db/database.js';
import { type Statement, statements } from '../db/entities/statements.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import {
  type FileOwner,
  generateFiles,
  GenerationSuperseded,
  removePieces,
  storePieces,
} from '../spreadsheets/generated-files.js';
import { MAX_MOVEMENTS } from './service.js';
import { type Movement, findSeqRanges, readMovementsInRange } from '../accounts/movements.js';
import type { Column, TableRow } from '../spreadsheets/writing/cells.js';
import type { Sweep } from '../temporal/sweeper.js';

/** Separate sweeps make short and long statements, so that no long one delays a short one. */
type StatementLength = 'short' | 'long';

const MAX_SHORT_ENTRIES = 1_000;
const LENGTH_SQL: Readonly<Record<StatementLength, string>> = {
  short: `entry_count<=${MAX_SHORT_ENTRIES}`,
  long: `entry_count>${MAX_SHORT_ENTRIES}`,
};
/** Time limit of an attempt: a minute, and up to ten minutes more for the longest statements. */
const LEASE_MS = 60_000;
const LONGEST_EXTRA_MS = 600_000;
const MAX_CANDIDATES = 1_000;

const OWNER: FileOwner = {
  async lockAttempt(transaction, id) {
    const statement = await transaction.find(statements, { id }, { forUpdate: true });
    return statement?.status === 'preparing' ? statement.generationAttempt : null;
  },
  attemptSql: (id, generationAttempt) => updateSql(statements, { generationAttempt }, { id }),
};

/** Makes the files of statements, each in one process at a time. */
export class StatementMaker {
  private lastTenant: Uuid | null = null;

  constructor(
    private readonly deps: DatabaseDeps,
    private readonly length: StatementLength,
  ) {}

  /** Makes one waiting statement, taking tenants in turn. Returns false if none is waiting. */
  async makeNext(signal: AbortSignal): Promise<boolean> {
    const next = await this.findNext();
    if (next === null) return false;
    this.lastTenant = next.tenantId;
    const claimed = await this.claim(next.id);
    if (claimed === null) return true;
    try {
      await this.make(claimed, AbortSignal.any([signal, AbortSignal.timeout(leaseMsOf(claimed))]));
    } catch (failure) {
      // A failed attempt is repeated when its lease ends.
      if (signal.aborted) await this.release(claimed);
      if (!(failure instanceof GenerationSuperseded)) throw failure;
    }
    return true;
  }

  private async findNext(): Promise<{ readonly id: Uuid; readonly tenantId: Uuid } | null> {
    const { database, clock } = this.deps;
    const rows = await database.reader.query(
      `SELECT id, tenant_id FROM statements FORCE INDEX (status) WHERE status='preparing' AND ${LENGTH_SQL[this.length]}
         AND (lease_until IS NULL OR lease_until<=${time.literal(clock())}) ORDER BY id LIMIT ${MAX_CANDIDATES}`,
    );
    const waiting = rows.map((row) => ({
      id: uuid.parse(row.id),
      tenantId: uuid.parse(row.tenant_id),
    }));
    const tenants = [...new Set(waiting.map(({ tenantId }) => tenantId))].sort();
    const { lastTenant } = this;
    const tenant = tenants.find((id) => lastTenant === null || id > lastTenant) ?? tenants[0];
    return waiting.find(({ tenantId }) => tenantId === tenant) ?? null;
  }

  /** Returns null if another process was first. */
  private claim(id: Uuid): Promise<Statement | null> {
    const { database, clock } = this.deps;
    return transact(database, async (transaction) => {
      const statement = await transaction.find(statements, { id }, { forUpdate: true });
      const now = clock();
      if (statement?.status !== 'preparing' || (statement.leaseUntil ?? 0) > now) return null;
      const leaseUntil = instant(now + leaseMsOf(statement));
      await transaction.execute(updateSql(statements, { leaseUntil }, { id }));
      return { ...statement, leaseUntil };
    });
  }

  private async release({ id, leaseUntil }: Statement): Promise<void> {
    const own = { id, leaseUntil, status: 'preparing' } as const;
    await transact(this.deps.database, (transaction) =>
      transaction.execute(updateSql(statements, { leaseUntil: null }, own)),
    );
  }

  private async make(statement: Statement, signal: AbortSignal): Promise<void> {
    const { database, clock } = this.deps;
    const { id } = statement;
    const lines = new StatementLines(database.reader, statement);
    const table = {
      columns: STATEMENT_COLUMNS,
      sheetName: 'Statement',
      pieces: lines.pieces(),
      isLong: this.length === 'long',
    };
    const files = await generateFiles(database, OWNER, id, table, signal);
    await transact(database, async (transaction) => {
      await storePieces(transaction, OWNER, files);
      const { csvBytes, xlsxBytes } = files;
      const made = { generatedAt: clock(), movementCount: lines.movements, csvBytes, xlsxBytes };
      const ready = { status: 'ready', leaseUntil: null, ...made } as const;
      await transaction.execute(updateSql(statements, ready, { id }));
    });
  }
}

function leaseMsOf({ entryCount }: Statement): number {
  return LEASE_MS + Math.ceil((entryCount / MAX_MOVEMENTS) * LONGEST_EXTRA_MS);
}

/** (docs/contract.md, Statements) */
export const STATEMENT_COLUMNS: readonly Column[] = [
  { name: 'created_at', kind: 'text', width: 26 },
  { name: 'kind', kind: 'text', width: 18 },
  { name: 'amount_in', kind: 'text', width: 22 },
  { name: 'amount_out', kind: 'text', width: 22 },
  { name: 'balance', kind: 'text', width: 22 },
  { name: 'asset', kind: 'text', width: 8 },
  { name: 'counterparty', kind: 'text', width: 30 },
  { name: 'counterparty_alias', kind: 'text', width: 22 },
  { name: 'counterparty_account_id', kind: 'text', width: 38 },
  { name: 'description', kind: 'text', width: 44 },
  { name: 'movement_id', kind: 'text', width: 38 },
  { name: 'related_type', kind: 'text', width: 14 },
  { name: 'related_id', kind: 'text', width: 38 },
];

const ENTRIES_PER_PAGE = 1_000n;
const LINES_PER_PIECE = 100;

/** Reads the lines of a statement's files, one page of entries at a time. */
class StatementLines {
  movements = 0;

  constructor(
    private readonly reader: Reader,
    private readonly statement: Statement,
  ) {}

  /** Throws if the movements do not lead from the opening to the closing balance. */
  async *pieces(): AsyncGenerator<readonly TableRow[]> {
    const { openingRaw, closingRaw, fromAt, toAt } = this.statement;
    yield [this.balanceLine('opening_balance', fromAt, openingRaw)];
    let balance = openingRaw;
    for await (const movements of this.pages()) {
      balance = movements.reduce((sum, { entry }) => sum + entry.raw, balance);
      this.movements += movements.length;
      for (let from = 0; from < movements.length; from += LINES_PER_PIECE)
        yield movements.slice(from, from + LINES_PER_PIECE).map(movementLine);
    }
    if (balance !== closingRaw)
      throw new Error(`the movements of statement ${this.statement.id} do not add up`);
    yield [this.balanceLine('closing_balance', toAt, closingRaw)];
  }

  private async *pages(): AsyncGenerator<readonly Movement[]> {
    const { accountId, asset, fromAt: from, toAt: to } = this.statement;
    for (const { first, last } of await findSeqRanges(this.reader, accountId, { from, to }))
      for (let page = first; last !== null && page <= last; page += ENTRIES_PER_PAGE) {
        const end = page + ENTRIES_PER_PAGE - 1n;
        yield await readMovementsInRange(this.reader, accountId, asset, {
          first: page,
          last: end < last ? end : last,
        });
      }
  }

  private balanceLine(kind: string, at: Statement['fromAt'], raw: bigint): TableRow {
    const rest = STATEMENT_COLUMNS.slice(6).map(() => null);
    return [toRfc3339(at), kind, null, null, raw.toString(), this.statement.asset, ...rest];
  }
}

function movementLine({
  entry,
  counterparty,
  description,
  relatedType,
  relatedId,
}: Movement): TableRow {
  const { raw } = entry;
  return [
    toRfc3339(entry.createdAt),
    entry.kind,
    raw > 0n ? raw.toString() : null,
    raw < 0n ? (-raw).toString() : null,
    entry.totalAfter.toString(),
    entry.asset,
    counterparty.displayName,
    counterparty.alias,
    counterparty.accountId,
    description,
    entry.id,
    relatedType,
    relatedId,
  ];
}

const MAKE_EVERY_MS = 500;
const REMOVE_EVERY_MS = 600_000;
const DAY_MS = 86_400_000;
const REMOVED_AT_ONCE = 20;

/** Makes statements in every worker process, because writing a file occupies a processor. */
export function statementsSweep(deps: DatabaseDeps, length: StatementLength): Sweep {
  const maker = new StatementMaker(deps, length);
  return {
    name: `${length} statements`,
    everyMs: MAKE_EVERY_MS,
    inEveryProcess: true,
    run: (signal) => maker.makeNext(signal),
  };
}

/** Removes the files of statements made this many days ago, and keeps their figures. */
export function expiredStatementsSweep({ database, clock }: DatabaseDeps, keptDays: number): Sweep {
  return {
    name: 'expired statements',
    everyMs: REMOVE_EVERY_MS,
    run: async () =>
      (await removeOldFiles(database, instant(clock() - keptDays * DAY_MS), REMOVED_AT_ONCE)) ===
      REMOVED_AT_ONCE,
  };
}

/**
 * Removes the files of at most `limit` statements, and returns how many. An expired statement keeps
 * its lease until its files are removed, so an interrupted removal is continued.
 */
export async function removeOldFiles(
  database: Database,
  before: Instant,
  limit: number,
): Promise<number> {
  const old = await selectIds(
    database,
    `FORCE INDEX (status) WHERE status='ready' AND id<${uuid.literal(firstIdAt(before))} AND generated_at<${time.literal(before)}`,
    limit,
  );
  const expired = {
    status: 'expired',
    csvBytes: null,
    xlsxBytes: null,
    leaseUntil: before,
  } as const;
  for (const id of old)
    await transact(database, (transaction) =>
      transaction.execute(updateSql(statements, expired, { id, status: 'ready' })),
    );
  for (const id of await selectIds(
    database,
    `FORCE INDEX (leased) WHERE status='expired' AND lease_until IS NOT NULL`,
    limit,
  )) {
    while (await transact(database, (transaction) => removePieces(transaction, id)));
    await transact(database, (transaction) =>
      transaction.execute(updateSql(statements, { leaseUntil: null }, { id, status: 'expired' })),
    );
  }
  return old.length;
}

async function selectIds(database: Database, where: string, limit: number): Promise<Uuid[]> {
  const rows = await database.reader.query(
    `SELECT id FROM statements ${where} ORDER BY id LIMIT ${limit}`,
  );
  return rows.map((row) => uuid.parse(row.id));
}
