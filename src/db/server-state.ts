import { type Connection, createConnection, type RowDataPacket } from 'mysql2';
import { failConnection, READ_CURRENT_SQL, send } from './connections.js';
import type { Deadline } from '../core/timers.js';
import { errnoOf } from './failures.js';

/** State of a server and of its group (docs/operations/database.md, A group of servers). */
export interface ServerState {
  readonly identity: string;
  /** Whether it is a member of a Group Replication group. */
  readonly isGrouped: boolean;
  /** Whether the server accepts writes, by its own state and that of its group. */
  readonly isPrimary: boolean;
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
/** Waits because of READ_CURRENT_SQL. The subquery is needed, because SELECT 1 alone does not wait. */
const CURRENT_SQL = 'SELECT 1 FROM (SELECT 1 AS one) AS proof';
const UNKNOWN_VARIABLE = 1193;
const WATCH_WAIT_S = 30;

/** Connection for repeated checks of a server. */
export class ServerWatch {
  onBroken: () => void = () => undefined;

  private constructor(
    private readonly connection: Connection,
    private readonly isGrouped: boolean,
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
      const isGrouped = await isInGroup(connection, deadline);
      // Limits, besides idle time, how long an abandoned connection waits for its group.
      await send(connection, `SET SESSION wait_timeout=${WATCH_WAIT_S}`, deadline);
      if (isGrouped) await send(connection, READ_CURRENT_SQL, deadline);
      return new ServerWatch(connection, isGrouped);
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
    const { isGrouped } = this;
    const [row] = await rowsOf(this.connection, IDENTITY_SQL, deadline);
    const isPrimary = acceptsWrites(row) && (!isGrouped || (await this.isOnlyPrimary(deadline)));
    if (isPrimary && isGrouped) await rowsOf(this.connection, CURRENT_SQL, deadline);
    return { identity: identityOf(row), isGrouped, isPrimary };
  }

  close(): void {
    failConnection(this.connection, new Error('the server is no longer watched'));
  }

  private async isOnlyPrimary(deadline: Deadline): Promise<boolean> {
    const [own] = await rowsOf(this.connection, MEMBER_SQL, deadline);
    return own?.state === 'ONLINE' && own.role === 'PRIMARY' && String(own.writers) === '1';
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

/** Detects a group by a variable that exists only with the plugin. */
async function isInGroup(connection: Connection, deadline: Deadline): Promise<boolean> {
  try {
    const [row] = await rowsOf(
      connection,
      'SELECT @@GLOBAL.group_replication_group_name AS name',
      deadline,
    );
    return !['', 'null'].includes(String(row?.name));
  } catch (failure) {
    if (errnoOf(failure) === UNKNOWN_VARIABLE) return false;
    throw failure;
  }
}
