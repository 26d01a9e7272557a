import { freePort } from './free-port.js';
import { ServiceProcess, startProgram } from './service-process.js';
import { type Environment, sharedSettings } from './settings.js';

/** Starts the service's worker process. Without Temporal it is never ready, but runs sweeps. */
export async function startWorker(
  environment: Environment,
  isTemporalReachable: boolean,
  profileFolder: string | null,
): Promise<ServiceProcess> {
  const started = await startProgram({
    name: 'worker',
    file: 'worker.js',
    nodeOptions: ['--max-old-space-size=256'],
    settings: {
      ...sharedSettings(environment),
      MALLOC_ARENA_MAX: '2',
      MALLOC_TRIM_THRESHOLD_: '131072',
    },
    adminPort: await freePort(),
    readyPage: isTemporalReachable ? '/readyz' : '/livez',
    profileFolder,
  });
  return new ServiceProcess(started);
}
