import { buildBridge, buildCore } from './app.js';
import { openSupport } from './app-support.js';
import { ConfigError, readSupportConfig, type SupportConfig } from './config.js';
import { assertLeastRights } from './db/least-rights.js';
import { createLogging, describeFault } from './http/logging.js';
import { endOnUncaught } from './last-words.js';

/** The support desk's process: configuration → parts → listen → on a signal finish what was accepted, answer it, then leave. */

const config = readConfigOrExit();
const logging = createLogging(config.LOG_LEVEL, 'support');
const { logger, close: closeLog } = logging;
endOnUncaught(logging);
const core = buildCore(config, logger);
await assertLeastRights(core.database.reader, refuseToStart).catch(refuseToStart);
const bridge = buildBridge(config, core, logger);
const servers = await openSupport(config, core, bridge, logger).catch(refuseToStart);
logger.info({ port: servers.desk.port, adminPort: servers.admin.port }, 'listening');

let isStopping = false;
process.on('SIGTERM', () => void stop('SIGTERM'));
process.on('SIGINT', () => void stop('SIGINT'));
// Nothing is expected to end here; the process goes on, since other requests are in its hands.
process.on('unhandledRejection', (fault) => logger.error({ fault: describeFault(fault) }, 'unhandled rejection'));

async function stop(signal: string): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  logger.info({ signal }, 'stopping');
  await servers.desk.stop(config.SHUTDOWN_GRACE_MS);
  await core.desk.drained();
  core.guard.stop();
  await Promise.all([bridge.nudge.stop(), bridge.waker.stop()]);
  await Promise.all([core.database.close(), bridge.client.close(), servers.admin.stop(0)]);
  await closeLog();
  process.exit(0);
}

/** A port in use, an address that is not ours, a database user who may do too much. */
function refuseToStart(failure: unknown): never {
  process.stderr.write(
    `the support desk cannot start: ${failure instanceof Error ? failure.message : String(failure)}\n`,
  );
  process.exit(1);
}

function readConfigOrExit(): SupportConfig {
  try {
    return readSupportConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
