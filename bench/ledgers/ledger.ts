import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createConnection } from 'mysql2/promise';
import type { Uuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { SCOPES } from '../../src/core/permissions.js';
import * as column from '../../src/db/columns.js';
import { members } from '../../src/db/entities/parties.js';
import { migrate } from '../../src/db/migrate.js';
import { operatorActor } from '../../src/access/audit-log.js';
import { issueToken } from '../../src/members/tokens.js';
import { withDatabase } from './database.js';
import { fillLedger } from './fill.js';
import { settle } from './settle.js';
import { ENTRIES_PER_OPERATION, type LedgerShape } from './shape.js';

/** A ledger that is ready for use. */
export interface Ledger {
  readonly shape: LedgerShape;
  /** The application's user. */
  readonly url: string;
  readonly adminUrl: string;
  readonly tenantId: Uuid;
  readonly memberId: Uuid;
  /** The token of a member who owns every account, with every scope. */
  readonly token: string;
  /** The accounts that may send, the busy one first. */
  readonly accountIds: readonly Uuid[];
  /** The entries of all accounts when the ledger was opened. */
  readonly entries: number;
  /** How long it took to make; null if an earlier run made it. */
  readonly madeInS: number | null;
}

const APP_PASSWORD = 'bench-only';
/** A ledger that earlier runs have grown beyond this share of its size is made again. */
const MAX_GROWTH = 1.1;
const DIST = new URL('../..', import.meta.url);

/** Opens the ledger of this shape that an earlier run made, or makes it if it is missing or outdated. */
export async function openLedger(serverUrl: string, shape: LedgerShape): Promise<Ledger> {
  return open(serverUrl, shape, await hasUsable(serverUrl, shape));
}

/** Makes an unused ledger of this shape. */
export async function makeLedger(serverUrl: string, shape: LedgerShape): Promise<Ledger> {
  return open(serverUrl, shape, false);
}

async function open(serverUrl: string, shape: LedgerShape, isUsable: boolean): Promise<Ledger> {
  const adminUrl = withPath(serverUrl, databaseOf(shape));
  const url = new URL(adminUrl);
  // Each ledger has its own user. A user of two ledgers would have more rights than the service accepts.
  url.username = databaseOf(shape);
  url.password = APP_PASSWORD;
  let madeInS: number | null = null;
  if (!isUsable) {
    const began = performance.now();
    await makeEmpty(serverUrl, databaseOf(shape));
    await migrate({ adminUrl, url: url.href });
    await fillLedger(adminUrl, shape);
    await run(adminUrl, `CREATE TABLE bench_mark AS SELECT '${fingerprintOf(shape)}' AS mark`);
    madeInS = (performance.now() - began) / 1000;
  }
  await settle(adminUrl);
  return { shape, url: url.href, adminUrl, madeInS, ...(await readParties(url.href)) };
}

function databaseOf({ name }: LedgerShape): string {
  return `bench_${name}`;
}

/** Returns a hash of what determines the ledger's content: the shape, the schema and the code that fills it. */
function fingerprintOf(shape: LedgerShape): string {
  const hash = createHash('sha256').update(JSON.stringify(shape));
  for (const folder of ['migrations/', 'bench/ledgers/'])
    for (const file of readdirSync(new URL(folder, DIST)).sort())
      if (file.endsWith('.js')) hash.update(readFileSync(new URL(folder + file, DIST)));
  return hash.digest('hex');
}

async function hasUsable(serverUrl: string, shape: LedgerShape): Promise<boolean> {
  const name = databaseOf(shape);
  const found = await run(
    serverUrl,
    `SELECT table_name FROM information_schema.tables WHERE table_schema='${name}' AND table_name='bench_mark'`,
  );
  if (found.length === 0) return false;
  const [row] = await run(
    withPath(serverUrl, name),
    'SELECT mark, (SELECT COUNT(*) FROM entries) AS entries FROM bench_mark',
  );
  return (
    row?.mark === fingerprintOf(shape) &&
    Number(row.entries) <= shape.operations * ENTRIES_PER_OPERATION * MAX_GROWTH
  );
}

async function makeEmpty(serverUrl: string, name: string): Promise<void> {
  for (const statement of [
    `DROP DATABASE IF EXISTS ${name}`,
    `CREATE DATABASE ${name} CHARACTER SET utf8mb4`,
    `CREATE USER IF NOT EXISTS '${name}'@'%' IDENTIFIED BY '${APP_PASSWORD}'`,
    // MySQL refuses LOAD DATA LOCAL by default.
    'SET GLOBAL local_infile=1',
  ])
    await run(serverUrl, statement);
}

async function run(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const connection = await createConnection({ uri: url });
  try {
    const [rows] = await connection.query(sql);
    return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
  } finally {
    await connection.end();
  }
}

function withPath(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function readParties(
  url: string,
): Promise<Pick<Ledger, 'tenantId' | 'memberId' | 'token' | 'accountIds' | 'entries'>> {
  return withDatabase(url, async (database) => {
    const member = await database.reader.find(members, { name: 'bench' });
    if (member === undefined) throw new Error('the ledger has no member');
    const tokenRequest = { name: 'bench', scopes: SCOPES, expiresAt: null, cidrs: [] };
    const { text } = await issueToken(
      database,
      systemClock,
      member,
      tokenRequest,
      operatorActor('bench'),
    );
    const rows = await database.reader.query(
      "SELECT id, type='system' AS is_system, (SELECT MAX(seq) FROM balances WHERE account_id=id) AS seq FROM accounts ORDER BY id",
    );
    const own = rows.filter((row) => row.is_system === 0 || row.is_system === '0');
    return {
      tenantId: member.tenantId,
      memberId: member.id,
      token: text,
      accountIds: own.map((row) => column.uuid.parse(row.id)),
      entries: rows.reduce((sum, row) => sum + Number(row.seq), 0),
    };
  });
}
