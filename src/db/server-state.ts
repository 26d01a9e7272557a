import { type Connection, createConnection, type RowDataPacket } from 'mysql2';
import { failConnection, READ_CURRENT_SQL, type Replication, send } from './connections.js';
import type { Deadline } from '../core/timers.js';
import { errnoOf } from './failures.js';

/** State of a server and of its group (docs/operations/database.md, A group of servers). */
export interface ServerState {
  readonly identity: string;
  readonly replication: Replication;
  /** Whether the server accepts writes, by its own state and that of its group. */
  readonly isPrimary: boolean;
  /** Number of members before this one in the order of a Galera cluster; 0 in other groups. */
  readonly membersBefore: number;
}

/** MariaDB skips the version comments, because it does not have the variables in them. */
export const IDENTITY_SQL =
  "SELECT CONCAT_WS('/',@@hostname,@@port,@@server_id/*!50708 ,@@server_uuid*/) AS identity,@@GLOBAL.read_only AS is_read_only" +
  '/*!50708 ,@@GLOBAL.super_read_only AS is_super_read_only,@@GLOBAL.offline_mode AS is_offline*/';

export function identityOf(row: RowDataPacket | undefined): string {
  return String(row?.identity);
}

/** Whether the server is neither read-only nor offline. */
export function acceptsWrites(row: RowDataPacket | undefined): boolean {
  return (
    row !== undefined &&
    [row.is_read_only, row.is_super_read_only, row.is_offline].every((flag) =>
      ['0', 'OFF', 'undefined'].includes(String(flag)),
    )
  );
}

const MEMBER_SQL =
  'SELECT MEMBER_STATE AS state,MEMBER_ROLE AS role,(SELECT COUNT(*) FROM performance_schema.replication_group_members ' +
  "WHERE MEMBER_ROLE='PRIMARY') AS writers FROM performance_schema.replication_group_members WHERE MEMBER_ID=@@server_uuid";
const NODE_SQL =
  "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready','wsrep_cluster_status','wsrep_local_index')";
/** Waits because of READ_CURRENT_SQL. The subquery is needed, because SELECT 1 alone does not wait. */
const CURRENT_SQL = 'SELECT 1 FROM (SELECT 1 AS one) AS proof';
const UNKNOWN_VARIABLE = 1193;
const WATCH_WAIT_S = 30;

/** Connection for repeated checks of a server. */
export class ServerWatch {
  onBroken: () => void = () => undefined;

  private constructor(
    private readonly connection: Connection,
    readonly replication: Replication,
  ) {
    connection.on('error', () => this.onBroken());
  }

  static async open(
    options: Parameters<typeof createConnection>[0] & object,
    deadline: Deadline,
  ): Promise<ServerWatch> {
    const connection = createConnection(options);
    connection.on('error', () => undefined);
    try {
      const replication = await detectReplication(connection, deadline);
      // Limits, besides idle time, how long an abandoned connection waits for its group.
      await send(connection, `SET SESSION wait_timeout=${WATCH_WAIT_S}`, deadline);
      if (replication !== 'none') await send(connection, READ_CURRENT_SQL[replication], deadline);
      return new ServerWatch(connection, replication);
    } catch (failure) {
      connection.destroy();
      throw failure;
    }
  }

  /**
   * Reads the current state. In a group the last statement waits for all earlier commits, so it
   * fails on a member that was paused or isolated.
   */
  async readState(deadline: Deadline): Promise<ServerState> {
    const [row] = await rowsOf(this.connection, IDENTITY_SQL, deadline);
    const membersBefore = acceptsWrites(row) ? await this.countMembersBefore(deadline) : null;
    if (membersBefore !== null && this.replication !== 'none')
      await rowsOf(this.connection, CURRENT_SQL, deadline);
    const { replication } = this;
    const identity = identityOf(row);
    const isPrimary = membersBefore !== null;
    return { identity, replication, isPrimary, membersBefore: membersBefore ?? 0 };
  }

  close(): void {
    failConnection(this.connection, new Error('the server is no longer watched'));
  }

  /** Returns null if the server does not accept writes. */
  private async countMembersBefore(deadline: Deadline): Promise<number | null> {
    switch (this.replication) {
      case 'none':
        return 0;
      case 'group_replication': {
        const [own] = await rowsOf(this.connection, MEMBER_SQL, deadline);
        return own?.state === 'ONLINE' && own.role === 'PRIMARY' && String(own.writers) === '1'
          ? 0
          : null;
      }
      case 'galera': {
        // The members of a view agree on their order: the first that accepts writes is the writer.
        const rows = await rowsOf(this.connection, NODE_SQL, deadline);
        const status = new Map(rows.map((row) => [row.Variable_name, row.Value]));
        const isReady =
          status.get('wsrep_ready') === 'ON' && status.get('wsrep_cluster_status') === 'Primary';
        return isReady ? Number(status.get('wsrep_local_index')) : null;
      }
    }
  }
}

async function rowsOf(
  connection: Connection,
  sql: string,
  deadline: Deadline,
): Promise<RowDataPacket[]> {
  const answer = await send(connection, sql, deadline);
  return Array.isArray(answer) ? (answer as RowDataPacket[]) : [];
}

/** Detects a group by variables that exist only with its plugin or provider. */
async function detectReplication(connection: Connection, deadline: Deadline): Promise<Replication> {
  const plugin = await readVariable(connection, 'group_replication_group_name', deadline);
  if (plugin !== null && plugin !== '') return 'group_replication';
  const provider = await readVariable(connection, 'wsrep_on', deadline);
  return provider === '1' || provider === 'ON' ? 'galera' : 'none';
}

async function readVariable(
  connection: Connection,
  name: string,
  deadline: Deadline,
): Promise<string | null> {
  try {
    const [row] = await rowsOf(connection, `SELECT @@GLOBAL.${name} AS value`, deadline);
    return String(row?.value);
  } catch (failure) {
    if (errnoOf(failure) === UNKNOWN_VARIABLE) return null;
    throw failure;
  }
}
