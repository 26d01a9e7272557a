/** `npm run prove -- …`: the long proofs (faults, races, random histories), on a MySQL server of their own. */
import { launch } from './lib/launch.mjs';
import { findRealMysql } from './lib/real-mysql.mjs';

// Only these need MySQL itself, which may have to be fetched.
if (process.argv.includes('failover')) process.env.TEST_REAL_MYSQL = JSON.stringify(await findRealMysql());
await launch({ name: 'prove', entry: 'dist/test/prove/main.js', variable: 'TEST_MYSQL_ADMIN_URL' });
