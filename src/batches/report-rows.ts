import type { Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import type { Column, TableRow } from '../spreadsheets/writing/columns.js';

/** A batch's errors and result files. (docs/contract.md, Batch files) */

export interface ErrorRow {
  /** As a spreadsheet numbers it; null for the file as a whole. */
  readonly row: number | null;
  readonly column: string | null;
  readonly code: string;
  readonly message: string;
  readonly value: string | null;
}

/** The outcome of one row. Amount and fee are in the smallest unit of the asset. */
export interface ResultRow {
  readonly row: number;
  readonly reference: string | null;
  readonly recipient: string;
  readonly amount: bigint;
  readonly asset: string;
  readonly status: 'paid' | 'failed';
  readonly bonusId: Uuid | null;
  /** Null if the row was not paid, so nothing was charged. */
  readonly fee: bigint | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly paidAt: Instant | null;
}

export const ERROR_COLUMNS: readonly Column[] = [
  { name: 'row', kind: 'number', width: 8 },
  { name: 'column', kind: 'text', width: 14 },
  { name: 'code', kind: 'text', width: 26 },
  { name: 'message', kind: 'text', width: 70 },
  { name: 'value', kind: 'party', width: 40 },
];

export const RESULT_COLUMNS: readonly Column[] = [
  { name: 'row', kind: 'number', width: 8 },
  { name: 'reference', kind: 'text', width: 22 },
  { name: 'recipient', kind: 'party', width: 38 },
  { name: 'amount', kind: 'text', width: 22 },
  { name: 'asset', kind: 'text', width: 8 },
  { name: 'status', kind: 'text', width: 10 },
  { name: 'bonus_id', kind: 'text', width: 38 },
  { name: 'fee', kind: 'text', width: 14 },
  { name: 'code', kind: 'text', width: 26 },
  { name: 'message', kind: 'text', width: 60 },
  { name: 'paid_at', kind: 'text', width: 26 },
];

export function errorCells({ row, column, code, message, value }: ErrorRow): TableRow {
  return [row === null ? null : String(row), column, code, message, value];
}

export function resultCells(result: ResultRow): TableRow {
  const { row, reference, recipient, amount, asset, status, bonusId, fee, code, message, paidAt } = result;
  return [
    String(row),
    reference,
    recipient,
    String(amount),
    asset,
    status,
    bonusId,
    fee === null ? null : String(fee),
    code,
    message,
    toRfc3339(paidAt),
  ];
}
