import { setFlagsFromString } from 'node:v8';
import { asyncLocalStorage } from '@temporalio/activity';
import { buildTemporal } from './build-temporal.js';
import { buildConfiguredSending, buildCore } from './build-api.js';
import { openWorker } from './build-worker.js';
import { readWorkerConfig } from '../config/config.js';
import { lowerPriority } from '../core/concurrency.js';
import { assertLeastRights } from '../db/grants.js';
import { createLogging, traceOfLine } from '../http/logging.js';
import {
  endOnSignals,
  endOnUncaught,
  openTracing,
  readOrExit,
  refusalToStart,
} from './process-life.js';
import { freeLoopbackPort, installRuntime } from '../temporal/workers.js';

/** Worker process. On a signal, stops starting work and finishes running work. */

lowerPriority('worker');
// In MB, for threads created later. By default, the SDK's threads use three times as much, mostly
// for short-lived objects.
setFlagsFromString('--max-semi-space-size=4');
const config = readOrExit(readWorkerConfig);
const refuseToStart = refusalToStart('the worker');
const tracing = await openTracing(config, 'worker');
const logging = createLogging(config.LOG_LEVEL, 'worker', undefined, () => ({
  ...activityOfLine(),
  ...traceOfLine(),
}));
const { logger } = logging;
endOnUncaught(logging);
const metricsPort = await freeLoopbackPort();
try {
  installRuntime(logger, metricsPort);
} catch (failure) {
  refuseToStart(`port ${metricsPort} for the metrics of the Temporal SDK: ${String(failure)}`);
}
const core = buildCore(config, logger);
await assertLeastRights(core.database.reader, refuseToStart).catch(refuseToStart);
const temporal = buildTemporal(config, core, logger, tracing?.temporal);
const sending = buildConfiguredSending(config);
const sdk = { tracing: tracing?.temporal ?? null, metricsPort };
const deps = await openWorker(config, core, temporal, sending, logger, sdk).catch(refuseToStart);
logger.info({ adminPort: deps.admin.port, queues: config.WORKER_QUEUES }, 'working');

endOnSignals(logging, async () => {
  await deps.stop();
  await sending.close();
  await core.writers.idle();
  await Promise.all([
    core.database.close(),
    temporal.client.close(),
    deps.admin.stop(0),
    tracing?.stop(),
  ]);
});

/** Returns the fields that a log line has when it is written by an activity. */
function activityOfLine(): object {
  const context = asyncLocalStorage.getStore();
  if (context === undefined) return {};
  const { activityType: activity, workflowExecution, attempt } = context.info;
  return { workflowId: workflowExecution?.workflowId, activity, attempt };
}
