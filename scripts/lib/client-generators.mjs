import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE } from './paths.mjs';
import { fetchByPip, pythonIn } from './pip.mjs';
import { step, UserError } from './progress.mjs';
import { findProgram, run } from './run.mjs';

const PYTHON = '0.29.1';
const GO = '2.8.2';

/** The generators that docs/guides/clients.md names, as `{command, args, env}`. pip and go fetch them. Throws a UserError. */
export async function findClientGenerators() {
  const failure = 'openapi-python-client could not be fetched';
  const title = `Fetching openapi-python-client ${PYTHON} (once)`;
  const packages = await fetchByPip('openapi-python-client', PYTHON, { title, failure });
  return {
    python: pythonIn(packages, '-m', 'openapi_python_client'),
    go: { command: await findGoGenerator(), args: [], env: process.env },
  };
}

async function findGoGenerator() {
  const folder = join(CACHE, `oapi-codegen-${GO}`);
  const program = join(folder, 'oapi-codegen');
  if (existsSync(program)) return program;
  const go = findProgram('go');
  if (!go) throw new UserError('oapi-codegen needs Go, which is not on the PATH');
  const draft = `${folder}.${process.pid}`;
  await step(`Fetching oapi-codegen ${GO} (once)`, (onLine) =>
    run(go, ['install', `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v${GO}`], {
      failure: 'oapi-codegen could not be fetched',
      onLine,
      env: { ...process.env, GOBIN: draft },
    }),
  );
  renameSync(draft, folder);
  return program;
}
