import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { writePrivateJson } from './files.mjs';
import { RUN } from './paths.mjs';

const FILE = join(RUN, 'demo.json');

/** The file with the secrets of the demo staff's authenticators. */
export function staffFile() {
  return { DEMO_STAFF_FILE: join(RUN, 'demo-staff.json') };
}

/** Writes .run/demo.json: addresses, process ids (`more`: besides the usual processes), and the demo world. */
export function writeDemoFile({ addresses, urls, isPrivate, world, more, pid }) {
  const app = new URL(urls.url);
  const admin = new URL(urls.adminUrl);
  writePrivateJson(FILE, {
    base_url: addresses.base,
    docs_url: addresses.docs,
    support_url: addresses.support,
    admin_url: addresses.admin,
    temporal: { address: addresses.temporal, namespace: 'default', ui_url: addresses.temporalUi },
    processes: {
      api: pid('api'),
      worker: pid('worker'),
      support: pid('support'),
      mysql: pid('mysql'),
      temporal: pid('temporal'),
      ...Object.fromEntries(more.map((name) => [name, pid(name)])),
    },
    mysql: {
      host: app.hostname,
      port: Number(app.port),
      user: decodeURIComponent(app.username),
      password: decodeURIComponent(app.password),
      database: app.pathname.slice(1),
      admin_user: isPrivate ? decodeURIComponent(admin.username) : null,
      admin_password: isPrivate ? decodeURIComponent(admin.password) : null,
    },
    tenants: world.tenants,
  });
}

/** Returns the text for when everything is ready: the addresses, and the command of a transfer. */
export function welcome({ addresses, world }) {
  const { accounts, tokens } = world.tenants.acme;
  const body = {
    source_account: accounts.treasury.id,
    destination: { type: 'account', account_id: accounts.bruno.id },
    amount: { raw: '100000', asset: 'COPM' },
    description: 'My first transfer',
  };
  return [
    '',
    `API           ${addresses.base}`,
    `Docs          ${addresses.docs}`,
    `Support desk  ${addresses.support} (sign in as demo-lead; its code: npm run demo:code -- demo-lead)`,
    ...(addresses.temporalUi ? [`Temporal UI   ${addresses.temporalUi}`] : []),
    `Metrics       ${addresses.admin} (API), ${addresses.workerAdmin} (worker), ${addresses.supportAdmin} (desk)`,
    'Files         .run/demo.json (accounts, tokens, database), .run/logs',
    '',
    'A transfer of COPM 1,000.00 from the treasury of acme to Bruno:',
    '',
    `  curl -i ${addresses.base}/v1/transfers \\`,
    `    -H 'Authorization: Bearer ${tokens.owner}' \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -H 'Idempotency-Key: ${randomUUID()}' \\`,
    `    -d '${JSON.stringify(body)}'`,
    '',
    'Ctrl-C stops everything.',
  ].join('\n');
}
