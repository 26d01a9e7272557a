import { join } from 'node:path';
import { freshDatabase, openTestDatabase, type TestDatabase } from '../support/database.js';
import { PrivateMysql } from '../support/private-mysql.js';
import { until } from '../support/temporal.js';

const NAME = 'money_replicated';

/** A server and its asynchronous replica, which takes no writes until it is promoted. */
export class ReplicaPair {
  private constructor(
    private readonly servers: readonly [PrivateMysql, PrivateMysql],
    readonly source: TestDatabase,
    readonly replica: TestDatabase,
    /** The application's, of both servers. */
    readonly url: string,
    private readonly words: 'SLAVE' | 'REPLICA',
  ) {}

  static async start(): Promise<ReplicaPair> {
    const options = (id: number) => (folder: string) =>
      Promise.resolve([
        `--log-bin=${join(folder, 'binlog')}`,
        `--server-id=${id}`,
        '--binlog-format=ROW',
      ]);
    const servers = await Promise.all([
      PrivateMysql.start(options(1)),
      PrivateMysql.start(options(2)),
    ]);
    const [first, second] = servers;
    const source = await freshDatabase(first.adminUrl, NAME);
    const [version] = await source.sql('SELECT VERSION() AS version');
    const words = String(version?.version).includes('MariaDB') ? 'SLAVE' : 'REPLICA';
    const elsewhere = (url: string): string => url.replace(`:${first.port}/`, `:${second.port}/`);
    const replica = openTestDatabase({
      name: NAME,
      url: elsewhere(source.url),
      adminUrl: second.adminUrl,
    });
    const { username, password } = new URL(first.adminUrl);
    const [change, prefix] =
      words === 'SLAVE' ? ['MASTER', 'MASTER'] : ['REPLICATION SOURCE', 'SOURCE'];
    const from = {
      HOST: "'127.0.0.1'",
      PORT: first.port,
      USER: `'${username}'`,
      PASSWORD: `'${password}'`,
    };
    const settings = Object.entries({ ...from, LOG_FILE: "'binlog.000001'", LOG_POS: 4 });
    const key = words === 'SLAVE' ? '' : ', GET_SOURCE_PUBLIC_KEY=1';
    await replica.sql(
      `CHANGE ${change} TO ${settings.map(([name, value]) => `${prefix}_${name}=${value}`).join(', ')}${key}`,
    );
    await replica.sql(`START ${words}`);
    await replica.sql('SET GLOBAL read_only=ON');
    const url = source.url.replace(`:${first.port}/`, `:${first.port},127.0.0.1:${second.port}/`);
    return new ReplicaPair(servers, source, replica, url, words);
  }

  /** Until the replica has everything that the source had at the call. */
  async caughtUp(): Promise<void> {
    const newest = 'SELECT HEX(MAX(id)) AS id FROM money_replicated.ledger_transactions';
    const [row] = await this.source.sql(newest);
    await until('the replica has caught up', async () => {
      const [own] = await this.replica.sql(newest).catch(() => []);
      return typeof own?.id === 'string' && own.id >= String(row?.id);
    });
    await this.replica.sql(`USE ${NAME}`);
  }

  async stopReplicating(): Promise<void> {
    await this.replica.sql(`STOP ${this.words}`);
  }

  /** Kills the source; from then on the replica takes writes. */
  async promote(): Promise<void> {
    await this.servers[0].kill();
    await this.replica.sql('SET GLOBAL read_only=OFF');
  }

  async remove(): Promise<void> {
    await this.source.database.close();
    await this.replica.close();
    await Promise.all(this.servers.map((server) => server.remove()));
  }
}
