import { buildTemporal } from './build-temporal.js';
import {
  buildConfiguredSending,
  buildCore,
  buildWebhookParts,
  openApiServers,
} from './build-api.js';
import { readConfig } from '../config/config.js';
import { assertLeastRights } from '../db/grants.js';
import { createLogging, describeFault, traceOfLine } from '../http/logging.js';
import {
  endOnSignals,
  endOnUncaught,
  leaveBalancer,
  openTracing,
  readOrExit,
  refusalToStart,
} from './process-life.js';
import { TestDeliveries } from '../webhooks/test-deliveries.js';

/** API process. On a signal, leaves the load balancer and finishes accepted requests. */

const DOCS_DELAY_MS = 60_000;

const config = readOrExit(readConfig);
const refuseToStart = refusalToStart('the service');
const tracing = await openTracing(config, 'api');
const logging = createLogging(
  config.LOG_LEVEL,
  'api',
  undefined,
  tracing === null ? undefined : traceOfLine,
);
const { logger } = logging;
endOnUncaught(logging);
const core = buildCore(config, logger);
await assertLeastRights(core.database.reader, refuseToStart).catch(refuseToStart);
const temporal = buildTemporal(config, core, logger, tracing?.temporal);
const sending = buildConfiguredSending(config);
const webhooks = buildWebhookParts(config, core, sending, temporal);
const tests = new TestDeliveries(webhooks, (fault) =>
  logger.error({ fault: describeFault(fault) }, 'a test delivery was not recorded'),
);
const servers = await openApiServers(
  config,
  core,
  temporal,
  { deps: webhooks, tests },
  logger,
).catch(refuseToStart);
logger.info({ port: servers.api.port, adminPort: servers.admin.port }, 'listening');
// Renders the docs later, because requests are waiting when a process starts.
setTimeout(() => void servers.docs.render(), DOCS_DELAY_MS).unref();

endOnSignals(logging, async () => {
  await leaveBalancer(servers.readiness, config.STOP_DELAY_MS);
  await servers.api.stop(config.SHUTDOWN_GRACE_MS);
  await core.writers.idle();
  await servers.requests.write();
  core.rollbacks.stop();
  servers.rates.close();
  await Promise.all([temporal.notifier.stop(), tests.stop(), sending.close()]);
  await Promise.all([
    core.database.close(),
    temporal.client.close(),
    servers.admin.stop(0),
    tracing?.stop(),
  ]);
});
