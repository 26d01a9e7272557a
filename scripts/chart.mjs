/**
 * `npm run chart`: renders the Helm chart, unchanged and with everything set, checks that the settings arrive, and
 * validates each object against Kubernetes' schemas. Exits with 1 if something is wrong. Checks whose tools are missing
 * are skipped, and reported.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { findHelm, findSchemas } from './lib/helm.mjs';
import { ROOT } from './lib/paths.mjs';
import { say, UserError } from './lib/progress.mjs';
import { run } from './lib/run.mjs';

const CHART = join(ROOT, 'deploy/helm');
/** The oldest version that the chart supports, and the newest with a schema. */
const VERSIONS = ['1.27', '1.37'];
/** A Helm built with plain Go assumes Kubernetes 1.20 by default. */
const KUBE_VERSION = ['--kube-version', VERSIONS[0]];
const MINIMAL = [...KUBE_VERSION, '--set', 'image.tag=1.2.3'];
const FULL = [
  ...MINIMAL,
  ...[
    '--set',
    'deployment=money-movement,secrets.rails=rails,migrate.until=1763746810000,scrape=false',
  ],
  ...[
    '--set',
    'environment.PAYOUT_RAILS=*=http:bank-a,api.environment.PORT=8081,api.nodeSelector.pool=api',
  ],
  ...[
    '--set',
    'files.MYSQL_TLS_CA.secret=mysql-tls,files.MYSQL_TLS_CA.key=ca\\.crt,api.files.REDIS_URL.secret=redis',
  ],
  ...['--set', 'api.files.REDIS_URL.key=url,environment.MYSQL_TLS=on'],
  ...['--set', 'imagePullSecrets[0].name=registry,worker.tolerations[0].operator=Exists'],
];

async function main() {
  const helm = await findHelm();
  if (!helm) return;
  const failure = 'The chart is wrong';
  await run(helm, ['lint', '--strict', CHART, ...MINIMAL], { failure });
  await run(helm, ['template', 'money', CHART, ...KUBE_VERSION], { failure }).then(
    () => {
      throw new UserError('The chart renders without image.tag.');
    },
    (error) => {
      if (!/image.tag says which release/.test(error.message)) throw error;
    },
  );
  const schemas = await findSchemas();
  const folder = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    for (const [name, values] of Object.entries({ minimal: MINIMAL, full: FULL })) {
      const file = join(folder, `${name}.yaml`);
      const rendered = await run(helm, ['template', 'money', CHART, ...values], { failure });
      writeFileSync(file, rendered);
      if (name === 'full') assertSettingsArrive(rendered);
      const objects = rendered.match(/^kind: /gm).length;
      for (const version of schemas ? VERSIONS : [])
        await run(schemas.command, [...schemas.args, '--kubernetes-version', version, file], {
          ...{
            failure: `The chart renders an object that is not valid for Kubernetes ${version}`,
            env: schemas.env,
          },
        });
      say(
        `${objects} objects, ${name} values: ${schemas ? `valid for Kubernetes ${VERSIONS.join(' and ')}` : 'rendered'}`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Settings for every program must reach each of them, including the migrations, and ports must match what the programs
 * listen on.
 */
function assertSettingsArrive(rendered) {
  const objects = parseAllDocuments(rendered).map((one) => one.toJS());
  const pods = objects.flatMap((one) => (one?.spec?.template ? [one.spec.template.spec] : []));
  const containers = pods.flatMap((pod) => pod.containers);
  assert.deepEqual(containers.map(({ name }) => name).sort(), [
    'api',
    'migrate',
    'support',
    'worker',
  ]);
  for (const { name, env, ports = [], volumeMounts } of containers) {
    const set = Object.fromEntries(env.map((one) => [one.name, one.value]));
    assert.equal(env.length, Object.keys(set).length, `${name}: a variable is given twice`);
    assert.equal(set.MYSQL_TLS, 'on', name);
    assert.equal(set.MYSQL_TLS_CA_FILE, '/run/secrets/files/MYSQL_TLS_CA', name);
    assert(
      volumeMounts.some(({ mountPath }) => mountPath === '/run/secrets/files'),
      name,
    );
    assert.equal('REDIS_URL_FILE' in set, name === 'api', name);
    const listens = { http: set.PORT, admin: set.ADMIN_PORT };
    for (const port of ports)
      assert.equal(String(port.containerPort), listens[port.name], `${name}: ${port.name}`);
  }
}

main().catch((error) => {
  say(error instanceof UserError ? error.message : error.stack);
  process.exit(1);
});
