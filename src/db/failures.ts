/** What can go wrong between us and MySQL, identified by `errno`, since names differ between MySQL and MariaDB. */

export const DUPLICATE_KEY = 1062;
const LOCK_WAIT_TIMEOUT = 1205;
const ROLLED_BACK_RETRYABLE = new Set([1213, 1205, 1020]);
/** CHECK violated: 4025 on MariaDB, 3819 on MySQL. */
const DATA_FAULTS = new Set([DUPLICATE_KEY, 4025, 3819, 1048, 1264, 1265, 1366, 1406, 1690]);

/** The database did not answer in time, or the connection broke, before anything could have been committed. Nothing happened. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/** COMMIT was sent and its answer never came: the transaction may have happened. */
export class CommitUnknown extends Error {
  override name = 'CommitUnknown';
}

/** The server rolled the transaction back for a reason that another try may not meet (deadlock, lock wait, changed record). */
export class TransactionRetryable extends Error {
  override name = 'TransactionRetryable';
}

export function errnoOf(error: unknown): number | null {
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number'
    ? error.errno
    : null;
}

/** True if the transaction gave up after waiting too long for a row lock. */
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

/** True if the server itself answered with the error, on a connection that is still open. */
function isAnswer(error: unknown): boolean {
  return (
    (errnoOf(error) ?? 0) > 0 &&
    !(error instanceof Error && 'fatal' in error && error.fatal === true)
  );
}

/**
 * True if a text with COMMIT failed but nothing is or will be committed: the server answers the statements in order and
 * stops at the first that fails, and `done` of the `before` statements that precede COMMIT succeeded.
 */
export function isUncommitted(error: unknown, done: number, before: number): boolean {
  return isRetryable(error) || isRefusedWhole(error) || (isAnswer(error) && done < before);
}

/** A statement that MySQL refused because of its content: the statement's fault, not the server's. */
export function isDataFault(error: unknown): boolean {
  return isAmong(DATA_FAULTS, error);
}

/**
 * The server accepts no writes: read-only (1290, 1792, 1836), offline (3032, 6400), out of its group or leaving it
 * (1047, 3796 to 3799), not yet primary (3781 to 3783) or no longer (4094), or it may have left the group during the
 * commit (1180, 3100, 3101). It is not the primary, or must be asked whether it still is.
 */
const NO_PRIMARY = new Set([
  1047, 1180, 1290, 1792, 1836, 3032, 3100, 3101, 3781, 3782, 3783, 3796, 3797, 3798, 3799, 4094,
  6400,
]);

/**
 * Those that a server reports before it does anything, even at COMMIT. The others leave a COMMIT unknown: a member that
 * is cut off reports 3100 or 3101 for a transaction that it had already sent to the group, which may have accepted it.
 */
const REFUSED_WHOLE = new Set([1290, 1792, 1836, 3796, 3797, 3798]);

/** A new connection to the same address leads to a different server than earlier ones. */
export class AnotherServer extends Error {
  override name = 'AnotherServer';
}

export function isConnectionRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}

export function isNoPrimary(error: unknown): boolean {
  return error instanceof AnotherServer || isAmong(NO_PRIMARY, error);
}

/** True if neither the statement nor the COMMIT has happened or will happen. */
function isRefusedWhole(error: unknown): boolean {
  return isAmong(REFUSED_WHOLE, error);
}

/** True if MySQL is not available now: no connection, a timeout, shutdown, too many connections, read-only. */
export function isUnavailable(error: unknown): boolean {
  if (
    error instanceof DatabaseUnavailable ||
    error instanceof CommitUnknown ||
    error instanceof TransactionRetryable
  )
    return true;
  if (!(error instanceof Error)) return false;
  // The driver's flag for "this connection is dead", with or without a code.
  if ('fatal' in error && error.fatal === true) return true;
  // The driver has no names for the newest numbers, and then sets no code.
  if (isNoPrimary(error)) return true;
  if (!('code' in error)) return false;
  // Node's code for a wrong call: our own fault.
  if (typeof error.code === 'string' && error.code.startsWith('ERR_')) return false;
  const errno = errnoOf(error);
  if (errno === null || errno < 0) return true;
  return SERVER_AWAY.has(errno) || isRetryable(error);
}

const SERVER_AWAY = new Set([
  1040, 1041, 1042, 1043, 1044, 1045, 1053, 1077, 1078, 1079, 1080, 1129, 1152, 1153, 1158, 1159,
  1160, 1161, 1184, 1203, 1205, 1226, 1317, 1927, 1969, 2006, 2013, 3024, 3168, 3169, 4031,
]);
