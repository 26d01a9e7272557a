import { recordAct } from '../access/audit-log.js';
import { type Clock, type Instant } from '../core/instant.js';
import { SYSTEM_CHAIN } from '../db/audit-hash.js';
import * as column from '../db/columns.js';
import type { Database, DatabaseDeps } from '../db/database.js';
import { auditChains } from '../db/entities/identity.js';
import { restores } from '../db/entities/restores.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import type { Sweep } from '../temporal/sweeper.js';
import { newRestore, restoreAct } from './opening.js';

const EVERY_MS = 10_000;
const ACTOR = { channel: 'ops', name: 'worker' } as const;

interface Seen {
  /** The newest ledger transaction's id, as text that sorts like the ids. */
  readonly youngest: string;
  readonly at: Instant;
}

/**
 * Closes the ledger when it goes backwards under a running worker: ledger transactions are never deleted, so the newest
 * can only be older than before if the database was restored. Checked twice, by reads that are current in a group.
 * Every worker checks for itself: only its memory knows what it has seen, and the leases may be lost with the rest.
 */
export function backwardsSweep({ database, clock }: DatabaseDeps, onFound: (line: string) => void): Sweep {
  let seen: Seen | null = null;
  let isSuspected = false;
  return {
    name: 'put back',
    everyMs: EVERY_MS,
    inEach: true,
    run: async () => {
      const now = { youngest: await youngestId(database), at: clock() };
      if (seen === null || now.youngest >= seen.youngest || (await isKnown(database, seen.at))) {
        seen = now;
        isSuspected = false;
        return false;
      }
      if (isSuspected) {
        await close(database, clock);
        onFound('the database is at an earlier moment than it was: nothing is posted until the restore is finished');
        seen = now;
      }
      isSuspected = !isSuspected;
      return false;
    },
  };
}

async function youngestId(database: Database): Promise<string> {
  const [row] = await database.current.query('SELECT HEX(MAX(id)) AS youngest FROM ledger_transactions');
  return column.nullable(column.string).parse(row?.youngest ?? null) ?? '';
}

/** A restore is open, or has been declared since then. */
async function isKnown(database: Database, since: Instant): Promise<boolean> {
  const at = column.time.literal(since);
  const rows = await database.current.query(
    `SELECT 1 FROM restores WHERE finished_at IS NULL OR finished_at>=${at} LIMIT 1`,
  );
  return rows.length > 0;
}

/** Closes it once, however many workers have noticed. */
async function close(database: Database, clock: Clock): Promise<void> {
  await transact(database, async (transaction) => {
    // Held until the act is recorded: the second one waits here, and finds the ledger closed.
    await transaction.find(auditChains, { chainId: SYSTEM_CHAIN }, { forUpdate: true });
    const open = await transaction.find(restores, { finishedAt: null }, { orderBy: ['id'], forUpdate: true });
    if (open !== undefined) return;
    const now = clock();
    const noticed = { ...newRestore('worker', now), reason: 'the ledger is at an earlier moment than it was' };
    await transaction.execute(insertSql(restores, [noticed]));
    await recordAct(transaction, ACTOR, now, restoreAct('restore.notice', noticed));
  });
}
