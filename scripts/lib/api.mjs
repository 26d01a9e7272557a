import { answersOk } from './ports.mjs';
import { programFile } from './programs.mjs';

/** Receivers and gateways on this machine, and no other private address. */
const THIS_MACHINE = 'http://127.0.0.1:*,http://localhost:*';

/** The configuration that all our processes share, including the operators' command line. */
export function sharedSettings({ addresses, urls, secrets }) {
  return {
    BASE_URL: addresses.base,
    DOCS_URL: addresses.docs,
    MYSQL_URL: urls.url,
    TEMPORAL_ADDRESS: addresses.temporal,
    SUPPORT_URL: addresses.support,
    ...(addresses.temporalUi ? { SUPPORT_TEMPORAL_UI_URL: addresses.temporalUi } : {}),
    FINGERPRINT_KEYS: process.env.FINGERPRINT_KEYS || secrets.fingerprint_keys,
    CURSOR_KEYS: process.env.CURSOR_KEYS || secrets.cursor_keys,
    ENCRYPTION_KEYS: process.env.ENCRYPTION_KEYS || secrets.encryption_keys,
    // The simulated rail never reaches a bank.
    PAYOUT_RAILS: process.env.PAYOUT_RAILS || '*=simulated',
    PAYOUT_RAIL_ALLOWED_HOSTS: process.env.PAYOUT_RAIL_ALLOWED_HOSTS ?? THIS_MACHINE,
    WEBHOOK_ALLOWED_HOSTS: process.env.WEBHOOK_ALLOWED_HOSTS ?? THIS_MACHINE,
  };
}

/** Returns the environment of our processes. The user's variables are passed on, except the shared settings. */
export function serviceEnv(settings, rates) {
  const env = { ...rates, LOG_LEVEL: 'info', ...process.env, ...settings };
  if (env.RATE_LIMITS === 'default') delete env.RATE_LIMITS;
  // Only the migrations may change tables.
  delete env.MYSQL_ADMIN_URL;
  return env;
}

/** Returns rate limits of a hundred times the defaults, so that people who try things out are not throttled. */
export async function demoRates() {
  if (process.env.RATE_LIMITS === 'default') return {};
  const [{ DEFAULT_NEW_RECIPIENTS: recipients }, { RATE_CLASS_DEFAULTS }] = await Promise.all([
    import('../../dist/src/config/rates.js'),
    import('../../dist/src/http/rate-limit.js'),
  ]);
  return {
    RATE_LIMITS: Object.entries(RATE_CLASS_DEFAULTS)
      .map(([name, { rate }]) => `${name}=${100 * rate}`)
      .join(','),
    NEW_RECIPIENTS: `${100 * recipients.ofToken}/${100 * recipients.ofTenant}`,
  };
}

/** The part that runs a worker. */
export function workerPart({ name, env, adminPort, log }) {
  return {
    name,
    command: process.execPath,
    // Without a limit, hundreds of megabytes of garbage accumulate.
    args: ['--enable-source-maps', '--max-old-space-size=256', programFile('worker')],
    // As in compose: memory freed by its many threads is shared.
    env: {
      ...env,
      MALLOC_ARENA_MAX: '2',
      MALLOC_TRIM_THRESHOLD_: '131072',
      ADMIN_PORT: `${adminPort}`,
    },
    log,
    isReady: () => answersOk(`http://127.0.0.1:${adminPort}/readyz`),
    readyMs: 60_000,
    stopMs: 45_000,
  };
}

/** The part that serves the support desk. */
export function supportPart({ env, port, adminPort, addresses, log }) {
  return {
    name: 'support',
    command: process.execPath,
    args: ['--enable-source-maps', '--max-old-space-size=256', programFile('support')],
    env: {
      ...env,
      HOST: '127.0.0.1',
      PORT: `${port}`,
      ADMIN_PORT: `${adminPort}`,
    },
    log,
    isReady: () => answersOk(`${addresses.supportAdmin}/readyz`),
    readyMs: 60_000,
    stopMs: 40_000,
  };
}

/** The part that serves the API. */
export function apiPart({ name, env, port, adminPort, log }) {
  return {
    name,
    command: process.execPath,
    // Requests are short-lived: with a larger young generation, collecting them takes a third less CPU time.
    args: ['--enable-source-maps', '--max-semi-space-size=64', programFile('api')],
    env: { ...env, HOST: '127.0.0.1', PORT: `${port}`, ADMIN_PORT: `${adminPort}` },
    log,
    isReady: () => answersOk(`http://127.0.0.1:${adminPort}/readyz`),
    readyMs: 60_000,
    stopMs: 40_000,
  };
}
