import { type Connection, createConnection } from 'mysql2/promise';

/** The session of the service's own connections (src/db/database.ts), on the driver alone. */
export async function openBare(url: string, mode: 'reads' | 'transactions'): Promise<Connection> {
  const connection = await createConnection({
    uri: url,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    multipleStatements: mode === 'transactions',
  });
  await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  await connection.query(`SET SESSION autocommit=${mode === 'reads' ? 1 : 0}, time_zone='+00:00'`);
  return connection;
}

export async function openMany(
  url: string,
  mode: 'reads' | 'transactions',
  count: number,
): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => openBare(url, mode)));
}

export async function closeAll(connections: readonly Connection[]): Promise<void> {
  await Promise.all(connections.map((connection) => connection.end()));
}
