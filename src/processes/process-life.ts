import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../config/config.js';
import type { Readiness } from '../http/admin.js';
import { describeFault, type Logging } from '../http/logging.js';

/** Start and stop of the API, the worker and the support desk. */

/** Time limit for writing the last log line. */
const LAST_LINE_MS = 1_500;

/** Returns the configuration, or prints its errors and ends the program. */
export function readOrExit<Config>(read: () => Config): Config {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

/**
 * Returns a function that prints the reason and ends the program, for example if a port is in use
 * or the database user has too many rights.
 */
export function refusalToStart(what: string): (failure: unknown) => never {
  return (failure) => {
    process.stderr.write(
      `${what} cannot start: ${failure instanceof Error ? failure.message : String(failure)}\n`,
    );
    process.exit(1);
  };
}

/**
 * Ends the process on an uncaught error. Logs only parts of the error, because a database error
 * quotes the statement.
 */
export function endOnUncaught({ logger, close }: Logging): void {
  process.on('uncaughtException', (fault: unknown) => {
    logger.fatal({ fault: describeFault(fault) }, 'uncaught exception');
    const end = (): never => process.exit(1);
    setTimeout(end, LAST_LINE_MS);
    void close().then(end, end);
  });
}

/** Stops the program on the first signal, writes the last log line and exits. */
export function endOnSignals({ logger, close }: Logging, stop: () => Promise<void>): void {
  let isStopping = false;
  const end = async (signal: string): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    logger.info({ signal }, 'stopping');
    await stop();
    await close();
    process.exit(0);
  };
  process.on('SIGTERM', () => void end('SIGTERM'));
  process.on('SIGINT', () => void end('SIGINT'));
  // Logs unexpected rejections. The process continues, because it is handling other requests.
  process.on('unhandledRejection', (fault) =>
    logger.error({ fault: describeFault(fault) }, 'unhandled rejection'),
  );
}

/**
 * Reports on /readyz that the process is stopping, and continues serving until the load balancer
 * has had time to notice.
 */
export async function leaveBalancer(readiness: Readiness, delayMs: number): Promise<void> {
  readiness.stop();
  await sleep(delayMs);
}
