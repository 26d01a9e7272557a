import { buildTemporal } from './build-temporal.js';
import { buildCore } from './build-api.js';
import { openSupport } from './build-support.js';
import { readSupportConfig } from '../config/config.js';
import { assertLeastRights } from '../db/grants.js';
import { createLogging } from '../http/logging.js';
import {
  endOnSignals,
  endOnUncaught,
  leaveBalancer,
  readOrExit,
  refusalToStart,
} from './process-life.js';

/** On a signal, the support desk leaves the load balancer and finishes accepted requests. */

const config = readOrExit(readSupportConfig);
const refuseToStart = refusalToStart('the support desk');
const logging = createLogging(config.LOG_LEVEL, 'support');
const { logger } = logging;
endOnUncaught(logging);
const core = buildCore(config, logger);
await assertLeastRights(core.database.reader, refuseToStart).catch(refuseToStart);
const temporal = buildTemporal(config, core, logger);
const servers = await openSupport(config, core, temporal, logger).catch(refuseToStart);
logger.info({ port: servers.desk.port, adminPort: servers.admin.port }, 'listening');

endOnSignals(logging, async () => {
  await leaveBalancer(servers.readiness, config.STOP_DELAY_MS);
  await servers.desk.stop(config.SHUTDOWN_GRACE_MS);
  await core.writers.idle();
  core.rollbacks.stop();
  await temporal.notifier.stop();
  await Promise.all([core.database.close(), temporal.client.close(), servers.admin.stop(0)]);
});
