import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { readJson } from './files.mjs';
import { ROOT } from './paths.mjs';
import { choosePorts } from './ports.mjs';
import { say, UserError } from './progress.mjs';
import { findProgram, run } from './run.mjs';

const READY = 'Ctrl-C stops everything.';
const FOLDERS = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Variables without which some machines reach no package registry. */
const NETWORK =
  /^((https?|no|all)_proxy|PIP_.*|npm_config_registry|.*_CERTS?(_.*)?|.*_CA_(BUNDLE|INFO|CERTS))$/i;
/**
 * Commands that turn a copy of this machine, of which only the differences are stored, into one without the programs
 * that `npm start` fetches. Then they run both commands twice, with the environment that is given as arguments.
 */
const SCRIPT = `
set -eu
folder=$1; tests=$2; shift 2
cd "$folder"
mount -t tmpfs tmpfs machine
mkdir machine/upper machine/work machine/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/machine/upper,workdir=$folder/machine/work" machine/root
for name in proc dev sys; do mount --rbind "/$name" "machine/root/$name"; done
mkdir machine/root/fresh
mount --bind "$folder" machine/root/fresh
cd machine/root
chroot . env -i "$@" sh -eu -c '
  { apt-get purge -y --auto-remove "mysql-*" "mariadb-*" "default-mysql-*"; apt-get clean; } >/dev/null 2>&1
  for name in go temporal mysqld mariadbd; do
    while found=$(command -v $name); do rm "$found"; done
  done'
exec chroot . env -i "$@" sh -c "
  cd /fresh/checkout
  echo '> npm start, cold'; npm start --silent
  echo '> npm start, warm'; npm start --silent
  echo '> npm test'; npm test --silent -- $tests"
`;

/**
 * Times `npm start` and `npm test` from a clone of this commit on a machine without Go, MySQL, Temporal, packages and
 * caches. Without `tests`, the arguments of `npm test`, all tests run. Returns the exit code.
 */
export async function freshMachine(tests) {
  if (process.getuid?.() !== 0 || !findProgram('unshare') || !findProgram('apt-get'))
    throw new UserError('fresh-machine needs root on Debian or Ubuntu, and unshare.');
  const folder = mkdtempSync(join(tmpdir(), 'money-fresh-machine-'));
  // Ctrl-C reaches the commands directly. Their folder is removed once they have stopped.
  process.on('SIGINT', () => {});
  try {
    for (const name of ['home', 'machine']) mkdirSync(join(folder, name));
    await run('git', ['clone', '--quiet', ROOT, join(folder, 'checkout')], {
      failure: 'The commit cannot be cloned',
    });
    const { api } = await choosePorts(['api']);
    const network = Object.entries(process.env).filter(([name]) => NETWORK.test(name));
    const env = { ...Object.fromEntries(network), HOME: '/fresh/home', PORT: `${api}` };
    env.PATH = `${dirname(process.execPath)}:${FOLDERS}`;
    const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const args = ['--mount', 'bash', '-c', SCRIPT, 'bash', folder, tests.join(' '), ...settings];
    const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
    const times = await follow(child.stdout, join(folder, 'checkout/.run'));
    say(['', 'On a fresh machine:', ...times].join('\n'));
    return await ended;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Prints the output, makes a transfer and stops the service whenever it is ready, and returns a line about each command. */
async function follow(output, runFolder) {
  const times = [];
  let command;
  const seconds = () => `${((Date.now() - command.startedAt) / 1000).toFixed(1)} s`;
  for await (const line of createInterface({ input: output })) {
    say(line);
    if (line.startsWith('> ')) command = { name: line.slice(2), startedAt: Date.now() };
    if (/^\d+ passed, \d+ failed$/.test(line))
      times.push(`  ${command.name}: ${line} after ${seconds()}`);
    if (line !== READY) continue;
    const ready = seconds();
    await firstTransfer(readJson(join(runFolder, 'demo.json')));
    const memory = memoryMb(runFolder);
    times.push(
      `  ${command.name}: ready after ${ready}, first transfer after ${seconds()}, ${memory} MB of memory`,
    );
    process.kill(readJson(join(runFolder, 'pids.json')).owner.pid, 'SIGTERM');
  }
  return times;
}

async function firstTransfer({ base_url: base, tenants }) {
  const { accounts, tokens } = tenants.acme;
  const response = await fetch(`${base}/v1/transfers`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokens.owner}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({
      source_account: accounts.treasury.id,
      destination: { type: 'account', account_id: accounts.bruno.id },
      amount: { raw: '100000', asset: 'COPM' },
    }),
  });
  if (response.status !== 201)
    throw new Error(`the first transfer got ${response.status}: ${await response.text()}`);
}

/** Returns the memory of all parts and of `npm start` itself, with shared pages counted once. */
function memoryMb(runFolder) {
  const { owner, parts } = readJson(join(runFolder, 'pids.json'));
  const kib = [owner, ...Object.values(parts)].map(({ pid }) =>
    Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1]),
  );
  return Math.round(kib.reduce((sum, one) => sum + one, 0) / 1024);
}
