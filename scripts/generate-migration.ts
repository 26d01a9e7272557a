import { readFileSync, writeFileSync } from 'node:fs';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { DataSource } from 'typeorm';
import { ENTITY_SCHEMAS, migrate } from '../src/db/migrate.js';

/**
 * Creates an empty database on the server that MYSQL_ADMIN_URL names, migrates it, and writes the
 * statements that make its schema agree with the definitions of the tables to a new file in
 * `migrations`, which it lists in `migrations/index.ts`.
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
const up = await statements();
if (up.length === 0)
  process.stdout.write('The schema agrees with src/db/entities. No migration is needed.\n');
else writeMigration(up);

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

async function statements(): Promise<readonly string[]> {
  const source = new DataSource({
    type: await serverType(),
    url: databaseUrl().href,
    entities: [...ENTITY_SCHEMAS],
  });
  await source.initialize();
  const { upQueries } = await source.driver.createSchemaBuilder().log();
  await source.destroy();
  return upQueries.map(({ query }) => query);
}

async function serverType(): Promise<'mariadb' | 'mysql'> {
  const admin = await createConnection({ uri: adminUrl });
  const [[row]] = await admin.query<RowDataPacket[]>('SELECT VERSION() AS version');
  await admin.end();
  return String(row?.version).includes('MariaDB') ? 'mariadb' : 'mysql';
}

function databaseUrl(): URL {
  const url = new URL(adminUrl);
  url.pathname = `/${DATABASE}`;
  return url;
}

function writeMigration(up: readonly string[]): void {
  const timestamp = Date.now();
  const className = `${name.replace(/(^|-)([a-z0-9])/g, (_, __, letter: string) => letter.toUpperCase())}${timestamp}`;
  const file = `migrations/${timestamp}-${name}.ts`;
  const queries = up.map((query) => `    await runner.query(${JSON.stringify(query)});\n`);
  writeFileSync(
    file,
    `import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ${className} implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
${queries.join('')}  }

  down(): Promise<void> {
    throw new Error('The schema only moves forward. Restore a backup instead.');
  }
}
`,
  );
  const index = 'migrations/index.ts';
  const listed = readFileSync(index, 'utf8')
    .replace('\n\n', `\nimport { ${className} } from './${timestamp}-${name}.js';\n\n`)
    .replace(/,?\s*\];\s*$/, `, ${className}];\n`);
  writeFileSync(index, listed);
  process.stdout.write(
    `Wrote ${file} and listed it in ${index}. Read it, and run npm run format.\n`,
  );
}
