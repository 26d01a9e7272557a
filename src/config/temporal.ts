import type { WorkerDeploymentVersion } from '@temporalio/common';
import { z } from 'zod';
import { hostAndPort, nonEmpty, pem } from './values.js';
import type { TemporalOptions } from '../temporal/connection-options.js';

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
