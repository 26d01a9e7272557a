import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { Database } from '../db/database.js';
import type { Statement } from '../db/entities/statements.js';
import { writeApart } from '../batches/files/apart/table-writing.js';
import { Turns } from '../batches/files/turns.js';
import { TableFiles, type TablePaths } from '../batches/files/writing/table.js';
import { MakingSuperseded } from '../batches/files/stored-pieces.js';
import { claimStatement, releaseStatement, storeFiles } from './files.js';
import { STATEMENT_COLUMNS, StatementLines } from './lines.js';
import { MAX_MOVEMENTS } from './rules.js';

export interface MakerParts {
  readonly database: Database;
  readonly clock: Clock;
}

/** How long the account's movements in the period are: a long statement never keeps a short one waiting. */
export type Length = 'short' | 'long';

/** A shorter statement is written where it stands: a thread and its packages take half a second. */
const SHORT_ENTRIES = 1_000;
const WITHIN: Readonly<Record<Length, string>> = {
  short: `entry_count<=${SHORT_ENTRIES}`,
  long: `entry_count>${SHORT_ENTRIES}`,
};
/** What a making may take: a minute, and ten for the longest. Behind it another process begins anew. */
const LEASE_MS = 60_000;
const LEASE_OF_THE_LONGEST_MS = 600_000;
const SEEN_AT_ONCE = 1_000;

/** Makes the files of statements. Any number of processes do; each statement is made by one of them at a time. */
export class StatementMaker {
  private lastTenant: Uuid | null = null;

  constructor(
    private readonly parts: MakerParts,
    private readonly length: Length,
  ) {}

  /**
   * Makes one statement that waits, of each tenant in turn. Answers whether there was one. Throws DatabaseUnavailable, the
   * signal's reason, what the file system says.
   */
  async makeNext(signal: AbortSignal): Promise<boolean> {
    const { database, clock } = this.parts;
    const next = await this.next();
    if (next === null) return false;
    this.lastTenant = next.tenantId;
    const claimed = await claimStatement(database, clock, next.id, leaseMsOf);
    if (claimed === null) return true;
    try {
      await this.make(claimed, AbortSignal.any([signal, AbortSignal.timeout(leaseMsOf(claimed))]));
    } catch (failure) {
      // Who stops leaves it to others at once; what fails is tried again when its time is over.
      if (signal.aborted) await releaseStatement(database, claimed);
      if (!(failure instanceof MakingSuperseded)) throw failure;
    }
    return true;
  }

  /** The oldest that waits of the tenant behind the last one, round and round. */
  private async next(): Promise<{ readonly id: Uuid; readonly tenantId: Uuid } | null> {
    const { database, clock } = this.parts;
    const rows = await database.reader.query(
      `SELECT id, tenant_id FROM statements FORCE INDEX (status) WHERE status='preparing' AND ${WITHIN[this.length]}
         AND (lease_until IS NULL OR lease_until<=${time.literal(clock())}) ORDER BY id LIMIT ${SEEN_AT_ONCE}`,
    );
    const waiting = rows.map((row) => ({ id: uuid.parse(row.id), tenantId: uuid.parse(row.tenant_id) }));
    const turn = [...new Set(waiting.map(({ tenantId }) => tenantId))].sort();
    const { lastTenant } = this;
    const tenant = turn.find((one) => lastTenant === null || one > lastTenant) ?? turn[0];
    return waiting.find(({ tenantId }) => tenantId === tenant) ?? null;
  }

  private async make(statement: Statement, signal: AbortSignal): Promise<void> {
    const { database, clock } = this.parts;
    const folder = await mkdtemp(join(tmpdir(), 'statement-'));
    try {
      const paths = { csv: join(folder, 'csv'), xlsx: join(folder, 'xlsx') };
      const lines = new StatementLines(database.reader, statement);
      await (this.length === 'short' ? writeHere : writeInAThread)(lines, paths, signal);
      await storeFiles(database, clock, statement, paths, lines.movements, signal);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

function leaseMsOf({ entryCount }: Statement): number {
  return LEASE_MS + Math.ceil((entryCount / MAX_MOVEMENTS) * LEASE_OF_THE_LONGEST_MS);
}

function writeInAThread(lines: StatementLines, paths: TablePaths, signal: AbortSignal): Promise<void> {
  return writeApart({ columns: STATEMENT_COLUMNS, paths, sheetName: SHEET_NAME }, lines.pieces(), signal);
}

const SHEET_NAME = 'Statement';

async function writeHere(lines: StatementLines, paths: TablePaths, signal: AbortSignal): Promise<void> {
  const files = new TableFiles(STATEMENT_COLUMNS, paths, SHEET_NAME);
  const turns = new Turns();
  try {
    for await (const rows of lines.pieces()) {
      signal.throwIfAborted();
      await files.add(rows);
      await turns.pause();
    }
    await files.end();
  } finally {
    files.destroy();
  }
}
