import { type Asset, ASSET_NAMES, isAsset, MAX_RAW, parseRaw } from '../../core/amount.js';
import { normaliseText, textFault } from '../../core/text.js';
import {
  type FilledCell,
  MAX_DIGITS,
  shownNumber,
  textOfNumber,
} from '../../spreadsheets/sheet.js';
import { EXAMPLE_AMOUNTS, EXAMPLE_RAW } from '../rules.js';

/** A cell's value without surrounding spaces, or the problem with the cell. */
export type Reading<T> = { readonly value: T } | { readonly problem: Problem };

const LINE_BREAK = /[\n\v\f\r\u0085\u2028\u2029]/;

function cellFault(field: string, cell: FilledCell | null): Problem | null {
  const problem = (what: string, code: Problem['code'] = 'invalid_field'): Problem =>
    cellProblem(field, code, `${field} ${what}`, cell);
  if (cell?.kind === 'formula')
    return problem('is a formula: put in the value itself', 'formula_cell');
  if (cell?.kind === 'error') return problem('shows an error: put in the value itself');
  if (cell?.kind === 'text' && cell.format !== undefined)
    return problem(`is ${formatted(cell)}, which shows something else. ${AS_TEXT}`);
  return cell?.hasLineBreak === true || LINE_BREAK.test(cell?.text.trim() ?? '')
    ? problem('has a line break inside the cell: remove it')
    : null;
}

export function requireCell(
  field: string,
  cell: FilledCell | null,
): { readonly cell: FilledCell } | { readonly problem: Problem } {
  const problem = cellFault(field, cell);
  if (problem !== null) return { problem };
  if (cell === null || cell.text.trim() === '')
    return { problem: cellProblem(field, 'missing_field', `${field} is empty`, cell) };
  return { cell };
}

/** Columns in which a date or time is free text, not a code that the spreadsheet has converted. */
const isFreeText = (field: string): boolean =>
  field === 'description' || field.startsWith('metadata.');

/** Returns the text of a cell, or the digits that a number cell shows. */
export function displayedText(
  field: string,
  cell: FilledCell,
): { readonly text: string } | { readonly problem: Problem } {
  const refused = (message: string): { readonly problem: Problem } => ({
    problem: cellProblem(field, 'invalid_field', `${message}. ${AS_TEXT}`, cell),
  });
  if (cell.kind === 'date' && !isFreeText(field))
    return refused(
      `${field} is a date or a time (${cell.text}), perhaps a code that the spreadsheet has converted`,
    );
  if (cell.kind !== 'number') return { text: cell.text.trim() };
  const read = textOfNumber(cell.text, cell.format);
  if ('text' in read) return read;
  return refused(
    read.fault === 'format'
      ? `${formatted(cell)} can show another value`
      : `${field} is a number of more than ${MAX_DIGITS} digits, and spreadsheets change the last ones (the cell shows ${shownNumber(cell.text)})`,
  );
}

function formatted({ text, format = '' }: FilledCell): string {
  return `${quote(text)} in the format ${quote(format)}`;
}

const AS_TEXT = 'Format the column as text and enter the value again.';
/** Besides General and text. */
const AMOUNT_FORMATS: readonly string[] = ['0', '#,##0'];

/** The largest integer below which a floating-point number holds every integer exactly. */
const MAX_NUMBER_CELL = 9_007_199_254_740_991n;

export function readAmount(cell: FilledCell | null): Reading<bigint> {
  const found = requireCell('amount', cell);
  if ('problem' in found) return found;
  const { kind, text, format } = found.cell;
  const refused = (message: string): Reading<bigint> => ({
    problem: cellProblem('amount', 'invalid_field', message, found.cell),
  });
  if (kind === 'date')
    return refused('amount is a date: format the column as text and put in a whole number');
  if (kind === 'text') {
    const trimmed = text.trim();
    const raw = parseRaw(trimmed);
    if (raw !== null) return { value: raw };
    if (/^[0-9]+$/.test(trimmed) && !trimmed.startsWith('0'))
      return refused(`${quote(text)} is over ${MAX_RAW}`);
    return refused(notAnAmount(quote(text)));
  }
  if (format !== undefined && !AMOUNT_FORMATS.includes(format))
    return refused(
      `${notAnAmount(formatted(found.cell))} Use the format General, 0, #,##0 or text.`,
    );
  const digits = kind === 'number' ? integerText(text) : null;
  const raw = digits === null ? null : parseRaw(digits);
  const shown = kind === 'number' ? shownNumber(text, format) : text;
  if (raw === null && digits === null && /^[0-9]+$/.test(shown))
    return refused(
      `the cell shows ${shown}, but contains ${quote(text)}, which is not a whole number. Enter ${shown} again, or round what is calculated.`,
    );
  if (raw === null) return refused(notAnAmount(quote(text)));
  if (raw > MAX_NUMBER_CELL)
    return refused('a number cell cannot hold this exactly: format the column as text');
  return { value: raw };
}

