import { ConfigError, type ServiceConfig } from '../config/config.js';
import type { TracingConfig } from '../config/servers.js';
import { assertLeastRights } from '../db/grants.js';
import { createLogging, describeFault, type Logging, traceOfLine } from '../http/logging.js';
import type { TemporalTracing } from '../temporal/workers.js';
import { buildCore, type Core } from './build-core.js';
import type { Tracing } from './tracing-sdk.js';

/** Time limit for writing the last log lines. */
const LAST_LINES_TIMEOUT_MS = 1_500;

interface Program<Config> {
  readonly service: 'api' | 'worker' | 'support';
  /** Used in the message if the program cannot start, such as "the service". */
  readonly programName: string;
  readonly read: () => Config;
  /** Returns the fields of a log line, besides its trace. */
  readonly logFields?: () => object;
  /** Opens the ports and starts the work. `stop` ends both, and then closes the core. */
  readonly open: (
    config: Config,
    core: Core,
    tracing: TemporalTracing | null,
  ) => Promise<{ readonly stop: () => Promise<void> }>;
}

export async function runProgram<Config extends ServiceConfig & Partial<TracingConfig>>({
  service,
  programName,
  read,
  logFields,
  open,
}: Program<Config>): Promise<void> {
  const config = readOrExit(read);
  const refuse = refusalToStart(programName);
  const tracing = await openTracing(config, service);
  const fields = tracing === null ? logFields : () => ({ ...logFields?.(), ...traceOfLine() });
  const logging = createLogging(config.LOG_LEVEL, service, undefined, fields);
  endOnUncaught(logging);
  const core = buildCore(config, logging.logger, { tracing: tracing?.temporal });
  // If MySQL is unavailable, the check is repeated later and then calls `refuse` itself.
  await assertLeastRights(core.database.reader, refuse).catch(refuse);
  const opened = await open(config, core, tracing?.temporal ?? null).catch(refuse);
  endOnSignals(logging, async () => {
    await opened.stop();
    await tracing?.stop();
  });
}

/** Prints the errors and ends the program if the configuration is wrong. */
function readOrExit<Config>(read: () => Config): Config {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

/** Returns a handler that prints why the process cannot start, and exits with 1. */
export function refusalToStart(programName: string): (failure: unknown) => never {
  return (failure) => {
    process.stderr.write(
      `${programName} cannot start: ${failure instanceof Error ? failure.message : String(failure)}\n`,
    );
    process.exit(1);
  };
}

/** Ends the process after an uncaught error. Logs only parts, because MySQL's errors quote data. */
export function endOnUncaught({ logger, close }: Logging): void {
  process.on('uncaughtException', (fault: unknown) => {
    logger.fatal({ fault: describeFault(fault) }, 'uncaught exception');
    const end = (): never => process.exit(1);
    setTimeout(end, LAST_LINES_TIMEOUT_MS);
    void close().then(end, end);
  });
}

function endOnSignals({ logger, close }: Logging, stop: () => Promise<void>): void {
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

/** Returns null without loading the tracing packages if no endpoint is configured. */
async function openTracing(
  config: Partial<TracingConfig>,
  service: string,
): Promise<Tracing | null> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = config;
  if (endpoint === undefined) return null;
  const { startTracing } = await import('./tracing-sdk.js');
  const { OTEL_TRACES_SAMPLER_ARG: share = 1 } = config;
  return startTracing({ endpoint, headers: headers ?? {}, share, service });
}
