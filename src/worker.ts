import { setFlagsFromString } from 'node:v8';
import { buildBridge, buildConfiguredSending, buildCore, buildWebhookParts } from './app.js';
import { openWorker } from './app-worker.js';
import { readWorkerConfig } from './config.js';
import { giveWay } from './core/priority.js';
import { assertLeastRights } from './db/least-rights.js';
import { createLogging } from './http/logging.js';
import { endOnSignals, endOnUncaught, readOrExit, refusalToStart } from './program-life.js';
import { installRuntime } from './temporal/workers.js';

/** The worker process: configuration → parts → work → on a signal begin nothing more, end what runs, then leave. */

giveWay('worker');
// In MB, of each thread made after: the SDK's own take three times this for objects that are mostly gone at once.
setFlagsFromString('--max-semi-space-size=4');
const config = readOrExit(readWorkerConfig);
const refuseToStart = refusalToStart('the worker');
const logging = createLogging(config.LOG_LEVEL, 'worker');
const { logger } = logging;
endOnUncaught(logging);
installRuntime(logger, config.SDK_METRICS_PORT);
const core = buildCore(config, logger);
await assertLeastRights(core.database.reader, refuseToStart).catch(refuseToStart);
const bridge = buildBridge(config, core, logger);
const sending = buildConfiguredSending(config);
const webhooks = buildWebhookParts(config, core, sending, (endpointId) => bridge.waker.endpoint(endpointId));
const parts = await openWorker(config, core, bridge, webhooks, logger).catch(refuseToStart);
logger.info({ adminPort: parts.admin.port, queues: config.WORKER_QUEUES }, 'working');

endOnSignals(logging, async () => {
  await parts.stop();
  await sending.close();
  await core.desk.drained();
  await Promise.all([core.database.close(), bridge.client.close(), parts.admin.stop(0)]);
});
