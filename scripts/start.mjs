/** `npm start`: the whole service with a small demo world, from a fresh clone. Its building blocks are in lib/. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  apiPart,
  demoRates,
  serviceEnv,
  sharedSettings,
  supportPart,
  workerPart,
} from './lib/api.mjs';
import { buildSite, bundleWorkflows, compile, hashOfCode, isStamped } from './lib/build.mjs';
import { DATABASE, prepareNamedServer, privateUrls } from './lib/database.mjs';
import { staffFile, welcome, writeDemoFile } from './lib/demo.mjs';
import { readJson, writePrivateJson } from './lib/files.mjs';
import { findTemporal } from './lib/find-temporal.mjs';
import { findOrInstallMysql, mysqlPart } from './lib/mysql.mjs';
import { ROOT, RUN } from './lib/paths.mjs';
import { choosePorts, isFree } from './lib/ports.mjs';
import { haproxyPart, requireHaproxy } from './lib/haproxy.mjs';
import { endProcess, ProcessRegistry } from './lib/processes.mjs';
import { bundlePrograms, programFile } from './lib/programs.mjs';
import { part, say, step, UserError } from './lib/progress.mjs';
import { endCommands, run } from './lib/run.mjs';
import { loadSecrets } from './lib/secrets.mjs';
import { MAX_PROCESSES, readArguments, readPort } from './lib/start-arguments.mjs';
import { Supervisor } from './lib/supervise.mjs';
import { temporalPart } from './lib/temporal.mjs';

/** Returns names of processes, numbered from the second on: api, api-2. */
const numbered = (name, count) =>
  Array.from({ length: count }, (_, index) => (index === 0 ? name : `${name}-${index + 1}`));
/** The processes that take requests stop first, then the servers that they depend on. */
const STOP_ORDER = [
  'proxy',
  ...numbered('api', MAX_PROCESSES),
  'support',
  ...numbered('worker', MAX_PROCESSES),
  'temporal',
  'mysql',
];
const RUNTIME = join(RUN, 'runtime.json');
/** Ctrl-C reaches npm and this process, and npm forwards it: two signals this close count as one. */
const DOUBLE_SIGNAL_MS = 1_000;
const PARENT_CHECK_MS = 500;

const log = (name) => join(RUN, 'logs', `${name}.log`);

async function main() {
  const { fresh, ...counts } = readArguments();
  const port = readPort();
  const registry = claimCheckout();
  const supervisor = new Supervisor(registry, STOP_ORDER);
  const stop = stopOnSignal(supervisor, registry);
  try {
    await endLeftovers(registry);
    if (fresh) emptyRunFolder();
    if (!(await isFree(port))) {
      throw new UserError(
        `Port ${port} is in use: end the program that uses it, or choose another port with PORT=8081 npm start.`,
      );
    }
    await bringUp(supervisor, port, counts);
  } catch (error) {
    await stop(error);
  }
}

function claimCheckout() {
  const { registry, owner } = ProcessRegistry.claim(RUN);
  if (registry) return registry;
  throw new UserError(
    `npm start already runs in this checkout, as process ${owner.pid}: stop it there with Ctrl-C, or with kill ${owner.pid}.`,
  );
}

/** Ends the processes that a killed start left running. */
async function endLeftovers(registry) {
  const left = STOP_ORDER.filter((name) => registry.parts[name]);
  if (left.length === 0) return;
  await step(`Ending what an earlier start has left running: ${left.join(', ')}`, async () => {
    for (const name of left) {
      await endProcess(registry.parts[name], 20_000);
      registry.remove(name);
    }
  });
}

/** Removes everything that belongs to `npm start`, but not the folders of tests and benchmarks. */
function emptyRunFolder() {
  for (const name of readdirSync(RUN)) {
    if (!['pids.json', 'test', 'bench', 'prove'].includes(name))
      rmSync(join(RUN, name), { recursive: true });
  }
  if (process.env.MYSQL_URL)
    say('--fresh empties .run; the database that MYSQL_URL names is left as it is.');
}

