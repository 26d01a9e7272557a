import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './service-process.js';
import { connectTemporal, type TestTemporal, until } from './temporal.js';
import { importScript } from './scripts.js';
import { FolderProgram } from './test-program.js';

/** The result of scripts/lib/temporal.mjs. */
interface TemporalScripts {
  temporalPart(
    program: string,
    options: {
      readonly ports: Readonly<Record<'temporal' | 'temporalHttp' | 'temporalUi', number>>;
      readonly log: string;
      readonly database: string;
    },
  ): { readonly command: string; readonly args: readonly string[]; isReady(): Promise<boolean> };
}

const READY_MS = 60_000;
/** The database and what it writes ahead, in a folder of their own. */
const DATA = 'data';

/** A Temporal server of a test's own, on a file, which can be killed and started again on the same data. */
export class PrivateTemporal extends FolderProgram {
  /** The `default` namespace, with the search attributes. */
  readonly temporal: TestTemporal;
  private readonly settings: readonly string[];

  private constructor(
    private readonly part: ReturnType<TemporalScripts['temporalPart']>,
    folder: string,
    port: number,
    settings: Readonly<Record<string, number>>,
  ) {
    super(folder);
    this.temporal = connectTemporal(`127.0.0.1:${port}`, 'default');
    this.settings = Object.entries(settings).flatMap(([name, value]) => [
      '--dynamic-config-value',
      `${name}=${value}`,
    ]);
  }

  /** `settings` are of the server's dynamic configuration. */
  static async start(settings: Readonly<Record<string, number>> = {}): Promise<PrivateTemporal> {
    const { temporalPart } = await importScript<TemporalScripts>('temporal.mjs');
    const { findTemporal } = await importScript<{ findTemporal(): Promise<string> }>(
      'find-temporal.mjs',
    );
    const folder = await mkdtemp(join(tmpdir(), 'money-temporal-'));
    await mkdir(join(folder, DATA));
    const [temporal, temporalHttp, temporalUi] = await freePorts(3);
    const part = temporalPart(await findTemporal(), {
      ports: { temporal: temporal!, temporalHttp: temporalHttp!, temporalUi: temporalUi! },
      log: join(folder, 'temporal.log'),
      database: join(folder, DATA, 'temporal.db'),
    });
    const server = new PrivateTemporal(part, folder, temporal!, settings);
    await server.start();
    return server;
  }

  /** Starts it on the data that is there, and waits until it answers. */
  async start(): Promise<void> {
    this.run(this.part.command, [...this.part.args, ...this.settings]);
    await until('the private Temporal answers', () => this.part.isReady(), { limitMs: READY_MS });
  }

  /** Keeps a copy of all that it knows at this moment, as a backup would; it is away meanwhile. */
  async keepCopy(): Promise<void> {
    await this.replace(this.data, this.copy);
  }

  /** From now on it knows what it knew when the copy was kept, and nothing of what came after. */
  async restoreCopy(): Promise<void> {
    await this.replace(this.copy, this.data);
  }

  private async replace(from: string, to: string): Promise<void> {
    await this.kill();
    await rm(to, { recursive: true, force: true });
    await cp(from, to, { recursive: true });
    await this.start();
  }

  private get data(): string {
    return join(this.folder, DATA);
  }

  private get copy(): string {
    return join(this.folder, 'copy');
  }

  override async remove(): Promise<void> {
    await this.temporal.client.connection.close();
    await super.remove();
  }
}
