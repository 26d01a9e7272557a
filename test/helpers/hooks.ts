import { appendFileSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;
/** CPU seconds, at the end of the last file: loading the next is part of its own. */
let used = 0;

/** Stops, audits and closes what the tests of a file left open. Nothing is opened here, so unit tests need no server. */
export const mochaHooks = {
  async afterAll(this: Mocha.Context): Promise<void> {
    // Loaded where there may be something to end: all that it needs takes a unit test most of a second.
    if (process.env.TEST_MYSQL_ADMIN_URL !== undefined) {
      const [{ stopStarted }, { closeTestDatabase }, { assertLedgerSound }] = await Promise.all([
        import('./after-tests.js'),
        import('./database.js'),
        import('./world.js'),
      ]);
      await stopStarted();
      await closeTestDatabase(assertLedgerSound);
    }
    const now = cpuSeconds();
    const { TEST_CPU_LOG: log } = process.env;
    const file = this.test?.parent?.suites[0]?.file;
    if (log !== undefined && file !== undefined) appendFileSync(log, `${now - used} ${file}\n`);
    used = now;
  },
};

/** Of this process and of its children that have ended. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childTicks() / TICKS_PER_SECOND;
}

/** Linux alone tells: proc_pid_stat(5), from the field after the name, which may hold anything. */
function childTicks(): number {
  if (process.platform !== 'linux') return 0;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ');
  return Number(fields[13]) + Number(fields[14]);
}
