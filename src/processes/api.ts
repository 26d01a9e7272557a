import { readConfig } from '../config/config.js';
import { startApi } from './build-api.js';
import { runProgram } from './process-life.js';

/** API process. On a signal, leaves the load balancer and finishes accepted requests. */

await runProgram({
  service: 'api',
  programName: 'the service',
  read: readConfig,
  open: async (config, core) => {
    const opened = await startApi(config, core);
    core.logger.info({ port: opened.port, adminPort: opened.adminPort }, 'listening');
    return opened;
  },
});
