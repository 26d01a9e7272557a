import { writeFileSync } from 'node:fs';
import { createConnection } from 'mysql2/promise';
import { DataSource } from 'typeorm';
import { ENTITY_SCHEMAS } from '../src/db/entity-schemas.js';
import { migrate } from '../src/db/migrate.js';

/**
 * Creates an empty database on the server that MYSQL_ADMIN_URL names, migrates it, and writes the statements that make
 * its schema agree with the definitions of the tables to a new file in `migrations`.
 */
const DATABASE = 'generated_migration';
const PASSWORD = 'migration-only';

const name = process.argv[2] ?? '';
const adminUrl = process.env.MYSQL_ADMIN_URL ?? '';
if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
  process.stderr.write(
    'Name the migration in kebab-case: npm run migration:generate -- transfer-color\n',
  );
  process.exit(1);
}

await prepareDatabase();
const { up, down } = await statements();
if (up.length === 0)
  process.stdout.write('The schema agrees with src/db/entities. No migration is needed.\n');
else writeMigration(up, down);

async function prepareDatabase(): Promise<void> {
  const admin = await createConnection({ uri: adminUrl });
  await admin.query(`DROP DATABASE IF EXISTS ${DATABASE}`);
  await admin.query(`CREATE DATABASE ${DATABASE} CHARACTER SET utf8mb4`);
  await admin.query(`CREATE USER IF NOT EXISTS '${DATABASE}'@'%' IDENTIFIED BY '${PASSWORD}'`);
  await admin.end();
  const url = databaseUrl();
  [url.username, url.password] = [DATABASE, PASSWORD];
  await migrate({ adminUrl, url: url.href });
}

async function statements(): Promise<{
  readonly up: readonly string[];
  readonly down: readonly string[];
}> {
  const source = new DataSource({
    type: 'mariadb',
    url: databaseUrl().href,
    entities: [...ENTITY_SCHEMAS],
  });
  await source.initialize();
  const { upQueries, downQueries } = await source.driver.createSchemaBuilder().log();
  await source.destroy();
  return {
    up: upQueries.map(({ query }) => query),
    down: downQueries.map(({ query }) => query).reverse(),
  };
}

function databaseUrl(): URL {
  const url = new URL(adminUrl);
  url.pathname = `/${DATABASE}`;
  return url;
}

function writeMigration(up: readonly string[], down: readonly string[]): void {
  const timestamp = Date.now();
  const className = `${name.replace(/(^|-)([a-z0-9])/g, (_, __, letter: string) => letter.toUpperCase())}${timestamp}`;
  const lines = (queries: readonly string[]): string =>
    queries.map((query) => `    await runner.query(${JSON.stringify(query)});`).join('\n');
  const file = `migrations/${timestamp}-${name}.ts`;
  writeFileSync(
    file,
    `import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ${className} implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
${lines(up)}
  }

  async down(runner: QueryRunner): Promise<void> {
${lines(down)}
  }
}
`,
  );
  process.stdout.write(
    `Wrote ${file}. Read it, add ${className} to migrations/index.ts, and run npm run format.\n`,
  );
}
