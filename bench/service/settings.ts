import { RATE_CLASSES } from '../../src/http/rate-limit.js';

/** How the bench configures the processes of the service. */

/** The service's cursor key, with which the benchmark makes cursors of any depth itself. */
export const CURSOR_KEY = { id: 'bench', secret: Buffer.from('the cursors of the benchmarks, 32') };
export const FINGERPRINT_KEY = {
  id: 'bench',
  secret: Buffer.from('the fingerprints of benchmarks, 32'),
};
const ENCRYPTION_KEY = { id: 'bench', secret: Buffer.alloc(32, 'what the benchmarks seal') };

const NO_LIMIT = '1000000';

/** The database and the Temporal namespace of the processes. */
export interface Environment {
  /** The application's user of a ledger's database. */
  readonly url: string;
  readonly temporal: { readonly address: string; readonly namespace: string };
}

/** Settings of API and worker: the defaults, but receivers and rails are on this machine and recipients unlimited. */
export function sharedSettings({ url, temporal }: Environment): Record<string, string> {
  return {
    MYSQL_URL: url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    ENCRYPTION_KEYS: keys(ENCRYPTION_KEY),
    WEBHOOK_ALLOWED_HOSTS: 'http://127.0.0.1:*',
    PAYOUT_RAILS: '*=simulated',
    NEW_RECIPIENTS: '100000000/100000000',
  };
}

/** Settings of only the API, without rate limits. */
export function apiSettings(port: number): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    PORT: `${port}`,
    FINGERPRINT_KEYS: keys(FINGERPRINT_KEY),
    CURSOR_KEYS: keys(CURSOR_KEY),
    RATE_LIMITS: RATE_CLASSES.map((name) => `${name}=${NO_LIMIT}`).join(','),
  };
}

function keys({ id, secret }: typeof CURSOR_KEY): string {
  return `${id}:${secret.toString('base64')}`;
}
