import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from './config.js';
import type { Readiness } from './http/admin.js';
import { describeFault, type Logging } from './http/logging.js';

/** How long-running programs start and stop: the API, the worker and the support desk alike. */

/** How long the last line may take. */
const LAST_LINE_MS = 1_500;

/** Returns the configuration, or ends the program with what is wrong in it. */
export function readOrExit<Config>(read: () => Config): Config {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

/** Ends the program: a port in use, an address that is not ours, a database user with too many rights. */
export function refusalToStart(what: string): (failure: unknown) => never {
  return (failure) => {
    process.stderr.write(
      `${what} cannot start: ${failure instanceof Error ? failure.message : String(failure)}\n`,
    );
    process.exit(1);
  };
}

/** An uncaught error ends the process, but is not printed in full: a database error quotes the statement. */
export function endOnUncaught({ logger, close }: Logging): void {
  process.on('uncaughtException', (fault: unknown) => {
    logger.fatal({ fault: describeFault(fault) }, 'uncaught exception');
    const end = (): never => process.exit(1);
    setTimeout(end, LAST_LINE_MS);
    void close().then(end, end);
  });
}

/** On the first signal it stops, writes the last line and exits. */
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
  // Nothing should get here. The process continues, since it is handling other people's work.
  process.on('unhandledRejection', (fault) =>
    logger.error({ fault: describeFault(fault) }, 'unhandled rejection'),
  );
}

/** Reports on /readyz that the process is stopping, and serves on until the load balancer had time to notice. */
export async function leaveBalancer(readiness: Readiness, delayMs: number): Promise<void> {
  readiness.stop();
  await sleep(delayMs);
}
