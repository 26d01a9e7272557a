import { testEnvironment } from './api.js';
import { freePorts, ServiceProcess } from './service-process.js';

/** The API as it runs in production: a process of its own. */
export class ApiProcess extends ServiceProcess {
  readonly baseUrl: string;

  private constructor(
    environment: Readonly<Record<string, string>>,
    port: number,
    adminPort: number,
  ) {
    super('api', { ...environment, PORT: port.toString() }, adminPort);
    this.baseUrl = `http://127.0.0.1:${port}`;
  }

  /** Over the database; nothing runs before `start`. */
  static async prepare(
    mysqlUrl: string,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<ApiProcess> {
    const [port, adminPort] = await freePorts(2);
    return new ApiProcess(testEnvironment(mysqlUrl, environment), port!, adminPort!);
  }

  /** Starts the process, and waits until it is ready. */
  static async start(...parts: Parameters<typeof ApiProcess.prepare>): Promise<ApiProcess> {
    const api = await ApiProcess.prepare(...parts);
    await api.start();
    return api;
  }
}
