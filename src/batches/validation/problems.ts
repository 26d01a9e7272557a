import type { FilledCell } from '../../spreadsheets/sheet.js';

export interface Problem {
  readonly code: ProblemCode;
  /** Empty if the problem concerns no column. */
  readonly field: string;
  readonly message: string;
  readonly value: string;
}

const MAX_VALUE = 100;
const MAX_MESSAGE = 300;
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;

export function cellProblem(
  field: string,
  code: ProblemCode,
  message: string,
  cell: FilledCell | null,
): Problem {
  return {
    field,
    code,
    message: shorten(message, MAX_MESSAGE),
    value: shorten(cell?.text ?? '', MAX_VALUE),
  };
}

export function fileProblem(code: ProblemCode, message: string): Problem {
  return cellProblem('', code, message, null);
}

export function quote(text: string, most = 40): string {
  return `"${shorten(text, most)}"`;
}

/** The text without characters that cannot be stored, cut to `most` code points with … */
function shorten(text: string, most: number): string {
  const points = [...text.slice(0, 2 * most + 2).replace(CONTROL, '\u{FFFD}')];
  return points.length <= most ? points.join('') : `${points.slice(0, most - 1).join('')}…`;
}

/** Codes of the errors file. (docs/contract.md, Validation) */
export const PROBLEM_CODES = [
  'missing_field',
  'invalid_field',
  'not_found',
  'ambiguous_recipient',
  'same_account',
  'below_minimum',
  'above_per_operation_limit',
  'mixed_asset',
  'duplicate_reference',
  'formula_cell',
  'missing_column',
  'duplicate_column',
  'no_rows',
  'too_many_rows',
  'too_many_columns',
  'above_approval_threshold',
  'rate_limited',
  'unreadable_file',
  'bad_encoding',
  'too_large_inflated',
] as const;

type ProblemCode = (typeof PROBLEM_CODES)[number];
