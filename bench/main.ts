import { fileURLToPath } from 'node:url';
import { Bench } from './bench.js';
import { type Options, readOptions, USAGE } from './options.js';
import { describeMachine } from './report/machine.js';
import { printProfiles } from './report/profiles.js';
import { meetsAllTargets, markdownTable, type RowResult, writeResults } from './report/results.js';
import { say } from './report/say.js';
import { RowFailed } from './row-failed.js';
import { type Measured, medianOf, type Row } from './row.js';
import { chooseRows } from './rows/index.js';

/** The benchmark suite: `npm run bench`, which gives it its own MySQL and Temporal servers. */

const RESULTS = fileURLToPath(new URL('../../bench/results/', import.meta.url));

async function main(): Promise<boolean> {
  const servers = {
    mysqlAdminUrl: requireVariable('BENCH_MYSQL_ADMIN_URL'),
    temporalAddress: requireVariable('BENCH_TEMPORAL_ADDRESS'),
  };
  const { options, chosen } = readArgumentsOrExit();
  const date = new Date().toISOString();
  const machine = await describeMachine(servers.mysqlAdminUrl);
  const profileFolder = `${RESULTS}profiles/${date.replaceAll(':', '-')}`;
  const bench = new Bench(servers, options, profileFolder);
  const rows: RowResult[] = [];
  for (const row of chosen) rows.push(await runRow(row, bench, options.repeat));
  const results = { date, machine, options, rows };
  const path = writeResults(RESULTS, results);
  process.stdout.write(`\n${markdownTable(results)}\n`);
  if (options.isProfiled) printProfiles(profileFolder);
  say(`All figures: ${path}`);
  return meetsAllTargets(results);
}

function requireVariable(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '')
    throw new Error(`${name} is not set: run the benchmarks by npm run bench`);
  return value;
}

function readArgumentsOrExit(): { options: Options; chosen: readonly Row[] } {
  try {
    const options = readOptions(process.argv.slice(2));
    return { options, chosen: chooseRows(options.rows) };
  } catch (fault) {
    say(`${fault instanceof Error ? fault.message : String(fault)}\n\n${USAGE}`);
    process.exit(2);
  }
}

/** Measures a row. Returns its failure instead of throwing it, so that all other rows are still measured. */
async function runRow(row: Row, bench: Bench, repeat: number): Promise<RowResult> {
  const { name, title } = row;
  say(`${name}: ${title}`);
  try {
    const runs: Measured[] = [];
    while (runs.length < repeat) {
      const run = await row.run(bench);
      say(`  ${run.figures}; baseline ${run.baseline}; ratio ${run.ratio.toFixed(2)}`);
      runs.push(run);
    }
    return { name, title, ...medianOf(runs) };
  } catch (fault) {
    const failure =
      fault instanceof RowFailed
        ? fault.message
        : String(fault instanceof Error ? fault.stack : fault);
    say(`  failed: ${failure}`);
    return { name, title, failure };
  }
}

// On exit it also ends the processes that it started (service-process.ts).
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));

main().then(
  (isMet) => process.exit(isMet ? 0 : 1),
  (fault: unknown) => {
    say(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault));
    process.exit(2);
  },
);
