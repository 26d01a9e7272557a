import { describeFault, type Logging } from './http/logging.js';

/** How long the last line may take. */
const LAST_LINE_MS = 1_500;

/**
 * What nobody caught ends the process, as it must, but not with all that it carries: an error of the database quotes the
 * statement, and with it names and descriptions.
 */
export function endOnUncaught({ logger, close }: Logging): void {
  process.on('uncaughtException', (fault: unknown) => {
    logger.fatal({ fault: describeFault(fault) }, 'uncaught exception');
    const end = (): never => process.exit(1);
    setTimeout(end, LAST_LINE_MS);
    void close().then(end, end);
  });
}
