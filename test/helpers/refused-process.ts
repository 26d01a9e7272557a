import { createLogging } from '../../src/http/logging.js';
import { refusalToStart } from '../../src/processes/process-life.js';

/** Ends as a process of the service does that cannot start, right after it has logged why. */
createLogging('info', 'test').logger.warn('the server takes no writes');
refusalToStart('the service')(new Error('no primary was found'));
