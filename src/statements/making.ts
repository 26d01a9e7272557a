import type { Uuid } from '../core/ids.js';
import { time, uuid } from '../db/columns.js';
import type { DatabaseDeps } from '../db/database.js';
import type { Statement } from '../db/entities/statements.js';
import { withTableFiles } from '../spreadsheets/writing/with-table-files.js';
import { GenerationSuperseded } from '../spreadsheets/stored-files.js';
import { claimStatement, releaseStatement, storeFiles } from './files.js';
import { STATEMENT_COLUMNS, StatementLines } from './lines.js';
import { MAX_MOVEMENTS } from './rules.js';

/**
 * The class of a statement by its number of movements, so that a long statement does not delay a
 * short one.
 */
export type Length = 'short' | 'long';

/** Up to this many entries, a statement is short. */
const SHORT_ENTRIES = 1_000;
const WITHIN: Readonly<Record<Length, string>> = {
  short: `entry_count<=${SHORT_ENTRIES}`,
  long: `entry_count>${SHORT_ENTRIES}`,
};
/**
 * How long an attempt may take: a minute, and ten for the longest. Then another process starts
 * over.
 */
const LEASE_MS = 60_000;
const LEASE_OF_THE_LONGEST_MS = 600_000;
const SEEN_AT_ONCE = 1_000;

/**
 * Makes the files of statements. Any number of processes may run; each statement is made by one at
 * a time.
 */
export class StatementMaker {
  private lastTenant: Uuid | null = null;

  constructor(
    private readonly deps: DatabaseDeps,
    private readonly length: Length,
  ) {}

  /**
   * Makes one waiting statement, taking tenants in turn. Returns false if none is waiting. Throws
   * DatabaseUnavailable, the signal's reason, and errors of the file system.
   */
  async makeNext(signal: AbortSignal): Promise<boolean> {
    const { database, clock } = this.deps;
    const next = await this.next();
    if (next === null) return false;
    this.lastTenant = next.tenantId;
    const claimed = await claimStatement(database, clock, next.id, leaseMsOf);
    if (claimed === null) return true;
    try {
      await this.make(claimed, AbortSignal.any([signal, AbortSignal.timeout(leaseMsOf(claimed))]));
    } catch (failure) {
      // A stopping process releases the claim at once; a failed attempt is repeated when its lease
      // ends.
      if (signal.aborted) await releaseStatement(database, claimed);
      if (!(failure instanceof GenerationSuperseded)) throw failure;
    }
    return true;
  }

  /** Returns the oldest waiting statement of the next tenant, round robin. */
  private async next(): Promise<{ readonly id: Uuid; readonly tenantId: Uuid } | null> {
    const { database, clock } = this.deps;
    const rows = await database.reader.query(
      `SELECT id, tenant_id FROM statements FORCE INDEX (status) WHERE status='preparing' AND ${WITHIN[this.length]}
         AND (lease_until IS NULL OR lease_until<=${time.literal(clock())}) ORDER BY id LIMIT ${SEEN_AT_ONCE}`,
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

  private async make(statement: Statement, signal: AbortSignal): Promise<void> {
    const { database, clock } = this.deps;
    const lines = new StatementLines(database.reader, statement);
    const table = {
      columns: STATEMENT_COLUMNS,
      sheetName: 'Statement',
      pieces: lines.pieces(),
      isLong: this.length === 'long',
    };
    await withTableFiles(table, signal, (paths) =>
      storeFiles(database, clock, statement, paths, lines.movements, signal),
    );
  }
}

function leaseMsOf({ entryCount }: Statement): number {
  return LEASE_MS + Math.ceil((entryCount / MAX_MOVEMENTS) * LEASE_OF_THE_LONGEST_MS);
}
