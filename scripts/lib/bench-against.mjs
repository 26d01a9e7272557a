import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readJson } from './files.mjs';
import { ROOT, RUN } from './paths.mjs';
import { UserError } from './progress.mjs';
import { run } from './run.mjs';

const ROWS = ['transfers-hot', 'transfers-random'];
const MIN_ROUNDS = 5;
/** Figures of a row's details that are not compared. */
const OMITTED = /^(groups|bare|writes)\b|\b(count|meanMs|maxMs|p90Ms|answered|unexpected)$/;

/**
 * Alternates the benchmark between another commit and this checkout, each with its own code and servers, and prints the
 * medians, their ratio and the spread of every figure that both have.
 */
export async function benchAgainst(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      against: { type: 'string' },
      rounds: { type: 'string', default: String(MIN_ROUNDS) },
      seconds: { type: 'string', default: '6' },
    },
  });
  const rows = positionals.length > 0 ? positionals : ROWS;
  const before = await checkOut(values.against);
  const [earlier, later] = [[], []];
  for (let round = 1; round <= Number(values.rounds); round++) {
    console.error(`Round ${round} of ${values.rounds}`);
    const turns = [
      () => earlier.push(measure(before, rows, values)),
      () => later.push(measure(ROOT, rows, values)),
    ];
    // Each goes first in turn, in case the machine becomes slower or faster.
    for (const turn of round % 2 === 1 ? turns : turns.reverse()) turn();
  }
  console.log(
    `\n${values.against} (A) and this checkout (B), ${values.rounds} rounds of ${values.seconds} s, alternating:\n`,
  );
  console.log('| Figure | A: median (spread) | B: median (spread) | B / A |\n|---|---|---|---|');
  for (const name of earlier[0].keys())
    if (later[0].has(name)) console.log(line(name, valuesOf(earlier, name), valuesOf(later, name)));
}

/** Returns a folder with the commit's files and, if they are the same, this checkout's packages. */
async function checkOut(commit) {
  const [id] = (
    await run('git', ['rev-parse', '--verify', `${commit}^{commit}`], {
      cwd: ROOT,
      failure: `${commit} is not a commit`,
    })
  ).split('\n');
  const folder = join(RUN, 'against', id.slice(0, 12));
  if (existsSync(folder)) return folder;
  mkdirSync(folder, { recursive: true });
  await run('sh', ['-c', `git archive ${id} | tar -x -C '${folder}'`], {
    cwd: ROOT,
    failure: `The files of ${commit} cannot be extracted`,
  });
  const lock = (root) => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock(ROOT))
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Returns the figures of one run by their names. */
function measure(folder, rows, { seconds }) {
  spawnSync(process.execPath, ['scripts/bench.mjs', ...rows, '--seconds', seconds], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const results = join(folder, 'bench/results');
  const latest = existsSync(results)
    ? readdirSync(results)
        .filter((name) => name.endsWith('.json'))
        .sort()
        .at(-1)
    : undefined;
  if (latest === undefined) throw new UserError(`The benchmark did not run in ${folder}.`);
  const figures = new Map();
  for (const { name, measured } of readJson(join(results, latest)).rows) {
    if (measured === undefined) throw new UserError(`${name} failed in ${folder}.`);
    collect(measured.details, [], (path, value) => figures.set(`${name} ${path}`, value));
    const { load, cpuUsPerRequest } = measured.details;
    if (load === undefined || cpuUsPerRequest === undefined) continue;
    const usedUs = Object.values(cpuUsPerRequest).reduce((sum, one) => sum + one, 0);
    const used = (load.perSecond * usedUs) / (1e6 * availableParallelism());
    figures.set(`${name} unused % of the machine`, (1 - used) * 100);
  }
  return figures;
}

function collect(value, path, add) {
  if (typeof value === 'number') {
    if (!OMITTED.test(path.join('.'))) add(path.join('.'), value);
  } else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) collect(inner, [...path, key], add);
}

function valuesOf(runs, name) {
  return runs.map((figures) => figures.get(name)).sort((a, b) => a - b);
}

function line(name, earlier, later) {
  const median = (sorted) => sorted[Math.floor(sorted.length / 2)];
  const text = (sorted) =>
    `${short(median(sorted))} (${short(sorted[0])} to ${short(sorted.at(-1))})`;
  return `| ${name} | ${text(earlier)} | ${text(later)} | ${(median(later) / median(earlier)).toFixed(2)} |`;
}

function short(value) {
  return Math.abs(value) < 100 ? value.toFixed(2) : value.toFixed(0);
}
