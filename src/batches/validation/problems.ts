import type { ProblemCode } from '../problem-codes.js';
import type { FilledCell } from '../../spreadsheets/sheet.js';

/** A problem, described for the person who filled in the file. */
export interface Problem {
  readonly code: ProblemCode;
  /** Empty if the problem concerns no column. */
  readonly field: string;
  readonly message: string;
  /** Shortened content of the cell. */
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
    message: shortened(message, MAX_MESSAGE),
    value: shortened(cell?.text ?? '', MAX_VALUE),
  };
}

export function fileProblem(code: ProblemCode, message: string): Problem {
  return cellProblem('', code, message, null);
}

export function quoted(text: string, most = 40): string {
  return `"${shortened(text, most)}"`;
}

/** The text without characters that cannot be stored, cut to `most` code points with … */
function shortened(text: string, most: number): string {
  const points = [...text.slice(0, 2 * most + 2).replace(CONTROL, '\u{FFFD}')];
  return points.length <= most ? points.join('') : `${points.slice(0, most - 1).join('')}…`;
}
