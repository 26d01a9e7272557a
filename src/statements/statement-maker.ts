import type { Uuid } from '../core/ids.js';
import { instant } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { DatabaseDeps } from '../db/database.js';
import { type Statement, statements } from '../db/entities/statements.js';
import { updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import {
  FileGenerator,
  type FileOwner,
  GenerationSuperseded,
  storePieces,
} from '../spreadsheets/generated-files.js';
import { STATEMENT_COLUMNS, StatementLines } from './lines.js';
import { MAX_MOVEMENTS } from './rules.js';

/** Long and short statements are made by separate sweeps, so that no long one delays a short one. */
export type Length = 'short' | 'long';

const SHORT_ENTRIES = 1_000;
const LENGTH_SQL: Readonly<Record<Length, string>> = {
  short: `entry_count<=${SHORT_ENTRIES}`,
  long: `entry_count>${SHORT_ENTRIES}`,
};
/** Time limit of an attempt: a minute, and up to ten minutes more for the longest statements. */
const LEASE_MS = 60_000;
const LONGEST_EXTRA_MS = 600_000;
const CANDIDATES = 1_000;

const OWNER: FileOwner = {
  async lockAttempt(transaction, id) {
    const statement = await transaction.find(statements, { id }, { forUpdate: true });
    return statement?.status === 'preparing' ? statement.filesRun : null;
  },
  attemptSql: (id, filesRun) => updateSql(statements, { filesRun }, { id }),
};

/** Makes the files of statements, each in one process at a time. */
export class StatementMaker {
  private lastTenant: Uuid | null = null;
  private readonly generator: FileGenerator;

  constructor(
    private readonly deps: DatabaseDeps,
    private readonly length: Length,
  ) {
    this.generator = new FileGenerator({ database: deps.database, owner: OWNER });
  }

  /** Makes one waiting statement, taking tenants in turn. Returns false if none is waiting. */
  async makeNext(signal: AbortSignal): Promise<boolean> {
    const next = await this.next();
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

  private async next(): Promise<{ readonly id: Uuid; readonly tenantId: Uuid } | null> {
    const { database, clock } = this.deps;
    const rows = await database.reader.query(
      `SELECT id, tenant_id FROM statements FORCE INDEX (status) WHERE status='preparing' AND ${LENGTH_SQL[this.length]}
         AND (lease_until IS NULL OR lease_until<=${time.literal(clock())}) ORDER BY id LIMIT ${CANDIDATES}`,
    );
    const waiting = rows.map((row) => ({
      id: uuid.parse(row.id),
      tenantId: uuid.parse(row.tenant_id),
    }));
    const turn = [...new Set(waiting.map(({ tenantId }) => tenantId))].sort();
    const { lastTenant } = this;
    const tenant = turn.find((one) => lastTenant === null || one > lastTenant) ?? turn[0];
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
    const files = await this.generator.generate(statement, table, signal, leaseMsOf(statement));
    await transact(database, async (transaction) => {
      await storePieces(transaction, OWNER, files);
      const { csvBytes, xlsxBytes } = files;
      const made = { madeAt: clock(), movementCount: lines.movements, csvBytes, xlsxBytes };
      const ready = { status: 'ready', leaseUntil: null, ...made } as const;
      await transaction.execute(updateSql(statements, ready, { id }));
    });
  }
}

function leaseMsOf({ entryCount }: Statement): number {
  return LEASE_MS + Math.ceil((entryCount / MAX_MOVEMENTS) * LONGEST_EXTRA_MS);
}
