import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type ComposedService, readComposeFile } from './compose-file.js';
import { type Container, ContainerNetwork } from './containers.js';
import { realMysql } from './mysql-group.js';
import { until } from './temporal.js';
import { TemporalImages } from './temporal-images.js';

const run = promisify(execFile);
const READY_MS = 180_000;

/**
 * The processes of docker-compose.yml on this machine: its commands, variables, secrets, files and names; MySQL with its options,
 * Temporal's programs as its own module has them.
 */
export class Composed {
  private readonly services: Readonly<Record<string, ComposedService>>;
  private mysqlFolder = '';

  private constructor(
    readonly network: ContainerNetwork,
    private readonly folder: string,
    services: Composed['services'],
    private readonly path: string,
    private readonly temporal: TemporalImages,
  ) {
    this.services = services;
  }

  /** Secrets as make-secrets.sh writes them; `environment` as the user of compose sets it, given the machine's own address. */
  static async prepare(
    environmentOf: (gateway: string) => Readonly<Record<string, string>>,
  ): Promise<Composed> {
    const network = await ContainerNetwork.open(readComposeFile({}).subnet);
    const folder = await mkdtemp(join(tmpdir(), 'money-composed-'));
    copyFileSync('deploy/docker/make-secrets.sh', join(folder, 'make-secrets.sh'));
    await run('sh', [join(folder, 'make-secrets.sh')]);
    const { services } = readComposeFile(environmentOf(network.gateway));
    const node = process.env.TEST_NODE_24 ?? process.execPath;
    const haproxy = dirname(process.env.TEST_HAPROXY ?? '/usr/sbin/haproxy');
    const temporal = await TemporalImages.build(folder);
    const path = [temporal.bin, dirname(node), haproxy, process.env.PATH ?? ''].join(':');
    return new Composed(network, folder, services, path, temporal);
  }

  secret(name: string): string {
    return readFileSync(join(this.folder, 'secrets', name), 'utf8').trim();
  }

  /** MySQL itself with the options of the file, its administrator's password from the secret. */
  async startMysql(): Promise<Container> {
    const server = realMysql();
    if (server === null) throw new Error('there is no MySQL here');
    const inside =
      server.root === ''
        ? join(this.folder, 'mysql')
        : join('/srv', this.folder.replaceAll('/', '-'));
    this.mysqlFolder = join(server.root, inside);
    mkdirSync(this.mysqlFolder, { recursive: true });
    const password = this.secret('mysql_root_password');
    writeFileSync(
      join(this.mysqlFolder, 'users.sql'),
      `CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '${password}';\nGRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION;\n`,
    );
    const program = server.root === '' ? [server.program] : ['chroot', server.root, server.program];
    const own = [
      '--no-defaults',
      '--user=root',
      `--datadir=${join(inside, 'data')}`,
      `--tmpdir=${inside}`,
    ];
    const [first = '', ...args] = [...program, ...own];
    await run(first, [...args, '--initialize-insecure']);
    const files = [
      '--socket=mysql.sock',
      '--pid-file=mysql.pid',
      '--mysqlx=OFF',
      '--secure-file-priv=NULL',
    ];
    const { command } = this.of('mysql');
    const container = await this.network.start({
      name: 'mysql',
      command: [
        ...program,
        ...own,
        ...files,
        `--init-file=${join(inside, 'users.sql')}`,
        ...command,
      ],
      environment: { PATH: this.path },
    });
    await this.untilHealthy(container, ['bash', '-c', 'exec 3<>/dev/tcp/127.0.0.1/3306'], 'mysql');
    return container;
  }

  /** Makes the tables in MySQL, the server over them, and the namespace. Resolves when workers can use it. */
  async startTemporal(): Promise<void> {
    await this.perform('temporal-schema');
    const container = await this.startOne('temporal');
    await this.untilHealthy(
      container,
      ['bash', '-c', 'exec 3<>/dev/tcp/127.0.0.1/7233'],
      'temporal',
    );
    await this.perform('temporal-namespace');
  }

  /** A step, which ends by itself. */
  async perform(name: string): Promise<void> {
    const container = await this.startOne(name);
    const code = await container.ended();
    if (code !== 0) throw new Error(`${name} ended with ${code}: ${container.output}`);
  }

  /** As many as the file says; resolves when each passes its health check. */
  async start(name: string): Promise<readonly Container[]> {
    const { scale, healthcheck } = this.of(name);
    const containers: Container[] = [];
    for (let index = 0; index < scale; index += 1) containers.push(await this.startOne(name));
    const test = (healthcheck?.test ?? []).slice(1);
    await Promise.all(containers.map((container) => this.untilHealthy(container, test, name)));
    return containers;
  }

  private startOne(name: string): Promise<Container> {
    const { entrypoint, command, environment, secrets, volumes } = this.of(name);
    const files = volumes
      .filter((volume) => volume.startsWith('.'))
      .map((volume) => volume.split(':'));
    const scripts = files.filter(([from = '']) => from.endsWith('.sh'));
    const others = files.filter(([from = '']) => !from.endsWith('.sh'));
    const mounted = Object.fromEntries(
      others.map(([from = '', seenAt = '']) => [seenAt, resolve(from)]),
    );
    return this.network.start({
      name,
      command: [...entrypoint, ...command].map((word) => fromScript(scripts, word)),
      environment: { PATH: this.path, ...environment },
      mounts: {
        ...(secrets.length > 0 ? { '/run/secrets': join(this.folder, 'secrets') } : {}),
        ...(name.startsWith('temporal') ? this.temporal.mounts(mounted) : mounted),
      },
    });
  }

  private async untilHealthy(
    container: Container,
    test: readonly string[],
    name: string,
  ): Promise<void> {
    await until(
      `${name} is healthy`,
      async () => {
        if (!container.isRunning) throw new Error(`${name} ended: ${container.output}`);
        return container.passes(test, this.path);
      },
      { limitMs: READY_MS },
    ).catch((failure: unknown) => {
      throw new Error(`${name} is not healthy: ${container.output}`, { cause: failure });
    });
  }

  private of(name: string): ComposedService {
    const found = this.services[name];
    if (found === undefined) throw new Error(`there is no service ${name}`);
    return found;
  }

  async close(): Promise<void> {
    await this.network.close();
    this.temporal.close();
    for (const folder of [this.folder, this.mysqlFolder])
      if (folder !== '') rmSync(folder, { recursive: true, force: true });
  }
}

/** A script that the file mounts somewhere is run from where it is. */
function fromScript(scripts: readonly (readonly string[])[], word: string): string {
  const from = scripts.find(([, seenAt]) => seenAt === word)?.[0];
  return from === undefined ? word : resolve(from);
}