async function bringUp(supervisor, port, { apis, workers }) {
  const secrets = loadSecrets(RUN);
  const names = [
    ...['mysql', 'temporal', 'temporalHttp', 'temporalUi', 'support', 'supportAdmin'],
    ...numbered('admin', apis),
    ...numbered('workerAdmin', workers),
    // Behind a proxy each API process has its own port.
    ...(apis === 1 ? [] : numbered('api', apis)),
  ];
  const ports = await choosePorts(names, readJson(RUNTIME)?.ports);
  rmSync(join(RUN, 'logs'), { recursive: true, force: true });
  const base = `http://127.0.0.1:${port}`;
  const addresses = {
    base,
    docs: `${base}/docs`,
    admin: `http://127.0.0.1:${ports.admin}`,
    workerAdmin: `http://127.0.0.1:${ports.workerAdmin}`,
    support: `http://127.0.0.1:${ports.support}`,
    supportAdmin: `http://127.0.0.1:${ports.supportAdmin}`,
    temporal: process.env.TEMPORAL_ADDRESS || `127.0.0.1:${ports.temporal}`,
    temporalUi: process.env.TEMPORAL_ADDRESS ? null : `http://127.0.0.1:${ports.temporalUi}`,
  };
  const options = { port, ports, addresses, secrets, apis, workers };
  const { urls, world } = await startService(supervisor, options);
  const isPrivate = !process.env.MYSQL_URL;
  const more = [
    ...numbered('api', apis).slice(1),
    ...numbered('worker', workers).slice(1),
    ...(apis > 1 ? ['proxy'] : []),
  ];
  const pid = (name) => supervisor.pid(name);
  const write = () => writeDemoFile({ addresses, urls, isPrivate, world, more, pid });
  supervisor.onChange = write;
  write();
  say(welcome({ addresses, world }));
}

/** Starts each part as soon as what it needs is ready. */
async function startService(supervisor, { port, ports, addresses, secrets, apis, workers }) {
  const code = compile({ onlyService: true });
  const programs = code.then(bundlePrograms);
  const bundle = code.then(bundleWorkflows);
  const site = code.then(buildSite);
  const rates = code.then(demoRates);
  const temporal = process.env.TEMPORAL_ADDRESS ? undefined : startTemporal(supervisor, ports);
  const startFirst = async () => {
    const urls = await startDatabase(supervisor, ports, secrets, programs);
    const settings = sharedSettings({ addresses, urls, secrets });
    writePrivateJson(RUNTIME, { ports, settings });
    const env = serviceEnv(settings, await rates);
    await migrate({ ...env, MYSQL_ADMIN_URL: urls.adminUrl });
    const [world] = await Promise.all([
      makeWorld(env),
      startApis(supervisor, { env, port, ports, apis }),
      startSupport(supervisor, { env, ports, addresses }),
      Promise.all([bundle, temporal]).then(() => startWorkers(supervisor, { env, ports, workers })),
    ]);
    return { urls, world };
  };
  const [started] = await Promise.all([startFirst(), bundle, site, rates, temporal]);
  return started;
}

/** Migrates the database, unless the last start migrated the private one with the same code. */
async function migrate(env) {
  const stamp = join(RUN, 'mysql', 'migrated');
  const state = hashOfCode(/^(migrations|src\/(db|core|config)|src\/processes\/migrate)/);
  if (!process.env.MYSQL_URL && isStamped(stamp, state)) return;
  await step('Migrating the database', () =>
    runProgram('migrate', env, 'The database could not be migrated'),
  );
  if (!process.env.MYSQL_URL) writeFileSync(stamp, state);
}

async function startSupport(supervisor, { env, ports, addresses }) {
  const support = supportPart({
    ...{ env, addresses, log: log('support') },
    ...{ port: ports.support, adminPort: ports.supportAdmin },
  });
  await part('Support desk', () => supervisor.start(support));
}

async function startWorkers(supervisor, { env, ports, workers }) {
  const admins = numbered('workerAdmin', workers);
  const parts = numbered('worker', workers).map((name, index) =>
    workerPart({ name, env, adminPort: ports[admins[index]], log: log(name) }),
  );
  await part(workers === 1 ? 'Worker' : `${workers} workers`, () =>
    Promise.all(parts.map((one) => supervisor.start(one))),
  );
}

