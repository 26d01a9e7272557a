import { type Connection, createConnection, type RowDataPacket } from 'mysql2';
import { failConnection, type Group, READ_CURRENT, send } from './connections.js';
import type { Deadline } from '../core/timers.js';
import { errnoOf } from './failures.js';

/** State of a server and of its group (docs/operations/database.md, A group of servers). */
export interface ServerState {
  readonly identity: string;
  readonly group: Group;
  /** Whether the server accepts writes, by its own state and that of its group. */
  readonly isPrimary: boolean;
  /** Number of members before this one in the order of a Galera cluster; 0 in other groups. */
  readonly membersBefore: number;
}

/** MariaDB lacks the variables in version comments, and skips these comments. */
export const IDENTITY_SQL =
  "SELECT CONCAT_WS('/',@@hostname,@@port,@@server_id/*!50708 ,@@server_uuid*/) AS identity,@@GLOBAL.read_only AS a" +
  '/*!50708 ,@@GLOBAL.super_read_only AS b,@@GLOBAL.offline_mode AS c*/';

export function identityOf(row: RowDataPacket | undefined): string {
  return String(row?.identity);
}

/** Whether the server is neither read-only nor offline. */
export function takesWrites(row: RowDataPacket | undefined): boolean {
  return (
    row !== undefined &&
    [row.a, row.b, row.c].every((flag) => ['0', 'OFF', 'undefined'].includes(String(flag)))
  );
}

const MEMBER_SQL =
  'SELECT MEMBER_STATE AS state,MEMBER_ROLE AS role,(SELECT COUNT(*) FROM performance_schema.replication_group_members ' +
  "WHERE MEMBER_ROLE='PRIMARY') AS writers FROM performance_schema.replication_group_members WHERE MEMBER_ID=@@server_uuid";
const NODE_SQL =
  "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready','wsrep_cluster_status','wsrep_local_index')";
/** Waits as READ_CURRENT demands. A statement without a table does not wait, hence the subquery. */
const CURRENT_SQL = 'SELECT 1 FROM (SELECT 1 AS one) AS proof';
const UNKNOWN_VARIABLE = 1193;
const WATCH_WAIT_S = 30;

/** Connection for repeated checks of a server. */
export class ServerWatch {
  onBroken: () => void = () => undefined;

  private constructor(
    private readonly connection: Connection,
    readonly group: Group,
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
      const group = await groupOf(connection, deadline);
      // Bounds the wait of an abandoned connection for its group.
      await send(connection, `SET SESSION wait_timeout=${WATCH_WAIT_S}`, deadline);
      if (group !== 'none') await send(connection, READ_CURRENT[group], deadline);
      return new ServerWatch(connection, group);
    } catch (failure) {
      connection.destroy();
      throw failure;
    }
  }

  /**
   * Reads the current state. In a group the last statement waits for all earlier commits, which a
   * member that was paused or cut off cannot complete.
   */
  async readState(deadline: Deadline): Promise<ServerState> {
    const [row] = await rowsOf(this.connection, IDENTITY_SQL, deadline);
    const membersBefore = takesWrites(row) ? await this.countBefore(deadline) : null;
    if (membersBefore !== null && this.group !== 'none')
      await rowsOf(this.connection, CURRENT_SQL, deadline);
    const { group } = this;
    const identity = identityOf(row);
    const isPrimary = membersBefore !== null;
    return { identity, group, isPrimary, membersBefore: membersBefore ?? 0 };
  }

  close(): void {
    failConnection(this.connection, new Error('the server is no longer watched'));
  }

  private async countBefore(deadline: Deadline): Promise<number | null> {
    switch (this.group) {
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

/** Detects the group by variables that exist only with its plugin or provider. */
async function groupOf(connection: Connection, deadline: Deadline): Promise<Group> {
  const plugin = await variable(connection, 'group_replication_group_name', deadline);
  if (plugin !== null && plugin !== '') return 'group_replication';
  const provider = await variable(connection, 'wsrep_on', deadline);
  return provider === '1' || provider === 'ON' ? 'galera' : 'none';
}

async function variable(
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
