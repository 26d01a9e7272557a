import { readSupportConfig } from '../config/config.js';
import { openSupport } from './build-support.js';
import { runProgram } from './process-life.js';

/** Support process. On a signal, leaves the load balancer and finishes accepted requests. */

await runProgram({
  service: 'support',
  programName: 'the support desk',
  read: readSupportConfig,
  open: async (config, core) => {
    const opened = await openSupport(config, core);
    core.logger.info({ port: opened.port, adminPort: opened.adminPort }, 'listening');
    return opened;
  },
});