function notAnAmount(value: string): string {
  return `${value} is not a valid amount. Use digits only, in the smallest unit (${EXAMPLE_RAW} is ${EXAMPLE_AMOUNTS}).`;
}

export function readAsset(cell: FilledCell | null): Reading<Asset> {
  const found = requireCell('asset', cell);
  if ('problem' in found) return found;
  const text = found.cell.text.trim();
  if (found.cell.kind === 'text' && isAsset(text)) return { value: text };
  const message = `${quote(text)} is not an asset: use ${ASSET_NAMES}`;
  return { problem: cellProblem('asset', 'invalid_field', message, found.cell) };
}

/** Reads free text. A number is read as its digits, and a date as ISO 8601 except in a reference. */
export function readText(
  field: string,
  cell: FilledCell | null,
  max: number,
): Reading<string | null> {
  const problem = cellFault(field, cell);
  if (problem !== null) return { problem };
  const read = cell === null ? { text: '' } : displayedText(field, cell);
  if ('problem' in read) return read;
  const text = normaliseText(read.text);
  if (text === '') return { value: null };
  const fault = textFault(text, { max });
  if (fault === null) return { value: text };
  const message =
    fault === 'too_long'
      ? `${field} has more than ${max} characters`
      : `${field} has a character that cannot be shown`;
  return { problem: cellProblem(field, 'invalid_field', message, cell) };
}

const DECIMAL = /^([0-9]{1,40})(?:\.([0-9]{1,40}))?(?:[eE]\+?([0-9]{1,2}))?$/;

/** Returns the digits of a whole number in decimal or scientific form (`1.5E5`); null for others. */
function integerText(text: string): string | null {
  const [, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text.trim()) ?? [];
  if (whole === '') return null;
  const shift = Number.parseInt(exponent, 10);
  const digits = fraction.padEnd(shift, '0');
  if (/[1-9]/.test(digits.slice(shift))) return null;
  return (whole + digits.slice(0, shift)).replace(/^0+(?=[0-9])/, '');
}

export function lineBreakProblem(field: string, cell: FilledCell | null, index: number): Problem {
  const message = `there is a line break in column ${index + 1}, so a quotation mark may be open and hide rows: remove the line break`;
  return cellProblem(field, 'invalid_field', message, cell);
}

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

/** Masks what `conceal` finds, and an amount that may be an account number in the wrong column. */
export function concealProblems(
  problems: readonly Problem[],
  conceal: ((text: string) => string) | null,
): readonly Problem[] {
  if (conceal === null) return problems;
  return problems.map((problem) => {
    const isAbove = problem.code === 'above_per_operation_limit';
    const message = isAbove ? 'the amount is above the limit of one operation' : problem.message;
    // A mask may be longer than what it conceals.
    return {
      ...problem,
      message: shorten(conceal(message), MAX_MESSAGE),
      value: shorten(conceal(problem.value), MAX_VALUE),
    };
  });
}

export function fileProblem(code: ProblemCode, message: string): Problem {
  return cellProblem('', code, message, null);
}

export function quote(text: string, maxLength = 40): string {
  return `"${shorten(text, maxLength)}"`;
}

/** Replaces characters that cannot be stored, and cuts the text to `maxLength` code points with … */
export function shorten(text: string, maxLength: number): string {
  const points = [...text.slice(0, 2 * maxLength + 2).replace(CONTROL, '\u{FFFD}')];
  return points.length <= maxLength
    ? points.join('')
    : `${points.slice(0, maxLength - 1).join('')}…`;
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
  'already_paid',
  'formula_cell',
  'missing_column',
  'duplicate_column',
  'ambiguous_sheet',
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
