import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createConnection } from 'mysql2/promise';
import { ENTRIES_OF_AN_OPERATION } from '../../bench/ledgers/shape.js';
import { migrate } from '../../src/db/migrate.js';
import { freshDatabase, openTestDatabase, type TestDatabase } from '../support/database.js';
import { buildRelease } from '../support/releases.js';

/** The last release whose transfers wrote into twice the indexes. (docs/decisions/0025-half-the-indexes.md) */
const RELEASE = '4adb05d^';
/** The application's, in that release's benchmarks. */
const USER = 'bench_app';

/** The parts of that release's `bench/ledgers`. */
interface OldBench {
  makeLedger(serverUrl: string, shape: object): Promise<{ readonly url: string; readonly adminUrl: string }>;
  evenLedger(name: string, entries: number): object;
}

/** How many operations from before a campaign begins with: `PROVE_MIGRATED`, else none. */
export const MIGRATED = Number(process.env.PROVE_MIGRATED ?? '0');

/** What a campaign begins with on a server of its own: a new database, or one with operations from before. */
export function startingLedger(serverUrl: string, name: string): Promise<TestDatabase> {
  return MIGRATED === 0 ? freshDatabase(serverUrl, name) : migratedLedger(serverUrl, MIGRATED);
}

/** A ledger of so many operations that an old release's own code wrote, brought up to date by every later migration. */
export async function migratedLedger(serverUrl: string, operations: number): Promise<TestDatabase> {
  const folder = await buildRelease(RELEASE);
  if (folder === null) throw new Error(`the history does not reach back to ${RELEASE}`);
  const { makeLedger, evenLedger } = await oldBench(folder);
  await forgetUser(serverUrl);
  const { url, adminUrl } = await makeLedger(serverUrl, evenLedger('before', operations * ENTRIES_OF_AN_OPERATION));
  await migrate({ url, adminUrl });
  return openTestDatabase({ name: new URL(url).pathname.slice(1), url, adminUrl });
}

/** What a later release granted it is more than the old one accepts. */
async function forgetUser(serverUrl: string): Promise<void> {
  const connection = await createConnection({ uri: serverUrl });
  await connection.query(`DROP USER IF EXISTS '${USER}'@'%'`);
  await connection.end();
}

async function oldBench(folder: string): Promise<OldBench> {
  const load = (module: string): Promise<OldBench> =>
    import(pathToFileURL(join(folder, `dist/bench/ledgers/${module}.js`)).href) as Promise<OldBench>;
  return { ...(await load('ledger')), ...(await load('shape')) };
}
