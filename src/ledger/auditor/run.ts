import { timeOfId, type Uuid } from '../../core/ids.js';
import type { Database, Reader } from '../../db/database.js';
import { Tally } from './tally.js';
import type { AuditOptions, AuditReport, Finding } from './types.js';

/** A slice reads at most some thousand rows; only one account with millions of operations takes longer. */
const SLICE_TIMEOUT_MS = 600_000;
/** A ledger that is damaged all over must not fill the memory with what is wrong with it. */
const MAX_FINDINGS_OF_A_CHECK = 1_000;

/** One run of the auditor: where checks get their snapshots and leave what they find. */
export class AuditRun {
  readonly tenantId: Uuid | undefined;
  /** What operations ask for against what is there, by operation. (checks/crossing.ts) */
  readonly tally = new Tally();
  private readonly beganAt = Date.now();
  private readonly onProgress: AuditOptions['onProgress'];
  private done = 0;
  private readonly findings: Finding[] = [];
  private readonly found = new Map<string, number>();
  private readonly checked: Record<string, number> = {};

  constructor(
    private readonly database: Database,
    options: AuditOptions,
    private readonly total: number,
  ) {
    this.tenantId = options.tenantId;
    this.onProgress = options.onProgress;
  }

  /** Everything that `work` reads is of one moment. Reads lock nothing, so postings go on. */
  slice<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.database.withSnapshot(work, SLICE_TIMEOUT_MS);
  }

  /** What began later is left to the next run: the walks would see different parts of it. */
  isInTime(operationId: Uuid): boolean {
    return timeOfId(operationId) <= this.beganAt;
  }

  report(check: string, subject: string, message: string): void {
    const found = (this.found.get(check) ?? 0) + 1;
    this.found.set(check, found);
    if (found <= MAX_FINDINGS_OF_A_CHECK) this.findings.push({ check, subject, message });
  }

  /** True when nothing more of it would be reported. */
  hasEnoughOf(check: string): boolean {
    return (this.found.get(check) ?? 0) > MAX_FINDINGS_OF_A_CHECK;
  }

  /** Tells that so many rows of a kind were looked at. */
  counted(what: string, rows: number): void {
    this.checked[what] = (this.checked[what] ?? 0) + rows;
    this.done += rows;
    this.onProgress?.(Math.min(this.done, this.total), this.total);
  }

  finish(): AuditReport {
    for (const [check, found] of this.found)
      if (found > MAX_FINDINGS_OF_A_CHECK)
        this.findings.push({
          check,
          subject: '',
          message: `and ${found - MAX_FINDINGS_OF_A_CHECK} more of this kind`,
        });
    this.onProgress?.(this.total, this.total);
    return { findings: this.findings, checked: this.checked };
  }
}

/** A group of checks that share one walk through a table. */
export interface Check {
  /** The tables it walks, whose sizes make the estimate for the progress. */
  readonly tables: readonly string[];
  run(audit: AuditRun): Promise<void>;
}
