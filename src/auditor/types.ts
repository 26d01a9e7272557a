import type { Uuid } from '../core/ids.js';

/** Something in the database that contradicts something else in it. A type, so that operators' lists take it as it is. */
export type Finding = {
  /** Which rule is broken: a stable name. */
  readonly check: string;
  /** What it is about: a table's word and the ids that name the row. */
  readonly subject: string;
  readonly message: string;
};

export interface AuditReport {
  readonly findings: Finding[];
  readonly checked: Record<string, number>;
}

export interface AuditOptions {
  /** Only what belongs to this tenant. */
  readonly tenantId?: Uuid;
  /** Rows read, out of an estimate that is never smaller. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Whether to stop now and continue another time; asked between slices. Absent: never. */
  readonly isOver?: () => boolean;
  /** The part of the time in which it reads: between slices it rests for the others. Absent: all. */
  readonly share?: number;
  /** How long to wait where it may stop, after so many rows: it is ahead of its time. Absent: not at all. */
  readonly aheadMs?: (rows: number) => number;
  /** Aborts it where it cannot stop midway. */
  readonly signal?: AbortSignal;
}
