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

/** Printed once everything is up: the addresses, a token, and a transfer that works as it stands. */
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
    `The service runs at ${addresses.base}`,
    '',
    `  API documentation   ${addresses.docs}`,
    `  Support desk        ${addresses.support} (demo-lead; its code: npm run demo:code -- demo-lead)`,
    `  Metrics and health  ${addresses.admin} (API), ${addresses.workerAdmin} (worker), ${addresses.supportAdmin} (desk)`,
    ...(addresses.temporalUi ? [`  Temporal UI         ${addresses.temporalUi}`] : []),
    '  For support         docs/support.md: what waits for approval, and how to decide it',
    '  A code of the staff npm run demo:code -- demo-lead (or demo-support)',
    '  Everything else     .run/demo.json (accounts, tokens, database), .run/logs',
    '',
    `A token of acme's owner: ${tokens.owner}`,
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
