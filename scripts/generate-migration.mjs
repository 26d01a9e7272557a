/** `npm run migration:generate -- NAME`: writes a migration from the schema to the tables in src/db/entities. */
import { launch } from './lib/launch.mjs';

await launch({
  name: 'migrations',
  entry: 'dist/scripts/generate-migration.js',
  variable: 'MYSQL_ADMIN_URL',
});
