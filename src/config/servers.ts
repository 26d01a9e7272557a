import { z } from 'zod';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import {
  allowedHosts,
  count,
  hostAndPort,
  mysqlDatabaseUrl,
  nonEmpty,
  pem,
  railKeys,
  railSeconds,
  railTerms,
  railUrls,
  webUrl,
} from './values.js';
import { findTlsFault, ipAddressHosts, type TlsMaterial } from '../db/servers.js';
import type { TemporalOptions } from '../temporal/connection-options.js';

export const MYSQL_VARIABLES = {
  MYSQL_URL: mysqlDatabaseUrl.describe(
    'the application user: mysql://user:password@host:port/database; for a group, every server, comma-separated',
  ),
  MYSQL_TLS: z
    .enum(['on', 'off'])
    .default('off')
    .describe('on: use TLS with MySQL and verify its certificate'),
  MYSQL_TLS_CA: pem
    .optional()
    .describe("certificate authority of MySQL, PEM; by default Node's own"),
  MYSQL_TLS_CERTIFICATE: pem.optional().describe('client certificate for MySQL, PEM'),
  MYSQL_TLS_KEY: pem.optional().describe('secret: key of the client certificate for MySQL, PEM'),
} as const;

export type MysqlConfig = Readonly<z.infer<z.ZodObject<typeof MYSQL_VARIABLES>>>;
type MysqlTlsConfig = Omit<MysqlConfig, 'MYSQL_URL'>;

export function mysqlTls(config: MysqlTlsConfig): TlsMaterial | null {
  const { MYSQL_TLS_CA: ca, MYSQL_TLS_CERTIFICATE: certificate, MYSQL_TLS_KEY: key } = config;
  return config.MYSQL_TLS === 'off' ? null : { ca, certificate, key };
}

export function mysqlFaults(
  config: MysqlConfig & { readonly MYSQL_ADMIN_URL?: string | undefined },
): string[] {
  const tls = mysqlTls(config);
  if (tls === null) return [];
  const fault = findTlsFault(tls);
  const { MYSQL_URL, MYSQL_ADMIN_URL = '' } = config;
  const unnamed = Object.entries({ MYSQL_URL, MYSQL_ADMIN_URL }).flatMap(([name, url]) =>
    ipAddressHosts(url).map(
      (host) => `  ${name}: with MYSQL_TLS on, ${host} must be a name in its certificate`,
    ),
  );
  return [...(fault === null ? [] : [`  MYSQL_TLS_CERTIFICATE: ${fault}`]), ...unnamed];
}

export const TEMPORAL_VARIABLES = {
  TEMPORAL_ADDRESS: hostAndPort.default('127.0.0.1:7233').describe('where Temporal is: host:port'),
  TEMPORAL_NAMESPACE: nonEmpty.default('default').describe('the namespace of the workflows'),
  TEMPORAL_TLS: z.enum(['on', 'off']).default('off').describe('on: use TLS with Temporal'),
  TEMPORAL_TLS_CERTIFICATE: pem.optional().describe('client certificate for mutual TLS, PEM'),
  TEMPORAL_TLS_KEY: pem.optional().describe('secret: key of the client certificate, PEM'),
  TEMPORAL_TLS_CA: pem
    .optional()
    .describe("certificate authority of the server, PEM; by default the system's own"),
  TEMPORAL_TLS_SERVER_NAME: nonEmpty
    .optional()
    .describe("name in the server's certificate, if it is not the host of TEMPORAL_ADDRESS"),
  TEMPORAL_API_KEY: nonEmpty.optional().describe('secret: API key of Temporal Cloud'),
} as const;

export type TemporalConfig = Readonly<z.infer<z.ZodObject<typeof TEMPORAL_VARIABLES>>>;

export function temporalOptions(config: TemporalConfig): TemporalOptions {
  const {
    TEMPORAL_TLS_CERTIFICATE: certificate,
    TEMPORAL_TLS_KEY: key,
    TEMPORAL_TLS_CA: ca,
  } = config;
  const { TEMPORAL_TLS_SERVER_NAME: serverName } = config;
  const tls = config.TEMPORAL_TLS === 'off' ? null : { certificate, key, ca, serverName };
  const {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    TEMPORAL_API_KEY: apiKey,
  } = config;
  return { address, namespace, tls, apiKey };
}

