import { ApiError, fieldRefusal, type FieldProblem } from '../core/errors.js';
import type { z } from './zod.js';

type Issue = z.core.$ZodRawIssue;

/** zod's settings everywhere: every problem, each with a reason from our own stable list. */
const ASKING: z.core.ParseContext<z.core.$ZodIssue> = { reportInput: true, error: reasonOf };

type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

export function check<S extends z.ZodType>(schema: S, input: unknown): Checked<z.output<S>> {
  const result = schema.safeParse(input, ASKING);
  if (result.success) return { ok: true, value: result.data };
  const { issues } = result.error;
  const misplaced = new Set(issues.filter(({ code }) => code === 'invalid_type').map(pathOf));
  // zod checks the length of any value that has one, also if its type is wrong.
  const rest = issues.filter(
    (issue) => issue.code === 'invalid_type' || !misplaced.has(pathOf(issue)),
  );
  return { ok: false, problems: rest.flatMap(problemsOf) };
}

/**
 * Throws the 400 that lists the problems, with this message instead of the message of the first
 * problem.
 */
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
  // For clients, absent and null fields are the same: missing if required. An item of a list is
  // present.
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

/** Returns the reason if the field's own schema gives none. */
function reasonOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `not_${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'}_${issue.expected}`;
    case 'invalid_value':
      return `not_one_of: ${issue.values.map(String).join(', ')}`;
    case 'too_big':
      return issue.origin === 'string'
        ? 'too_long'
        : issue.origin === 'array'
          ? 'too_many'
          : 'out_of_range';
    case 'too_small':
      return issue.origin === 'string'
        ? 'too_short'
        : issue.origin === 'array'
          ? 'too_few'
          : 'out_of_range';
    case 'unrecognized_keys':
      return 'unknown';
    default:
      return 'malformed';
  }
}
