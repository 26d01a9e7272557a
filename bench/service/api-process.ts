import { freePort } from './free-port.js';
import { type GroupHistogram, parseGroupSizes } from './group-sizes.js';
import { ServiceProcess, startProgram, type Started } from './service-process.js';
import { apiSettings, type Environment, sharedSettings } from './settings.js';

/** The service's API process. */
export class ApiProcess extends ServiceProcess {
  private constructor(
    started: Started,
    readonly port: number,
  ) {
    super(started);
  }

  static async start(environment: Environment, profileFolder: string | null): Promise<ApiProcess> {
    const [port, adminPort] = [await freePort(), await freePort()];
    const started = await startProgram({
      name: 'api',
      file: 'api.js',
      // As in scripts/lib/api.mjs.
      nodeOptions: ['--max-semi-space-size=64'],
      settings: { ...sharedSettings(environment), ...apiSettings(port) },
      adminPort,
      readyPage: '/readyz',
      profileFolder,
    });
    return new ApiProcess(started, port);
  }

  /** Returns the sizes of all groups since the start of the process. */
  async groupSizes(): Promise<GroupHistogram> {
    return parseGroupSizes(await this.metrics());
  }
}
