import { createHash } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import { newId, type Uuid } from '../core/ids.js';
import { type Clock, type Instant, instant } from '../core/instant.js';
import { integer, time, uuid } from '../db/columns.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { Deadline } from '../db/deadline.js';
import {
  type AuditFinding,
  auditFindings,
  type AuditPass,
  auditPasses,
  auditPieces,
} from '../db/entities/audits.js';
import { DUPLICATE_KEY, errnoOf } from '../db/failures.js';
import { deleteSql, insertSql, updateSql, upsertSql } from '../db/statements.js';
import { auditSome, type AuditStep, estimateRows } from './audit.js';
import { aheadMs } from './pace.js';
import { type AuditPosition, packPosition, startOfAudit, unpackPosition } from './position.js';
import type { Finding } from './types.js';

interface StandingAuditDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** From the beginning of a pass to that of the next, unless it takes longer. */
  readonly passEveryMs: number;
  /** How long a step may take, not counting the slice under way. */
  readonly workMs: number;
  /** The part of that in which it reads: it leaves the database to others after each slice. */
  readonly share: number;
}

/** The result of a step. `idle`: the last pass ended a short while ago. `superseded`: another step has begun in the meantime. */
export interface StandingStep {
  readonly ended: 'idle' | 'rests' | 'done' | 'superseded';
  readonly rows: number;
  /** Contradictions that it found, including known ones. */
  readonly findings: number;
}

const PIECE_BYTES = 1024 * 1024;
/** The position of a large audit is a few megabytes. */
const STORE_MS = 60_000;
const KEPT_MS = 90 * 86_400_000;
const MAX_SUBJECT = 255;
const MAX_MESSAGE = 2_000;
/** The part of the time from one pass to the next over which a pass spreads its reading. */
const SPREAD = 0.9;
const FINDINGS_AT_ONCE = 500;

/**
 * The audit of the whole ledger in steps, each of which continues where the last one stopped, in any process. Findings are
 * stored. Safe to run twice and to abandon: only the latest step writes. (docs/operations.md, The audit that runs by itself)
 */
export class StandingAudit {
  private readonly spreadMs: number;

  constructor(private readonly deps: StandingAuditDeps) {
    this.spreadMs = deps.passEveryMs * SPREAD;
  }

  /** Works until its time is up. Throws DatabaseUnavailable, and the signal's reason if it cannot stop midway. */
  async step(signal: AbortSignal): Promise<StandingStep> {
    const { database, clock, workMs, share } = this.deps;
    const pass = await this.take();
    if (pass === null) return { ended: 'idle', rows: 0, findings: 0 };
    const until = performance.now() + workMs;
    const isOver = (): boolean => signal.aborted || performance.now() > until;
    const from = (await readPosition(database.reader, pass.id)) ?? startOfAudit(pass.beganAt);
    const pace = {
      beganAt: pass.beganAt,
      spreadMs: this.spreadMs,
      rows: await expectedRows(database),
    };
    const before = Number.parseInt(pass.rowsChecked.toString(), 10);
    const waitMs = (read: number): number =>
      Math.min(aheadMs(pace, before + read, clock()), until - performance.now());
    const step = await auditSome(database, from, { isOver, share, aheadMs: waitMs, signal });
    const rows = Object.values(step.checked).reduce((sum, count) => sum + count, 0);
    const isStored = await this.store(pass, step, rows);
    const ended = !isStored ? 'superseded' : step.position === null ? 'done' : 'rests';
    return { ended, rows, findings: step.findings.length };
  }

  /** The pass under way, or a new one if it is due, with a fencing number that no other step has. */
  private async take(): Promise<AuditPass | null> {
    const { database, clock, passEveryMs } = this.deps;
    const now = clock();
    try {
      return await database.withTransaction(async (transaction) => {
        const open = await transaction.find(auditPasses, { isOpen: true }, { forUpdate: true });
        if (open !== undefined) {
          const fence = open.fence + 1;
          await transaction.execute(updateSql(auditPasses, { fence }, { id: open.id }));
          return { ...open, fence };
        }
        const last = await lastPass(transaction);
        if (last !== null && now - last.beganAt < passEveryMs) return null;
        const pass = {
          id: newId(),
          isOpen: true,
          beganAt: now,
          endedAt: null,
          fence: 1,
          rowsChecked: 0n,
        };
        await transaction.execute(insertSql(auditPasses, [pass]));
        await transaction.execute(
          `DELETE FROM audit_passes WHERE ended_at<${time.literal(instant(now - KEPT_MS))}`,
        );
        return pass;
      });
    } catch (failure) {
      // Another process has just begun one.
      if (errnoOf(failure) === DUPLICATE_KEY) return null;
      throw failure;
    }
  }

