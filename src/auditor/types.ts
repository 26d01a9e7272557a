import type { Uuid } from '../core/ids.js';

/** A contradiction between rows of the database. A type, because lists of the command line take it. */
export type Finding = {
  /** The stable name of the rule that is broken. */
  readonly check: string;
  /** The row: a word for its table, and the ids that name it. */
  readonly subject: string;
  readonly message: string;
};

export interface AuditReport {
  readonly findings: Finding[];
  /** Rows read, by kind. */
  readonly checked: Record<string, number>;
}

export interface AuditOptions {
  /** Restricts the audit to this tenant's rows. */
  readonly tenantId?: Uuid;
  /** Rows read, and an estimate of all rows that is never smaller. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Runs after each slice. The audit throws what it throws. */
  readonly pause?: () => Promise<unknown>;
}
