import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../config/config.js';
import type { Readiness } from '../http/admin.js';
import { describeFault, type Logging } from '../http/logging.js';
import type { TracingConfig } from '../config/servers.js';
import type { Tracing } from './tracing-sdk.js';

/** Time limit for writing the last log line. */
const LAST_LINE_MS = 1_500;

/** Prints the errors and ends the program if the configuration is wrong. */
export function readOrExit<Config>(read: () => Config): Config {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

/** For example if a port is in use or the database user has too many rights. */
export function refusalToStart(what: string): (failure: unknown) => never {
  return (failure) => {
    process.stderr.write(
      `${what} cannot start: ${failure instanceof Error ? failure.message : String(failure)}\n`,
    );
    process.exit(1);
  };
}

/** Logs only parts of the error, because a database error quotes the statement. */
export function endOnUncaught({ logger, close }: Logging): void {
  process.on('uncaughtException', (fault: unknown) => {
    logger.fatal({ fault: describeFault(fault) }, 'uncaught exception');
    const end = (): never => process.exit(1);
    setTimeout(end, LAST_LINE_MS);
    void close().then(end, end);
  });
}

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
  // The process continues, because it is handling other requests.
  process.on('unhandledRejection', (fault) =>
    logger.error({ fault: describeFault(fault) }, 'unhandled rejection'),
  );
}

/** /readyz reports the stop, and the load balancer has time to notice. */
export async function leaveBalancer(readiness: Readiness, delayMs: number): Promise<void> {
  readiness.stop();
  await sleep(delayMs);
}

/** Returns null without loading the tracing packages if no endpoint is configured. */
export async function openTracing(config: TracingConfig, service: string): Promise<Tracing | null> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = config;
  if (endpoint === undefined) return null;
  const { startTracing } = await import('./tracing-sdk.js');
  return startTracing({ endpoint, headers, share: config.OTEL_TRACES_SAMPLER_ARG, service });
}
