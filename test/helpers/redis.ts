import { mkdtemp } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './service-process.js';
import { until } from './temporal.js';
import { FolderProgram } from './test-program.js';

/** The Redis server of this machine; undefined if it has none. */
export const REDIS_SERVER = process.env.TEST_REDIS_SERVER;

/** A Redis of a test's own, with nothing on disk, which can be frozen, killed and started again on the same port. */
export class TestRedis extends FolderProgram {
  private constructor(
    private readonly program: string,
    folder: string,
    private readonly port: number,
  ) {
    super(folder);
  }

  static async start(program: string): Promise<TestRedis> {
    const [port] = await freePorts(1);
    const redis = new TestRedis(program, await mkdtemp(join(tmpdir(), 'money-redis-')), port!);
    await redis.begin();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async begin(): Promise<void> {
    const options = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    this.run(this.program, [...options, '--port', `${this.port}`, '--dir', this.folder]);
    await until('Redis answers', () => this.answers());
  }

  private answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1', () => socket.write('PING\r\n'));
      const end = (found: boolean): void => {
        socket.destroy();
        resolve(found);
      };
      socket.once('data', (data) => end(data.toString().startsWith('+PONG')));
      socket.once('error', () => end(false));
      socket.setTimeout(1_000, () => end(false));
    });
  }
}
