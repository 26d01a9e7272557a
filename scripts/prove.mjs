/** `npm run prove -- …`: the long proofs (faults, races, random histories), on their own MySQL server. */
import { freshMachine } from './lib/fresh-machine.mjs';
import { requireHaproxy } from './lib/haproxy.mjs';
import { launch } from './lib/launch.mjs';
import { requireMariadbTools } from './lib/mariadb-tools.mjs';
import { findNode24 } from './lib/node-24.mjs';
import { findRealMysql } from './lib/real-mysql.mjs';

const names = process.argv.slice(2);
if (names[0] === 'fresh-machine') process.exit(await freshMachine(names.slice(1)));
const isAsked = (...some) => some.some((name) => names.includes(name));

// Only these need real MySQL, which may have to be fetched.
if (isAsked('failover', 'linearizability-failover', 'composed'))
  process.env.TEST_REAL_MYSQL = JSON.stringify(await findRealMysql());
if (names.length === 0 || isAsked('rolling', 'two-of-each', 'composed', 'upgrade'))
  process.env.TEST_HAPROXY = await requireHaproxy();
if (isAsked('restore')) await requireMariadbTools();
const node24 = isAsked('composed') && (await findNode24());
if (node24) process.env.TEST_NODE_24 = node24;
await launch({ name: 'prove', entry: 'dist/test/prove/main.js', variable: 'TEST_MYSQL_ADMIN_URL' });
