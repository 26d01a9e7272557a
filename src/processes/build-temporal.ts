import type { Registry } from 'prom-client';
import type { ServiceConfig } from '../config/config.js';
import { temporalOptions } from '../config/servers.js';
import { describeFault, type Logger } from '../http/logging.js';
import { TemporalClient } from '../temporal/client.js';
import { relayMetrics } from '../temporal/metrics.js';
import { OutboxNotifier, Relay } from '../temporal/relay.js';
import { Outbox } from '../temporal/outbox.js';
import type { TemporalTracing } from '../temporal/workers.js';
import type { Ledger } from './build-ledger.js';
import { WORKFLOW_RESOURCES } from './workflow-resources.js';

/** The parts that pass work from the outbox in MySQL to Temporal. */
export interface TemporalParts {
  readonly client: TemporalClient;
  readonly outbox: Outbox;
  readonly relay: Relay;
  readonly notifier: OutboxNotifier;
}

interface TemporalDeps extends Ledger {
  readonly registry: Registry;
  readonly logger: Logger;
}

/** Builds them. They connect on first use, so the process works while Temporal is unavailable. */
export function buildTemporal(
  config: ServiceConfig,
  { registry, logger, ...ledger }: TemporalDeps,
  tracing: TemporalTracing | null,
): TemporalParts {
  const client = new TemporalClient(temporalOptions(config), tracing?.client);
  const outbox = new Outbox(ledger.database, ledger.clock);
  const relay = new Relay({
    ...ledger,
    outbox,
    client,
    resources: WORKFLOW_RESOURCES,
    observer: relayMetrics(registry, (message) => logger.warn(message)),
    lookAgainMs: config.WORKFLOW_LOOK_AGAIN_S * 1_000,
  });
  const notifier = new OutboxNotifier(relay, (fault) =>
    logger.warn({ fault: describeFault(fault) }, 'notifying failed: the sweeper retries'),
  );
  return { client, outbox, relay, notifier };
}
