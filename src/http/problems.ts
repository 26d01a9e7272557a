import { ApiError, fieldRefusal, type FieldProblem } from '../core/errors.js';
import type { z } from './zod.js';

type Issue = z.core.$ZodRawIssue;

const ASKING: z.core.ParseContext<z.core.$ZodIssue> = { reportInput: true, error: reasonOf };

type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

export function check<S extends z.ZodType>(schema: S, input: unknown): Checked<z.output<S>> {
  const result = schema.safeParse(input, ASKING);
  if (result.success) return { ok: true, value: result.data };
  const { issues } = result.error;
  const misplaced = new Set(issues.filter(({ code }) => code === 'invalid_type').map(pathOf));
  // zod also checks the length of values of a wrong type.
  const rest = issues.filter(
    (issue) => issue.code === 'invalid_type' || !misplaced.has(pathOf(issue)),
  );
  return { ok: false, problems: rest.flatMap(problemsOf) };
}

/** Throws the 400 that lists the problems; `message` replaces that of the first problem. */
export function refuseFor(problems: readonly FieldProblem[], message?: string): never {
  const [first, ...rest] = problems;
  if (first === undefined) throw new TypeError('a refusal needs a problem');
  const refusal = fieldRefusal([first, ...rest]);
  throw new ApiError(message === undefined ? refusal : { ...refusal, message });
}

function pathOf({ path }: z.core.$ZodIssue): string {
  return path.map(String).join('.');
}

function problemsOf(issue: z.core.$ZodIssue): FieldProblem[] {
  const field = pathOf(issue);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      code: 'invalid_field',
      field: field === '' ? key : `${field}.${key}`,
      reason: 'unknown',
    }));
  // A null field counts as missing. A null item of a list does not.
  const isListed = typeof issue.path.at(-1) === 'number';
  if (
    (issue.input === undefined || issue.input === null) &&
    !isListed &&
    issue.code !== 'custom' &&
    field !== ''
  )
    return [{ code: 'missing_field', field, reason: 'required' }];
  return [{ code: 'invalid_field', field, reason: issue.message }];
}

/** Reasons by the kind of the value that is too big or too small; else `out_of_range`. */
const SIZE_REASONS: Readonly<Record<string, Readonly<Record<'too_big' | 'too_small', string>>>> = {
  string: { too_big: 'too_long', too_small: 'too_short' },
  array: { too_big: 'too_many', too_small: 'too_few' },
};

/** Returns the reason if the field's own schema gives none. */
function reasonOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `not_${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'}_${issue.expected}`;
    case 'invalid_value':
      return `not_one_of: ${issue.values.map(String).join(', ')}`;
    case 'too_big':
    case 'too_small':
      return SIZE_REASONS[issue.origin]?.[issue.code] ?? 'out_of_range';
    case 'unrecognized_keys':
      return 'unknown';
    default:
      return 'malformed';
  }
}
