import { ConfigError, readMigrationConfig } from '../config/config.js';
import { mysqlTls } from '../config/servers.js';
import { ExcessiveRights } from '../db/grants.js';
import { ForeignSchema, migrate, MigrationUnderWay } from '../db/migrate.js';

const CLOSED = `the ledger is closed, because the database has tenants, but the user in MYSQL_URL had no rights in it until now, as in a copy.
Nothing is posted until two people open it: one with restore begin (--nothing-lost if only the user is new), one with restore finish.
`;

/** Migrates the schema, then grants rights. (docs/operations/upgrade.md, Upgrade) */
try {
  const config = readMigrationConfig();
  const { MYSQL_ADMIN_URL: adminUrl, MYSQL_URL: url } = config;
  const onWait = (statement: string): void =>
    void process.stderr.write(`waiting for a table in use: ${statement.slice(0, 120)}\n`);
  const onClosed = (): void => void process.stderr.write(CLOSED);
  const done = await migrate({ adminUrl, url, tls: mysqlTls(config), onWait, onClosed });
  process.stdout.write(
    done.length === 0 ? 'the schema is up to date\n' : `migrated: ${done.join(', ')}\n`,
  );
} catch (error) {
  const isPlain = [ConfigError, ExcessiveRights, ForeignSchema, MigrationUnderWay].some(
    (kind) => error instanceof kind,
  );
  process.stderr.write(
    `${isPlain && error instanceof Error ? error.message : `migration failed: ${String(error)}`}\n`,
  );
  process.exitCode = 1;
}
