import { setTimeout as sleep } from 'node:timers/promises';
import { firstIdAt, type Uuid } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { Database, Reader } from '../db/database.js';
import { type AuditPosition, type Place, startOfAudit } from './position.js';
import { Tally } from './tally.js';
import type { AuditOptions, AuditReport, Finding } from './types.js';

/** A slice reads at most a few thousand rows; only an account with millions of operations takes longer. */
const SLICE_TIMEOUT_MS = 600_000;
/** However long a slice took. */
const LONGEST_REST_MS = 10_000;
/** Few passes take longer: after that, crossing.ts has more to look at again. */
export const LONGEST_PASS_MS = 86_400_000;
/** Longer than any pass: an operation that begins during one is never taken for one of a time far ahead. */
const FAR_AHEAD_MS = 90 * 86_400_000;
/** Keeps the findings of a badly damaged ledger from filling the memory. */
const MAX_FINDINGS_OF_A_CHECK = 1_000;

/** Its time is up: the next step continues from here. Thrown between two slices, through the check, to the caller. */
class AuditRests extends Error {
  override name = 'AuditRests';
}

/** One run of the auditor, or one step of it: gives checks their snapshots and collects their findings. */
export class AuditRun {
  readonly tenantId: Uuid | undefined;
  /** What operations call for against what exists, by operation. (checks/crossing.ts) */
  readonly tally: Tally;
  readonly beganAt: number;
  /** Ids of later operations are not less, as text: for millions of rows, that is cheaper than their times. */
  private readonly firstLate: Uuid;
  /** From here on they are not: no clock that is right makes such an id during the audit. */
  private readonly firstAhead: Uuid;
  private done = 0;
  private readonly findings: Finding[] = [];
  private readonly found: Map<string, number>;
  private readonly checked: Record<string, number> = {};
  /** Where it continues; null once it is past that. */
  private from: Place | null;
  private check = 0;
  private walks = 0;
  private memories: object[] = [];
  private rests = true;

  constructor(
    private readonly database: Database,
    private readonly options: AuditOptions,
    private readonly total: number,
    position: AuditPosition = startOfAudit(Date.now()),
  ) {
    this.tenantId = options.tenantId;
    this.beganAt = position.beganAt;
    this.firstLate = firstIdAt(position.beganAt + 1);
    this.firstAhead = firstIdAt(position.beganAt + FAR_AHEAD_MS);
    this.found = new Map(position.found);
    this.tally = new Tally(position.tally);
    this.from = position.place;
  }

  /** Everything that `work` reads is from one moment. Reads lock nothing, so postings continue. */
  async slice<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    this.options.signal?.throwIfAborted();
    const began = performance.now();
    const read = await this.database.withSnapshot(work, SLICE_TIMEOUT_MS);
    await this.rest(performance.now() - began);
    return read;
  }

  /** What cannot be continued later rests while there is time for it, and is then rather done soon. */
  private async rest(afterMs: number): Promise<void> {
    const { share = 1 } = this.options;
    if (this.rests || !this.isOver())
      await this.pause(Math.min(afterMs * (1 / share - 1), LONGEST_REST_MS));
  }

  private isOver(): boolean {
    return this.options.isOver?.() === true;
  }

  /** Waits while it is ahead of its time. */
  private async keepPace(): Promise<void> {
    await this.pause(this.options.aheadMs?.(this.done) ?? 0);
  }

  private async pause(ms: number): Promise<void> {
    if (ms >= 1) await sleep(ms, undefined, { signal: this.options.signal }).catch(() => undefined);
  }

  /** SQL for what an audit of one tenant is bound to, by a column that names the tenant; nothing for all. */
  own(column: string): string[] {
    return this.tenantId === undefined ? [] : [`${column}=${uuid.literal(this.tenantId)}`];
  }

  /**
   * Operations that began later are left to the next run: the walks would see different parts of them. An id of a time
   * far ahead leaves nothing to any run.
   */
  isInTime(operationId: Uuid): boolean {
    return operationId < this.firstLate || operationId >= this.firstAhead;
  }

  report(check: string, subject: string, message: string): void {
    const found = (this.found.get(check) ?? 0) + 1;
    this.found.set(check, found);
    if (found <= MAX_FINDINGS_OF_A_CHECK) this.findings.push({ check, subject, message });
  }

  /** True if the check's further findings would be dropped. */
  hasEnoughOf(check: string): boolean {
    return (this.found.get(check) ?? 0) > MAX_FINDINGS_OF_A_CHECK;
  }

  counted(what: string, rows: number): void {
    this.checked[what] = (this.checked[what] ?? 0) + rows;
    this.done += rows;
    this.options.onProgress?.(Math.min(this.done, this.total), this.total);
  }

  /** Runs the checks. Returns where it stopped, or null at the end. Throws what a check throws. */
  async go(checks: readonly Check[]): Promise<AuditPosition | null> {
    try {
      for (const [number, check] of checks.entries()) {
        if (number < (this.from?.check ?? 0)) continue;
        if (this.from !== null && number > this.from.check) this.from = null;
        [this.check, this.walks, this.memories] = [number, 0, []];
        await check.run(this);
        if (number + 1 === checks.length) return null;
        await this.keepPace();
        if (this.isOver())
          return this.positionAt({ check: number + 1, walk: 0, after: undefined, memories: [] });
      }
      return null;
    } catch (thrown) {
      if (thrown instanceof AuditRests) return this.positionAt(this.from);
      throw thrown;
    }
  }

  /** What a check remembers across slices, stored or `fresh`. Must be requested in the same order each time. */
  memory<T extends object>(fresh: T): T {
    const kept = this.from?.memories[this.memories.length] as T | undefined;
    const memory = kept ?? fresh;
    this.memories.push(memory);
    return memory;
  }

  /** Where the next walk of the check begins; null if it is already done. */
  beginWalk<Row>(): { readonly after: Row | undefined } | null {
    if (!this.rests) return { after: undefined };
    const walk = this.walks;
    this.walks += 1;
    if (this.from === null || walk > this.from.walk) return { after: undefined };
    if (walk < this.from.walk) return null;
    return { after: this.from.after as Row | undefined };
  }

  /** Called between two slices of a walk. Waits while it is ahead of its time. Throws AuditRests when time is up. */
  async restAfter(row: unknown): Promise<void> {
    if (!this.rests) return;
    await this.keepPace();
    if (!this.isOver()) return;
    this.from = { check: this.check, walk: this.walks - 1, after: row, memories: this.memories };
    throw new AuditRests('its time is over');
  }

  /** For work that cannot be interrupted and continued: its walks always run from beginning to end. */
  async atOnce(work: () => Promise<void>): Promise<void> {
    this.rests = false;
    try {
      await work();
    } finally {
      this.rests = true;
    }
  }

  private positionAt(place: Place | null): AuditPosition {
    return { beganAt: this.beganAt, place, found: this.found, tally: this.tally.sums };
  }

  finish(): AuditReport {
    for (const [check, found] of this.found)
      if (found > MAX_FINDINGS_OF_A_CHECK)
        this.findings.push({
          check,
          subject: '',
          message: `and ${found - MAX_FINDINGS_OF_A_CHECK} more of this kind`,
        });
    this.options.onProgress?.(this.total, this.total);
    return { findings: this.findings, checked: this.checked };
  }
}

export interface Check {
  /** The tables it walks, whose sizes make the estimate for the progress. */
  readonly tables: readonly string[];
  run(audit: AuditRun): Promise<void>;
}
