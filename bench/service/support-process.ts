import { freePort } from './free-port.js';
import { ServiceProcess, startProgram, type Started } from './service-process.js';
import { type Environment, sharedSettings } from './settings.js';

/** The support desk's process. */
export class SupportProcess extends ServiceProcess {
  private constructor(
    started: Started,
    readonly port: number,
  ) {
    super(started);
  }

  static async start(
    environment: Environment,
    profileFolder: string | null,
  ): Promise<SupportProcess> {
    const [port, adminPort] = [await freePort(), await freePort()];
    const started = await startProgram({
      name: 'support',
      file: 'support.js',
      nodeOptions: [],
      settings: { ...sharedSettings(environment), HOST: '127.0.0.1', PORT: `${port}` },
      adminPort,
      readyPage: '/readyz',
      profileFolder,
    });
    return new SupportProcess(started, port);
  }
}
