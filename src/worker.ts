import { setFlagsFromString } from 'node:v8';
import { buildBridge, buildConfiguredSending, buildCore, buildWebhookParts } from './app.js';
import { openWorker } from './app-worker.js';
import { ConfigError, readWorkerConfig, type WorkerConfig } from './config.js';
import { assertLeastRights } from './db/least-rights.js';
import { createLogging, describeFault } from './http/logging.js';
import { endOnUncaught } from './last-words.js';
import { installRuntime } from './temporal/workers.js';

/** The worker process: configuration → parts → work → on a signal begin nothing more, end what runs, then leave. */

// In MB, of each thread made after: the SDK's own take three times this for objects that are mostly gone at once.
setFlagsFromString('--max-semi-space-size=4');
const config = readConfigOrExit();
const logging = createLogging(config.LOG_LEVEL, 'worker');
const { logger, close: closeLog } = logging;
endOnUncaught(logging);
installRuntime(logger, config.SDK_METRICS_PORT);
const core = buildCore(config, logger);
await assertLeastRights(core.database.reader, refuseToStart).catch(refuseToStart);
const bridge = buildBridge(config, core, logger);
const sending = buildConfiguredSending(config);
const webhooks = buildWebhookParts(config, core, sending, (endpointId) => bridge.waker.endpoint(endpointId));
const parts = await openWorker(config, core, bridge, webhooks, logger).catch(refuseToStart);
logger.info({ adminPort: parts.admin.port, queues: config.WORKER_QUEUES }, 'working');

let isStopping = false;
process.on('SIGTERM', () => void stop('SIGTERM'));
process.on('SIGINT', () => void stop('SIGINT'));
// Nothing is expected to end here; the process goes on, since other work is in its hands.
process.on('unhandledRejection', (fault) => logger.error({ fault: describeFault(fault) }, 'unhandled rejection'));

async function stop(signal: string): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  logger.info({ signal }, 'stopping');
  await parts.stop();
  await sending.close();
  await core.desk.drained();
  await Promise.all([core.database.close(), bridge.client.close(), parts.admin.stop(0)]);
  await closeLog();
  process.exit(0);
}

/** A port in use, an address that is not ours, a database user who may do too much. */
function refuseToStart(failure: unknown): never {
  process.stderr.write(`the worker cannot start: ${failure instanceof Error ? failure.message : String(failure)}\n`);
  process.exit(1);
}

function readConfigOrExit(): WorkerConfig {
  try {
    return readWorkerConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
