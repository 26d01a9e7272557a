import type { Uuid } from '../core/ids.js';

/**
 * A contradiction between rows of the database. Declared as a type because tables of the command
 * line require it.
 */
export type Finding = {
  /** Stable name of the violated rule. */
  readonly check: string;
  /** Affected row: a word for its table, and its ids. */
  readonly subject: string;
  readonly message: string;
};

export interface AuditReport {
  readonly findings: Finding[];
  /** Number of rows read, by kind. */
  readonly checked: Record<string, number>;
}

export interface AuditOptions {
  /** Tenant to audit. Omitted for all tenants. */
  readonly tenantId?: Uuid;
  /** Called with the number of rows read and an estimate of all rows, which is never smaller. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Called after each slice. If it rejects, the audit rejects with the same reason. */
  readonly pause?: () => Promise<unknown>;
}
