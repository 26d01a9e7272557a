/** What can go wrong between us and MySQL, told apart by `errno`: names differ between MySQL and MariaDB. */

export const DUPLICATE_KEY = 1062;
const LOCK_WAIT_TIMEOUT = 1205;
const ROLLED_BACK_RETRYABLE = new Set([1213, 1205, 1020]);
/** CHECK violated: 4025 on MariaDB, 3819 on MySQL. */
const DATA_FAULTS = new Set([DUPLICATE_KEY, 4025, 3819, 1048, 1264, 1265, 1366, 1406, 1690]);

/** The database did not answer in time, or the connection broke, before anything could have been committed. Nothing happened. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/** COMMIT was sent and its answer never came: the transaction happened or did not. */
export class CommitUnknown extends Error {
  override name = 'CommitUnknown';
}

/** The server rolled the transaction back for a reason that another try may not meet (deadlock, lock wait, changed record). */
export class TransactionRetryable extends Error {
  override name = 'TransactionRetryable';
}

export function errnoOf(error: unknown): number | null {
  return error instanceof Error && 'errno' in error && typeof error.errno === 'number' ? error.errno : null;
}

/** True when the transaction was given up because it waited for somebody's row lock for too long. */
export function isLockWait(failure: unknown): boolean {
  return failure instanceof TransactionRetryable && errnoOf(failure.cause) === LOCK_WAIT_TIMEOUT;
}

export function isRetryable(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno !== null && ROLLED_BACK_RETRYABLE.has(errno);
}

/** True when the server itself answered so, on a connection that still stands. */
function isAnswer(error: unknown): boolean {
  return (errnoOf(error) ?? 0) > 0 && !(error instanceof Error && 'fatal' in error && error.fatal === true);
}

/**
 * True when nothing is committed, nor will be, though a text with COMMIT failed: the server answers its statements in their order and stops
 * at the first that fails, and `done` of the `before` that stand before COMMIT were done.
 */
export function isUncommitted(error: unknown, done: number, before: number): boolean {
  return isRetryable(error) || isRefusedWhole(error) || (isAnswer(error) && done < before);
}

/** A statement that MySQL refused for what it holds: the statement's fault, not the server's. */
export function isDataFault(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno !== null && DATA_FAULTS.has(errno);
}

/**
 * The server takes no writes of ours: read-only (1290, 1792, 1836), offline (3032, 6400), out of its group or leaving it (1047, 3796 to
 * 3799), not yet its primary (3781 to 3783) or no more (4094), or it may have left the group while it committed (1180, 3100, 3101). It is
 * no primary, or has to be asked whether it still is.
 */
const NO_PRIMARY = new Set([
  1047, 1180, 1290, 1792, 1836, 3032, 3100, 3101, 3781, 3782, 3783, 3796, 3797, 3798, 3799, 4094, 6400,
]);

/**
 * Of these, what a server answers before it does anything, at COMMIT as well. The others are unknown there: a member that is cut off
 * answers 3100 or 3101 to a transaction that it had already given to the group, which may have taken it.
 */
const REFUSED_WHOLE = new Set([1290, 1792, 1836, 3796, 3797, 3798]);

/** A connection was opened by the same address, and leads to another server than those before it. */
export class AnotherServer extends Error {
  override name = 'AnotherServer';
}

/** Nothing listens at the address. */
export function isConnectionRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}

export function isNoPrimary(error: unknown): boolean {
  if (error instanceof AnotherServer) return true;
  const errno = errnoOf(error);
  return errno !== null && NO_PRIMARY.has(errno);
}

/** True when neither the statement nor the COMMIT happened, nor will. */
function isRefusedWhole(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno !== null && REFUSED_WHOLE.has(errno);
}

/**
 * True for what means "MySQL is not there for us now": broken or refused connections (negative errno of the system, no
 * errno from the driver), time-outs, shutdown, too many connections, read-only after a failover.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable || error instanceof CommitUnknown || error instanceof TransactionRetryable)
    return true;
  if (!(error instanceof Error)) return false;
  // The driver's own word for "this connection is over", with or without a code.
  if ('fatal' in error && error.fatal === true) return true;
  // The driver has no names for the youngest numbers, and then gives no code.
  if (isNoPrimary(error)) return true;
  if (!('code' in error)) return false;
  // Node's own word for a wrong call: a fault of ours.
  if (typeof error.code === 'string' && error.code.startsWith('ERR_')) return false;
  const errno = errnoOf(error);
  if (errno === null || errno < 0) return true;
  return SERVER_AWAY.has(errno) || isRetryable(error);
}

const SERVER_AWAY = new Set([
  1040, 1041, 1042, 1043, 1044, 1045, 1053, 1077, 1078, 1079, 1080, 1129, 1152, 1153, 1158, 1159, 1160, 1161, 1184,
  1203, 1205, 1226, 1317, 1927, 1969, 2006, 2013, 3024, 3168, 3169, 4031,
]);