  /** False if another step has begun in the meantime: then nothing is written. */
  private async store(
    { id, fence, rowsChecked }: AuditPass,
    step: AuditStep,
    rows: number,
  ): Promise<boolean> {
    const { database, clock } = this.deps;
    const now = clock();
    const isDone = step.position === null;
    return database.withTransaction(async (transaction) => {
      const set = {
        rowsChecked: rowsChecked + BigInt(rows),
        ...(isDone ? { isOpen: null, endedAt: now } : {}),
      };
      if ((await transaction.execute(updateSql(auditPasses, set, { id, fence }))) === 0)
        return false;
      await writeFindings(transaction, step.findings, now);
      await transaction.execute(deleteSql(auditPieces, { passId: id }));
      if (step.position !== null) await writePosition(transaction, id, step.position);
      return true;
    }, Deadline.afterMs(STORE_MS));
  }
}

async function lastPass(
  reader: Reader,
): Promise<{ readonly beganAt: Instant; readonly rows: number } | null> {
  const [row] = await reader.query(
    `SELECT began_at, rows_checked FROM audit_passes WHERE ended_at IS NOT NULL
     ORDER BY ended_at DESC LIMIT 1`,
  );
  return row === undefined
    ? null
    : { beganAt: time.parse(row.began_at), rows: integer.parse(row.rows_checked) };
}

/** As many as the last pass read; by the server's estimate, if there was none, or the ledger has grown. */
async function expectedRows(database: Database): Promise<number> {
  const last = await lastPass(database.reader);
  return Math.max(last?.rows ?? 0, await estimateRows(database));
}

async function readPosition(reader: Reader, passId: Uuid): Promise<AuditPosition | null> {
  const pieces = await reader.select(auditPieces, { passId }, { orderBy: ['number'] });
  if (pieces.length === 0) return null;
  return unpackPosition(inflateSync(Buffer.concat(pieces.map(({ content }) => content))));
}

async function writePosition(
  transaction: Transaction,
  passId: Uuid,
  position: AuditPosition,
): Promise<void> {
  // Most of the tally is either zeros or incompressible: the fastest level is best.
  const packed = deflateSync(packPosition(position), { level: 1 });
  for (let number = 0; number * PIECE_BYTES < packed.length; number += 1) {
    const content = packed.subarray(number * PIECE_BYTES, (number + 1) * PIECE_BYTES);
    await transaction.execute(insertSql(auditPieces, [{ passId, number, content }]));
  }
}

/** A known finding gets a new date, and stays acknowledged if it was. */
async function writeFindings(
  transaction: Transaction,
  findings: readonly Finding[],
  now: Instant,
): Promise<void> {
  const rows = [
    ...new Map(findings.map((finding) => rowOf(finding, now)).map((row) => [row.id, row])).values(),
  ];
  for (let from = 0; from < rows.length; from += FINDINGS_AT_ONCE)
    await transaction.execute(
      upsertSql(auditFindings, rows.slice(from, from + FINDINGS_AT_ONCE), ['lastFoundAt']),
    );
}

function rowOf({ check, subject, message }: Finding, now: Instant): AuditFinding {
  const digest = createHash('sha256').update([check, subject, message].join('\n')).digest();
  return {
    id: uuid.parse(digest.subarray(0, 16)),
    checkName: check,
    subject: cut(subject, MAX_SUBJECT),
    message: cut(message, MAX_MESSAGE),
    firstFoundAt: now,
    lastFoundAt: now,
    acknowledgedAt: null,
    acknowledgedBy: null,
  };
}

function cut(text: string, most: number): string {
  return [...text].slice(0, most).join('');
}

interface AuditStanding {
  readonly open: number;
  /** When the last pass ended, or the first began, or there was first something to audit; null before that. */
  readonly since: Instant | null;
}

export async function auditStanding(reader: Reader): Promise<AuditStanding> {
  const [row] = await reader.query(
    `SELECT (SELECT COUNT(*) FROM audit_findings WHERE acknowledged_at IS NULL) AS open,
      (SELECT MAX(ended_at) FROM audit_passes) AS ended, (SELECT MIN(began_at) FROM audit_passes) AS began,
      (SELECT created_at FROM tenants ORDER BY id LIMIT 1) AS first`,
  );
  // An audit that never begins must be noticed too.
  const at = row?.ended ?? row?.began ?? row?.first ?? null;
  return { open: integer.parse(row?.open ?? 0), since: at === null ? null : time.parse(at) };
}