/** Starts the API. A single process takes the port itself. Several are behind a proxy, which takes it. */
async function startApis(supervisor, { env, port, ports, apis }) {
  const names = numbered('api', apis);
  const admins = numbered('admin', apis);
  const servers = names.map((name, index) => ({
    name,
    port: apis === 1 ? port : ports[name],
    adminPort: ports[admins[index]],
  }));
  // A stopping process reports itself as not ready for this long before it refuses requests.
  const proxySettings = apis === 1 ? {} : { TRUSTED_PROXIES: '127.0.0.1', STOP_DELAY_MS: '2000' };
  const parts = servers.map((server) =>
    apiPart({ ...server, env: { ...env, ...proxySettings }, log: log(server.name) }),
  );
  const title = apis === 1 ? 'API' : `${apis} API processes`;
  await part(title, () => Promise.all(parts.map((one) => supervisor.start(one))));
  if (apis === 1) return;
  const proxy = haproxyPart(await requireHaproxy(), {
    ...{ folder: join(RUN, 'haproxy'), log: log('proxy') },
    ...{ port, servers },
  });
  await part('Proxy', () => supervisor.start(proxy));
}

/** Returns the database's URLs once it responds and the code is compiled. */
async function startDatabase(supervisor, ports, secrets, code) {
  if (process.env.MYSQL_URL) {
    await code;
    return prepareNamedServer(secrets);
  }
  await Promise.all([code, startPrivateMysql(supervisor, ports.mysql, secrets)]);
  return privateUrls(ports.mysql, secrets);
}

async function startPrivateMysql(supervisor, port, secrets) {
  const options = {
    folder: join(RUN, 'mysql'),
    port,
    log: log('mysql'),
    bufferPool: process.env.MYSQL_BUFFER_POOL || '256M',
    adminPassword: secrets.mysql_admin_password,
    app: { database: DATABASE, password: secrets.mysql_app_password },
  };
  await part('MySQL', async () =>
    supervisor.start(await mysqlPart(await findOrInstallMysql(), options)),
  );
}

async function startTemporal(supervisor, ports) {
  const options = { ports, log: log('temporal'), database: join(RUN, 'temporal.db') };
  await part('Temporal', async () => supervisor.start(temporalPart(await findTemporal(), options)));
}

/**
 * Makes the demo world and returns its ids and tokens. The service shows tokens and secrets of authenticators once, so
 * they are stored in files.
 */
async function makeWorld(env) {
  const tokens = { DEMO_TOKENS_FILE: join(RUN, 'demo-tokens.json') };
  const output = await part('Demo world', () =>
    runProgram(
      'demo-world',
      { ...env, ...tokens, ...staffFile() },
      'The demo world could not be made',
    ),
  );
  return JSON.parse(output);
}

function runProgram(program, env, failure) {
  return run(process.execPath, ['--enable-source-maps', programFile(program)], {
    cwd: ROOT,
    env,
    failure,
  });
}

/** Ends everything on Ctrl-C and SIGTERM, gracefully at first. The returned function does so because of an error. */
function stopOnSignal(supervisor, registry) {
  let begunAt;
  const stop = async (error) => {
    if (begunAt) return;
    begunAt = Date.now();
    if (error) say(error instanceof UserError ? error.message : error.stack);
    endCommands();
    if (supervisor.isRunning) await step('Stopping', () => supervisor.stop());
    registry.release();
    process.exit(error ? 1 : 0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (begunAt && Date.now() - begunAt > DOUBLE_SIGNAL_MS) {
        supervisor.kill();
        process.exit(130);
      }
      void stop();
    });
  }
  // Stops when npm was killed, because nothing else would end the processes.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event)
    setInterval(() => process.ppid === parent || void stop(), PARENT_CHECK_MS).unref();
  return stop;
}

main().catch((error) => {
  say(error instanceof UserError ? error.message : error.stack);
  process.exit(1);
});
