/** `npm run prove -- …`: the long proofs (faults, races, random histories), on a MySQL server of their own. */
import { launch } from './lib/launch.mjs';

await launch({ name: 'prove', entry: 'dist/test/prove/main.js', variable: 'TEST_MYSQL_ADMIN_URL' });
