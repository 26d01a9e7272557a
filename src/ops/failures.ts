import { ConfigError } from '../config/config.js';
import { ApiError } from '../core/errors.js';
import { CommitUnknown, errnoOf, isUnavailable } from '../db/failures.js';

/** The command cannot be performed; the message explains why in one line. */
export class OpsError extends Error {
  override name = 'OpsError';
}

/** The command was used wrongly: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The command may have taken effect, so it must not be repeated blindly: exit code 3. */
export class UnknownOutcome extends OpsError {
  override name = 'UnknownOutcome';
}

/** The user ended a question by Ctrl-C or Ctrl-D. Commands ask before they change anything. */
export class Canceled extends OpsError {
  override name = 'Canceled';
  constructor() {
    super('canceled, nothing was changed');
  }
}

export const EXIT = { impossible: 1, misused: 2, unknown: 3, canceled: 130 } as const;

export function exitCodeOf(failure: unknown): number {
  if (failure instanceof UsageError) return EXIT.misused;
  if (failure instanceof Canceled) return EXIT.canceled;
  const isUnknown =
    failure instanceof UnknownOutcome ||
    failure instanceof CommitUnknown ||
    (failure instanceof ApiError && failure.refusal.code === 'ledger_unavailable');
  return isUnknown ? EXIT.unknown : EXIT.impossible;
}

const CODES: Readonly<Record<number, string>> = {
  [EXIT.impossible]: 'not_done',
  [EXIT.misused]: 'wrong_usage',
  [EXIT.unknown]: 'unknown_outcome',
  [EXIT.canceled]: 'canceled',
};

/** Returns a failure as JSON on one line: a refusal with its code of the API and its details. */
export function failureJson(failure: unknown): string {
  const error =
    failure instanceof ApiError
      ? failure.refusal
      : { code: CODES[exitCodeOf(failure)], message: explain(failure) };
  return JSON.stringify({ error });
}

export function shellWord(name: string): string {
  return /^[\w.@-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`;
}

export function explain(failure: unknown): string {
  if (
    failure instanceof OpsError ||
    failure instanceof UsageError ||
    failure instanceof ConfigError
  )
    return failure.message;
  if (failure instanceof ApiError) return `${failure.message} (${failure.refusal.code})`;
  if (failure instanceof CommitUnknown)
    return 'the connection to MySQL was lost during the commit, so the change may or may not have happened: check before you repeat it';
  if (isUnavailable(failure)) return `MySQL is unavailable: ${reasonOf(failure)}`;
  const errno = errnoOf(failure) ?? -1;
  // The server's own message quotes the statement.
  return `internal error: ${errno < 0 ? reasonOf(failure) : `MySQL refused a statement (error ${errno})`}`;
}

/** The innermost cause is the most specific: "connect ECONNREFUSED 127.0.0.1:3306". */
function reasonOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  return failure.cause instanceof Error ? reasonOf(failure.cause) : failure.message;
}
