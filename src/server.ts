import { buildBridge, buildConfiguredSending, buildCore, buildWebhookParts, openApiServers } from './app.js';
import { readConfig } from './config.js';
import { assertLeastRights } from './db/least-rights.js';
import { createLogging, describeFault } from './http/logging.js';
import { endOnSignals, endOnUncaught, readOrExit, refusalToStart } from './program-life.js';
import { Webhooks } from './webhooks/service.js';

/** The API process: configuration → parts → listen → on a signal finish what was accepted, answer it, then leave. */

const config = readOrExit(readConfig);
const refuseToStart = refusalToStart('the service');
const logging = createLogging(config.LOG_LEVEL, 'api');
const { logger } = logging;
endOnUncaught(logging);
const core = buildCore(config, logger);
await assertLeastRights(core.database.reader, refuseToStart).catch(refuseToStart);
const bridge = buildBridge(config, core, logger);
const sending = buildConfiguredSending(config);
const webhookParts = buildWebhookParts(config, core, sending, (endpointId) => bridge.waker.endpoint(endpointId));
const webhooks = new Webhooks(webhookParts, (fault) =>
  logger.error({ fault: describeFault(fault) }, 'a test delivery was not recorded'),
);
const servers = await openApiServers(config, core, bridge, webhooks, logger).catch(refuseToStart);
logger.info({ port: servers.api.port, adminPort: servers.admin.port }, 'listening');

endOnSignals(logging, async () => {
  servers.readiness.stop();
  await servers.api.stop(config.SHUTDOWN_GRACE_MS);
  await core.desk.drained();
  await servers.requests.write();
  core.guard.stop();
  await Promise.all([bridge.nudge.stop(), bridge.waker.stop(), webhooks.tests.stop(), sending.close()]);
  await Promise.all([core.database.close(), bridge.client.close(), servers.admin.stop(0)]);
});
