import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { type TestDatabase, testDatabase } from '../helpers/database.js';
import { PROOFS, SINGLE_ATTACKS } from './proofs.js';

/**
 * Runs the named campaigns with their full counts, or all: `node dist/test/prove/main.js NAME…`. Each campaign
 * prints its summaries, replaces its row in docs/proof.md, and adds a row to the log of runs.
 * TEST_MYSQL_ADMIN_URL names the server.
 */

/** The campaigns that can be named on the command line. */
const CAMPAIGNS = { ...PROOFS, ...SINGLE_ATTACKS };

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const RECORD = join(ROOT, 'docs/proof.md');
const LOG = join(ROOT, '.run/prove-runs.md');
const SHOWN_SUMMARIES = 2;

let uncaught = 0;

/** The commit that a campaign runs, for docs/proof.md, and the machine and programs, for the log of runs. */
async function circumstances(db: TestDatabase): Promise<{ commit: string; machine: string }> {
  const [row] = await db.sql('SELECT VERSION() AS version');
  const commit = git(['rev-parse', '--short', 'HEAD']);
  // Rows that earlier campaigns wrote to docs/proof.md do not change the tested code.
  const isChanged =
    git(['status', '--porcelain', '--', ':/', ':(exclude,top)docs/proof.md']) !== '';
  const memory = Math.round(totalmem() / 2 ** 30);
  const data = process.env.DATA_IN === 'memory' ? ', data in memory' : '';
  return {
    commit: `${commit}${isChanged ? ' with changes' : ''}${data}`,
    machine: [
      `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${memory} GB`,
      `Node ${process.versions.node}`,
      `database ${String(row?.version)}`,
    ].join(', '),
  };
}

function git(args: readonly string[]): string {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

/** The cells of a run. The count is the first number before a word in the first summary. */
function cellsOf(summaries: readonly string[], results: readonly string[]) {
  const count = /(\d+) [A-Za-z]{3,}/.exec(summaries[0]?.split(/[:|;]/)[0] ?? '')?.[1] ?? '–';
  const date = new Date().toISOString().slice(0, 10);
  return { count, date, result: results.join('<br>').replaceAll('|', '\\|') };
}

/** The beginnings of a run's first summaries, for docs/proof.md. The log of runs has the complete summaries. */
function shortened(summaries: readonly string[]): string[] {
  return summaries.slice(0, SHOWN_SUMMARIES).map((summary) => summary.split(';')[0] ?? summary);
}

/** Replaces the run of the campaign's row in the table, whose rows are in alphabetical order of campaigns. */
function record(name: string, { count, date, result }: ReturnType<typeof cellsOf>): void {
  const lines = readFileSync(RECORD, 'utf8').split('\n');
  const head = lines.findIndex((line) => line.startsWith('| ---')) + 1;
  const end = lines.indexOf('', head);
  const nameOf = (line: string): string => line.split(' | ')[1] ?? '';
  const rows = lines.slice(head, end);
  const old = rows.find((line) => nameOf(line) === name) ?? `|  | ${name} |  |  |  |  | 0 |`;
  const [promise = '|', , , code = ''] = old.split(' | ');
  const row = `${promise} | ${name} | ${count} | ${code} | ${date} | ${result} | 0 |`;
  const sorted = [...rows.filter((line) => line !== old), row].sort((a, b) =>
    nameOf(a) < nameOf(b) ? -1 : 1,
  );
  writeFileSync(RECORD, [...lines.slice(0, head), ...sorted, ...lines.slice(end)].join('\n'));
  execFileSync(process.execPath, [join(ROOT, 'scripts/lint/proof-age.mjs'), '--write']);
}

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => CAMPAIGNS[name] === undefined);
  if (unknown.length > 0) {
    process.stderr.write(
      `Unknown campaign: ${unknown.join(', ')}. Campaigns: ${Object.keys(CAMPAIGNS).join(', ')}\n`,
    );
    return 2;
  }
  const db = await testDatabase();
  const where = await circumstances(db);
  let failures = 0;
  for (const name of names.length === 0 ? Object.keys(PROOFS) : names)
    await prove(name, db, where).catch((failure: unknown) => {
      process.stderr.write(`${name} failed: ${inspect(failure)}\n`);
      failures += 1;
    });
  return failures + uncaught === 0 ? 0 : 1;
}

async function prove(
  name: string,
  db: TestDatabase,
  { commit, machine }: Awaited<ReturnType<typeof circumstances>>,
): Promise<void> {
  process.stdout.write(`${name} …\n`);
  const began = performance.now();
  const summaries = [await CAMPAIGNS[name]!(db)].flat();
  const seconds = Math.round((performance.now() - began) / 1000);
  for (const summary of summaries) process.stdout.write(`  ${summary}\n`);
  const { count, date, result } = cellsOf(summaries, [
    ...summaries,
    `(${machine}, ${commit}; ${seconds} s)`,
  ]);
  mkdirSync(dirname(LOG), { recursive: true });
  appendFileSync(LOG, `| ${name} | ${count} | ${date} | ${result} |\n`);
  record(name, cellsOf(summaries, [...shortened(summaries), `(${commit})`]));
}

// A call of a Temporal client that repeats itself throws when its connection was closed: a campaign that failed closes its connections.
process.on('uncaughtException', (fault) => {
  process.stderr.write(`uncaught: ${inspect(fault)}\n`);
  uncaught += 1;
});
// process.exit also stops the servers that the campaign has started.
process.once('SIGTERM', () => process.exit(143));
try {
  process.exit(await main(process.argv.slice(2)));
} catch (failure) {
  process.stderr.write(`failed: ${inspect(failure)}\n`);
  process.exit(1);
}
