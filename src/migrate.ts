import { ConfigError, readMigrationConfig } from './config.js';
import { ExcessiveRights } from './db/least-rights.js';
import { migrate } from './db/migrate.js';

/** The migration step of a deployment: brings the schema up to date and applies the list of grants. */
try {
  const { MYSQL_ADMIN_URL, MYSQL_URL } = readMigrationConfig();
  const done = await migrate({ adminUrl: MYSQL_ADMIN_URL, url: MYSQL_URL });
  process.stdout.write(done.length === 0 ? 'the schema is up to date\n' : `migrated: ${done.join(', ')}\n`);
} catch (error) {
  const isPlain = error instanceof ConfigError || error instanceof ExcessiveRights;
  process.stderr.write(`${isPlain ? error.message : `migration failed: ${String(error)}`}\n`);
  process.exitCode = 1;
}
