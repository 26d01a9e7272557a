import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE } from './paths.mjs';
import { fetchByPip, pythonIn } from './pip.mjs';
import { say, step } from './progress.mjs';
import { findProgram, run } from './run.mjs';

const HELM = 'v3.19.0';
const SCHEMAS = '1.37.0';
/** Reports a check that was skipped for lack of a tool. */
const reportSkipped = (why) => say(`  ${why}`);

/** Helm from the machine or the cache, or built into the cache if there is Go; undefined if not available. */
export async function findHelm() {
  const found = process.env.HELM_BIN || findProgram('helm');
  if (found) return found;
  const folder = join(CACHE, `helm-${HELM}`);
  const helm = join(folder, 'helm');
  const go = findProgram('go');
  if (!existsSync(helm) && go)
    await build(go, folder).catch((error) => reportSkipped(error.message));
  if (existsSync(helm)) return helm;
  reportSkipped(
    'HELM IS MISSING, and Go to build it: the chart is not rendered. Install Helm, or set HELM_BIN.',
  );
  return undefined;
}

async function build(go, folder) {
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  await step(`Building Helm ${HELM} (once)`, (onLine) =>
    run(go, ['install', '-trimpath', '-ldflags=-s -w', `helm.sh/helm/v3/cmd/helm@${HELM}`], {
      failure: 'Helm could not be built',
      onLine,
      env: { ...process.env, GOBIN: draft, CGO_ENABLED: '0' },
    }),
  );
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
}

/** A command that validates objects against Kubernetes' schemas: `{command, args, env}`; undefined if not available. */
export async function findSchemas() {
  const title = 'Fetching the schemas of Kubernetes (once)';
  try {
    const folder = await fetchByPip('kubernetes-validate', SCHEMAS, {
      title,
      failure: 'pip could not fetch them',
    });
    return pythonIn(folder, join(folder, 'bin/kubernetes-validate'), '--strict');
  } catch (error) {
    reportSkipped(error.message);
    reportSkipped(
      'THE SCHEMAS OF KUBERNETES ARE MISSING (Python with pip fetches them): the rendered objects are not validated.',
    );
    return undefined;
  }
}
