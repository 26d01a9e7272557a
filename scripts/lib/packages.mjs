import { join } from 'node:path';
import { readJson } from './files.mjs';
import { ROOT } from './paths.mjs';
import { part, UserError } from './progress.mjs';
import { findProgram, run } from './run.mjs';

let ensured;

/**
 * Installs the packages of package-lock.json unless node_modules has exactly these. Only once, however often it is
 * called.
 */
export function ensurePackages() {
  return (ensured ??= installPackages());
}

async function installPackages() {
  if (packagesAreCurrent()) return;
  await part('Packages', async (detail) => {
    const npm = process.env.npm_execpath;
    const [command, ...first] = npm ? [process.execPath, npm] : [findProgram('npm')];
    if (!command)
      throw new UserError('npm is not on the PATH: install Node.js with npm, then run this again.');
    await run(command, [...first, 'ci', '--no-audit', '--no-fund'], {
      cwd: ROOT,
      failure: 'npm ci could not install the packages',
      onLine: (line) => line.startsWith('npm warn') || detail(line),
    });
  });
}

/** npm keeps a lock of what is really installed in node_modules, written at the end of an installation. */
function packagesAreCurrent() {
  const wanted = readJson(join(ROOT, 'package-lock.json'));
  if (!wanted) throw new UserError('package-lock.json is missing: this is not a whole checkout.');
  const installed = readJson(join(ROOT, 'node_modules', '.package-lock.json'));
  if (!installed) return false;
  return Object.entries(wanted.packages).every(
    ([path, entry]) =>
      path === '' || entry.optional || installed.packages[path]?.version === entry.version,
  );
}
