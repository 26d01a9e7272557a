import { setFlagsFromString } from 'node:v8';
import { asyncLocalStorage } from '@temporalio/activity';
import { readWorkerConfig } from '../config/config.js';
import { lowerPriority } from '../core/scheduling.js';
import { freeLoopbackPort, installRuntime } from '../temporal/workers.js';
import { openWorker } from './build-worker.js';
import { runProgram } from './process-life.js';

/** Worker process. On a signal, stops starting work and finishes running work. */

lowerPriority('worker');
// In MB, for threads created later. By default, the SDK's threads use three times as much, mostly
// for short-lived objects.
setFlagsFromString('--max-semi-space-size=4');

await runProgram({
  service: 'worker',
  programName: 'the worker',
  read: readWorkerConfig,
  logFields: activityFields,
  open: async (config, core, tracing) => {
    const { logger } = core;
    const metricsPort = await freeLoopbackPort();
    try {
      installRuntime(logger, metricsPort);
    } catch (failure) {
      const message = `port ${metricsPort} for the metrics of the Temporal SDK: ${String(failure)}`;
      throw new Error(message, { cause: failure });
    }
    const opened = await openWorker(config, core, { tracing, metricsPort });
    logger.info({ adminPort: opened.adminPort, queues: config.WORKER_QUEUES }, 'working');
    return opened;
  },
});

/** Returns the fields that a log line has when it is written by an activity. */
function activityFields(): object {
  const context = asyncLocalStorage.getStore();
  if (context === undefined) return {};
  const { activityType: activity, workflowExecution, attempt } = context.info;
  return { workflowId: workflowExecution?.workflowId, activity, attempt };
}
