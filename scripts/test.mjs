/**
 * `npm test`: everything that the tests need, then the tests. The last line printed is always `N passed, N failed`.
 *
 *   npm test -- test/transfers -g 'held amount'   only these, and all types; mocha gets all other arguments
 *   npm test -- --keep                            leaves the servers running for the next run; --stop ends them
 *   npm run test:fast                             only *.unit.test.ts
 *   npm run test:mysql                            on MySQL itself where the machine's server is MariaDB
 */
import { join } from 'node:path';
import { PrivateServers, endKeptServers } from './lib/private-servers.mjs';
import { buildSite, bundleWorkflows, checkTypes, compile } from './lib/build.mjs';
import { findChromium } from './lib/chromium.mjs';
import { findHaproxy } from './lib/haproxy.mjs';
import { selectTests, startMocha } from './lib/mocha.mjs';
import { findOrInstallMysql } from './lib/mysql.mjs';
import { findNode24 } from './lib/node-24.mjs';
import { RUN } from './lib/paths.mjs';
import { bundlePrograms } from './lib/programs.mjs';
import { say, UserError } from './lib/progress.mjs';
import { findRealMysql, realMysqlAtHand } from './lib/real-mysql.mjs';
import { findRedis } from './lib/redis.mjs';
import { endCommands } from './lib/run.mjs';

const FOLDERS = { machine: join(RUN, 'test', 'machine'), mysql: join(RUN, 'test', 'mysql') };
const OUR_OPTIONS = ['--fast', '--mysql', '--keep', '--stop'];
/** Time for an interrupted mocha to report its results. */
const REPORT_MS = 1_000;

async function main() {
  const args = process.argv.slice(2);
  const has = (option) => args.includes(option);
  if (has('--stop')) return stopKept();
  const selection = selectTests(
    args.filter((arg) => !OUR_OPTIONS.includes(arg)),
    { onlyUnit: has('--fast') },
  );
  const servers =
    selection.needServers && new PrivateServers(has('--mysql') ? FOLDERS.mysql : FOLDERS.machine);
  const run = { mocha: undefined, interrupted: false };
  onInterrupt(run);
  let counts = { passed: 0, failed: 1 };
  const compiled = compile();
  const checksTypes = selection.isNamed && !has('--fast');
  const typeFaults = checksTypes && compiled.then(countTypeFaults, () => 0);
  try {
    const [env, node24, [chromium, redis, haproxy]] = await Promise.all([
      openServers(servers, { isReal: has('--mysql'), keep: has('--keep') }),
      servers && findNode24(),
      findTools(selection),
      compiled.then(() =>
        Promise.all([bundleWorkflows(), servers && bundlePrograms(), servers && buildSite()]),
      ),
    ]);
    if (!run.interrupted) {
      const real = servers && realMysqlAtHand();
      const found = {
        ...(real && { TEST_REAL_MYSQL: JSON.stringify(real) }),
        ...(node24 && { TEST_NODE_24: node24 }),
        ...(chromium && { TEST_CHROMIUM: chromium }),
        ...(redis && { TEST_REDIS_SERVER: redis }),
        ...(haproxy && { TEST_HAPROXY: haproxy }),
      };
      run.mocha = startMocha({ ...selection, env: { ...env, ...found } });
      counts = await run.mocha.counted;
    }
  } catch (error) {
    if (!run.interrupted) say(error instanceof UserError ? error.message : error.stack);
    endCommands();
  }
  if (servers) await servers.close();
  counts.failed += Number(await typeFaults);
  say(`${counts.passed} passed, ${counts.failed} failed`);
  process.exit(run.interrupted ? 130 : Number(counts.failed > 0));
}

/** Counts wrong types as one failure. */
async function countTypeFaults() {
  try {
    await checkTypes();
    return 0;
  } catch (error) {
    say(error.message);
    return 1;
  }
}

function findTools({ needBrowser, needRedis, needHaproxy }) {
  return Promise.all([
    needBrowser && findChromium(),
    needRedis && findRedis(),
    needHaproxy && findHaproxy(),
  ]);
}

async function openServers(servers, { isReal, keep }) {
  if (!servers) return process.env;
  const { mysqlAdminUrl, temporalAddress, temporaryFolder } = await servers.open({
    dataIn: 'memory',
    findMysql: isReal ? findRealMysql : findOrInstallMysql,
    bufferPool: '256M',
    withTemporal: true,
    keep,
  });
  return {
    ...process.env,
    ...(temporaryFolder && { TMPDIR: temporaryFolder }),
    TEST_MYSQL_ADMIN_URL: mysqlAdminUrl,
    TEST_TEMPORAL_ADDRESS: temporalAddress,
  };
}

async function stopKept() {
  const busy = (await Promise.all(Object.values(FOLDERS).map(endKeptServers))).reduce(
    (sum, count) => sum + count,
  );
  say(
    `The kept test servers have ended${busy > 0 ? `; test runs still in progress: ${busy}` : ''}.`,
  );
}

/** Ctrl-C reaches mocha directly, and then the servers end as after every run. */
function onInterrupt(run) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      run.interrupted = true;
      endCommands();
      if (run.mocha)
        setTimeout(
          () => run.mocha.child.kill('SIGTERM'),
          signal === 'SIGINT' ? REPORT_MS : 0,
        ).unref();
    });
  }
}

main().catch((error) => {
  say(error instanceof UserError ? error.message : error.stack);
  say('0 passed, 1 failed');
  process.exit(1);
});
