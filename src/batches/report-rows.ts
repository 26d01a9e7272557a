import type { Asset } from '../core/amount.js';
import { toRfc3339 } from '../core/instant.js';
import type { BonusBatchProblem, BonusBatchRow } from '../db/entities/bonuses.js';
import type { Column, TableRow } from '../spreadsheets/writing/columns.js';

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

/** A problem of the whole file has no row, and one that concerns no column has no column. */
export function errorCells({ number, field, code, message, value }: BonusBatchProblem): TableRow {
  const filled = (text: string): string | null => (text === '' ? null : text);
  return [number === 0 ? null : String(number), filled(field), code, message, filled(value)];
}

/** Amount and fee are in the smallest unit. The fee of an unpaid row is empty. */
export function resultCells(row: BonusBatchRow, asset: Asset): TableRow {
  const isPaid = row.status === 'paid';
  return [
    String(row.number),
    row.reference,
    row.recipient,
    String(row.raw),
    asset,
    isPaid ? 'paid' : 'failed',
    row.bonusId,
    isPaid ? String(row.feeRaw) : null,
    row.code,
    row.message,
    isPaid ? toRfc3339(row.settledAt) : null,
  ];
}