/** `name.build`, as Temporal writes a version; the name has no dot, and the build may. */
const workerVersion = z.string().transform((text, context): WorkerDeploymentVersion => {
  const [, deploymentName = '', buildId = ''] =
    /^([A-Za-z0-9_-]{1,100})\.([A-Za-z0-9._-]{1,100})$/.exec(text) ?? [];
  if (buildId === '')
    context.addIssue(
      'must be name.build of letters, digits, - and _, such as money-movement.1.0.0',
    );
  return { deploymentName, buildId };
});

/** The release of a worker. (docs/operations/upgrade.md, Worker versions) */
export const TEMPORAL_WORKER_VERSION = workerVersion
  .optional()
  .describe(
    'deployment and build that workers report to Temporal, such as money-movement.1.0.0, with a new build for each image; if unset, they take tasks of every version',
  );

/** Null if the address of Temporal's UI is unknown. */
export function workflowUrlOf(config: {
  readonly SUPPORT_TEMPORAL_UI_URL?: string | undefined;
  readonly TEMPORAL_NAMESPACE: string;
}): ((workflowId: string) => string) | null {
  const { SUPPORT_TEMPORAL_UI_URL: ui, TEMPORAL_NAMESPACE: namespace } = config;
  if (ui === undefined) return null;
  const base = `${ui.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  return (workflowId) => `${base}/${encodeURIComponent(workflowId)}`;
}

/** (CONTRIBUTING.md, A rail) */
export const RAIL_VARIABLES = {
  PAYOUT_RAIL_URLS: railUrls
    .default(new Map())
    .describe('where gateways are, such as bank-a=https://gateway.example'),
  PAYOUT_RAIL_ALLOWED_HOSTS: allowedHosts
    .default([])
    .describe(
      'hosts whose gateways may be called over http, such as http://127.0.0.1:*; for development',
    ),
  PAYOUT_RAIL_KEYS: railKeys
    .default(new Map())
    .describe(
      'secret: keys shared with gateways, such as bank-a=k1:base64; the first of each signs, all verify',
    ),
  PAYOUT_RAIL_TERMS: railTerms
    .default(new Map())
    .describe(
      'which destinations, amounts and formats of keys a rail takes, as JSON (docs/payouts.md); by default a gateway takes bank accounts, the simulated rail keys too',
    ),
} as const;

export const RAIL_WORK_VARIABLES = {
  PAYOUT_RAIL_CALLS: count(1, 1_000)
    .default(20)
    .describe('calls to a rail at a time, per worker; each rail has its own limit'),
  PAYOUT_RAIL_PROBE_S: count(1, 3_600)
    .default(10)
    .describe(
      'how long a rail whose circuit breaker is open is not called before one call tries it; each later pause is twice the last, up to six times this',
    ),
  PAYOUT_STUCK_AFTER_S: count(1, 2_592_000)
    .default(900)
    .describe('how long after its submission a payout without an outcome is flagged for operators'),
  PAYOUT_RAIL_RETURN_WINDOW_S: railSeconds(3_600, 31_536_000)
    .default(new Map())
    .describe(
      'seconds for which completed payouts are still asked about, by gateway, such as bank-a=2592000; otherwise 60 days',
    ),
} as const;

/** `name=value,name=value`, as OpenTelemetry writes it; values may be percent-encoded. */
const headers = z.string().transform((text, context): Readonly<Record<string, string>> => {
  const pairs = text.split(',').map((pair) => /^\s*([A-Za-z0-9_-]+)\s*=\s*(.*?)\s*$/.exec(pair));
  if (pairs.includes(null)) context.addIssue('must be name=value pairs with commas between');
  return Object.fromEntries(
    pairs.flatMap((pair) => (pair === null ? [] : [[pair[1], decodeValue(pair[2] ?? '')]])),
  );
});

function decodeValue(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const TRACING_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl
    .optional()
    .describe(
      'where traces go: an OTLP collector over HTTP, such as http://collector:4318; if unset, nothing is traced',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: headers
    .default({})
    .describe('secret: headers that the collector asks for, comma-separated name=value'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe(
      'the share of traces to keep, by trace id; traces that the caller did not sample are never kept',
    ),
} as const;

export type TracingConfig = Readonly<z.infer<z.ZodObject<typeof TRACING_VARIABLES>>>;

export const AUDIT_VARIABLES = {
  AUDIT_PASS_EVERY_S: count(0, 2_592_000)
    .default(3_600)
    .describe(
      'how often a full audit of the ledger begins; the shorter, the less it pauses between reads; 0: never',
    ),
} as const;
