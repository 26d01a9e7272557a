import { DeadlinePassed } from '../core/timers.js';

/** Classes of MySQL failures, by `errno`, because names differ between MySQL and MariaDB. */

const DUPLICATE_KEY = 1062;
export const LOCK_WAIT_TIMEOUT = 1205;
/** Deadlock, lock wait timeout, record changed since it was read. */
const ROLLED_BACK_RETRYABLE = new Set([1213, 1205, 1020]);
/** Violated CHECK (4025 on MariaDB, 3819 on MySQL), and values that a column cannot hold. */
const DATA_FAULTS = new Set([DUPLICATE_KEY, 4025, 3819, 1048, 1264, 1265, 1366, 1406, 1690]);

/** Timeout or broken connection before COMMIT. Nothing was committed. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/** Failure after COMMIT was sent. The transaction may be committed. */
export class CommitUnknown extends Error {
  override name = 'CommitUnknown';
}

/** Rollback after a deadlock, a lock wait or a changed record. A retry may succeed. */
export class TransactionRetryable extends Error {
  override name = 'TransactionRetryable';
}

export function errnoOf(error: unknown): number | null {
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number'
    ? error.errno
    : null;
}

export function isLockWait(failure: unknown): boolean {
  return failure instanceof TransactionRetryable && errnoOf(failure.cause) === LOCK_WAIT_TIMEOUT;
}

function isAmong(numbers: ReadonlySet<number>, error: unknown): boolean {
  const errno = errnoOf(error);
  return errno !== null && numbers.has(errno);
}

export function isRetryable(error: unknown): boolean {
  return isAmong(ROLLED_BACK_RETRYABLE, error);
}

/** Returns whether the server sent the error on a connection that is still open. */
function isServerError(error: unknown): boolean {
  return (
    (errnoOf(error) ?? 0) > 0 &&
    !(error instanceof Error && 'fatal' in error && error.fatal === true)
  );
}

/**
 * Returns whether a text of several statements that ends with COMMIT failed without committing.
 * `succeeded` of the `statements` before COMMIT had succeeded.
 */
export function isUncommitted(error: unknown, succeeded: number, statements: number): boolean {
  return (
    isRetryable(error) ||
    isAmong(REFUSED_BEFORE_EXECUTION, error) ||
    (isServerError(error) && succeeded < statements)
  );
}

export function isDuplicateKey(error: unknown): boolean {
  return errnoOf(error) === DUPLICATE_KEY;
}

export function isDataFault(error: unknown): boolean {
  return isAmong(DATA_FAULTS, error);
}

/**
 * The server accepts no writes: read-only (1290, 1792, 1836), offline (3032, 6400), out of its
 * group (3796 to 3799), not yet primary (3781 to 3783) or no longer (4094), or it may have
 * left the group during the commit (1180, 3100, 3101).
 */
const NO_PRIMARY = new Set([
  1180, 1290, 1792, 1836, 3032, 3100, 3101, 3781, 3782, 3783, 3796, 3797, 3798, 3799, 4094, 6400,
]);

/**
 * Errors of NO_PRIMARY that are reported before anything is executed, even at COMMIT. After any
 * other one, COMMIT is unknown, because an isolated member reports 3100 or 3101 for a transaction
 * that it has already sent to the group.
 */
const REFUSED_BEFORE_EXECUTION = new Set([1290, 1792, 1836, 3796, 3797, 3798]);

export class WrongServer extends Error {
  override name = 'WrongServer';
}

export function isNoPrimary(error: unknown): boolean {
  return error instanceof WrongServer || isAmong(NO_PRIMARY, error);
}

/** Returns whether MySQL is unavailable: no connection, timeout, shutdown, read-only and so on. */
export function isUnavailable(error: unknown): boolean {
  if (
    [DatabaseUnavailable, DeadlinePassed, CommitUnknown, TransactionRetryable].some(
      (kind) => error instanceof kind,
    )
  )
    return true;
  if (!(error instanceof Error)) return false;
  // The driver sets `fatal` on errors that end the connection.
  if ('fatal' in error && error.fatal === true) return true;
  // Checked before `code`, which the driver does not set for numbers that it does not know.
  if (isNoPrimary(error)) return true;
  if (!('code' in error)) return false;
  // Node's codes for programming errors.
  if (typeof error.code === 'string' && error.code.startsWith('ERR_')) return false;
  const errno = errnoOf(error);
  // Node's network errors have no errno, or a negative one.
  if (errno === null || errno < 0) return true;
  return UNAVAILABLE.has(errno) || isRetryable(error);
}

/** Refused and lost connections, shutdowns, killed statements and timeouts. */
const UNAVAILABLE = new Set([
  1040, 1041, 1042, 1043, 1044, 1045, 1053, 1077, 1078, 1079, 1080, 1129, 1152, 1153, 1158, 1159,
  1160, 1161, 1184, 1203, 1205, 1226, 1317, 1927, 1969, 2006, 2013, 3024, 3168, 3169, 4031,
]);
