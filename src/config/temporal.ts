import { z } from 'zod';
import { hostAndPort, pem } from './values.js';
import type { TemporalOptions } from '../temporal/connecting.js';

/** Where Temporal is, for everything that connects to it. */
export const TEMPORAL_VARIABLES = {
  TEMPORAL_ADDRESS: hostAndPort.default('127.0.0.1:7233').describe('where Temporal is: host:port'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default').describe('the namespace of the workflows'),
  TEMPORAL_TLS: z.enum(['on', 'off']).default('off').describe('on: use TLS with Temporal'),
  TEMPORAL_TLS_CERTIFICATE: pem.optional().describe('client certificate for mutual TLS, PEM'),
  TEMPORAL_TLS_KEY: pem.optional().describe('secret: key of the client certificate, PEM'),
  TEMPORAL_TLS_CA: pem.optional().describe("certificate authority of the server, PEM; by default the system's own"),
  TEMPORAL_TLS_SERVER_NAME: z
    .string()
    .min(1)
    .optional()
    .describe("name in the server's certificate, if it is not the host of TEMPORAL_ADDRESS"),
  TEMPORAL_API_KEY: z.string().min(1).optional().describe('secret: API key of Temporal Cloud'),
} as const;

export type TemporalConfig = Readonly<z.infer<z.ZodObject<typeof TEMPORAL_VARIABLES>>>;

/** Where Temporal is, for clients, workers and the replay of histories alike. */
export function temporalOptions(config: TemporalConfig): TemporalOptions {
  const { TEMPORAL_TLS_CERTIFICATE: certificate, TEMPORAL_TLS_KEY: key, TEMPORAL_TLS_CA: ca } = config;
  const { TEMPORAL_TLS_SERVER_NAME: serverName } = config;
  const tls = config.TEMPORAL_TLS === 'off' ? null : { certificate, key, ca, serverName };
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TEMPORAL_API_KEY: apiKey } = config;
  return { address, namespace, tls, apiKey };
}

/** No dot: Temporal writes a version as `name.build`. */
const name = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/, 'must be letters, digits, - and _, 100 at most');
/** A build, such as `2026-11-22.1` or a commit. */
const build = z.string().regex(/^[A-Za-z0-9._-]{1,100}$/, 'must be letters, digits, dots, - and _, 100 at most');

/** Which release a worker is, for Temporal's worker versioning. (docs/operations.md, Worker versions) */
export const DEPLOYMENT_VARIABLES = {
  TEMPORAL_DEPLOYMENT_NAME: name
    .optional()
    .describe('the deployment that workers report to Temporal; if unset, they take tasks of every version'),
  TEMPORAL_BUILD_ID: build
    .optional()
    .describe('the version of that deployment: a new one for each build, such as the image tag'),
} as const;

type DeploymentConfig = Readonly<z.infer<z.ZodObject<typeof DEPLOYMENT_VARIABLES>>>;

export function deploymentFaults(config: DeploymentConfig): string[] {
  const { TEMPORAL_DEPLOYMENT_NAME: deployment, TEMPORAL_BUILD_ID: buildId } = config;
  if ((deployment === undefined) === (buildId === undefined)) return [];
  return ['  TEMPORAL_BUILD_ID: it and TEMPORAL_DEPLOYMENT_NAME are set together or not at all'];
}

/** The version in Temporal's form; null if workers have none. */
export function deploymentVersion(
  config: DeploymentConfig,
): { readonly deploymentName: string; readonly buildId: string } | null {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_BUILD_ID: buildId } = config;
  return deploymentName === undefined || buildId === undefined ? null : { deploymentName, buildId };
}
