import type { Uuid } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { Database, Reader } from '../db/database.js';

/** A contradiction between rows. A type, because tables of the command line require one. */
export type Finding = {
  /** Stable name of the violated rule. */
  readonly check: string;
  /** The affected row: a word for its table, and its ids. */
  readonly subject: string;
  readonly message: string;
};

export interface AuditReport {
  readonly findings: Finding[];
  readonly checked: Record<string, number>;
}

export interface AuditOptions {
  readonly tenantId?: Uuid;
  /** Called with the rows read and an estimate of all rows, which is never smaller. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Called after each slice. If it rejects, the audit rejects too. */
  readonly pause?: () => Promise<unknown>;
}

/** Only accounts with millions of operations take longer than seconds. */
const SLICE_TIMEOUT_MS = 600_000;
/** Limits the memory used by findings in a badly damaged ledger. */
const MAX_FINDINGS_OF_A_CHECK = 1_000;

export class AuditRun {
  readonly tenantId: Uuid | undefined;
  private done = 0;
  private readonly findings: Finding[] = [];
  private readonly found = new Map<string, number>();
  private readonly checked: Record<string, number> = {};

  constructor(
    private readonly database: Database,
    private readonly options: AuditOptions,
    private readonly total: number,
  ) {
    this.tenantId = options.tenantId;
  }

  /** Runs `work` on one snapshot, then pauses. Locks nothing, so that postings continue. */
  async slice<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    const read = await this.database.withSnapshot(work, SLICE_TIMEOUT_MS);
    await this.options.pause?.();
    return read;
  }

  own(column: string): string[] {
    return this.tenantId === undefined ? [] : [`${column}=${uuid.literal(this.tenantId)}`];
  }

  report(check: string, subject: string, ...messages: readonly (string | false)[]): void {
    for (const message of messages) {
      if (message === false) continue;
      const found = (this.found.get(check) ?? 0) + 1;
      this.found.set(check, found);
      if (found <= MAX_FINDINGS_OF_A_CHECK) this.findings.push({ check, subject, message });
    }
  }

  /** Adds a finding for each check of `wrong` that has a message. */
  reportAll(subject: string, wrong: Readonly<Record<string, string | false>>): void {
    for (const [check, message] of Object.entries(wrong))
      if (message !== false) this.report(check, subject, message);
  }

  /** Returns whether further findings of the check would only be counted. */
  hasEnoughOf(check: string): boolean {
    return (this.found.get(check) ?? 0) > MAX_FINDINGS_OF_A_CHECK;
  }

  counted(kind: string, rows: number): void {
    this.checked[kind] = (this.checked[kind] ?? 0) + rows;
    this.done += rows;
    this.options.onProgress?.(Math.min(this.done, this.total), this.total);
  }

  finish(): AuditReport {
    for (const [check, found] of this.found)
      if (found > MAX_FINDINGS_OF_A_CHECK) {
        const message = `and ${found - MAX_FINDINGS_OF_A_CHECK} more of this kind`;
        this.findings.push({ check, subject: '', message });
      }
    this.options.onProgress?.(this.total, this.total);
    return { findings: this.findings, checked: this.checked };
  }
}

export interface Check {
  readonly tables: readonly string[];
  run(audit: AuditRun): Promise<void>;
}
