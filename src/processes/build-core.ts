import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { RecipientBudget, RECIPIENTS_FULL_AFTER_MS } from '../accounts/recipient-budget.js';
import type { ServiceConfig } from '../config/config.js';
import type { Keyring } from '../core/fingerprint.js';
import { poolMetrics, statementMetrics } from '../db/metrics.js';
import { createAdmin, createRegistry, type Fitness, Readiness } from '../http/admin.js';
import { ErrorWriter } from '../http/errors.js';
import { describeFault, type Logger } from '../http/logging.js';
import { buildInfo, keyringMetrics } from '../http/metrics.js';
import { listen } from '../http/node-server.js';
import { DatabaseClock } from '../ledger/database-clock.js';
import { accountAheadMetrics, writerMetrics } from '../ledger/writer/metrics.js';
import type { TemporalTracing } from '../temporal/workers.js';
import { buildLedger, type Ledger, ledgerFitness, prepareLedger } from './build-ledger.js';
import { buildTemporal, type TemporalParts } from './build-temporal.js';

/** The parts of every process. */
export interface Core extends Ledger, TemporalParts {
  readonly logger: Logger;
  readonly registry: Registry;
  readonly errors: ErrorWriter;
  /** The first key encrypts, and all keys decrypt. */
  readonly encryptionKeys: Keyring;
  readonly recipientBudget: RecipientBudget;
}

interface CoreOptions {
  readonly databaseClock?: DatabaseClock | undefined;
  readonly tracing?: TemporalTracing | null | undefined;
}

/** Builds the parts, which connect to MySQL and Temporal on first use. */
export function buildCore(
  config: ServiceConfig,
  logger: Logger,
  { databaseClock = new DatabaseClock(), tracing = null }: CoreOptions = {},
): Core {
  const registry = createRegistry();
  buildInfo(registry);
  keyringMetrics(registry, config);
  const ledger = buildLedger(config, {
    databaseClock,
    onAccountAhead: accountAheadMetrics(registry, (accountId, aheadMs) =>
      logger.error(
        { accountId, aheadMs },
        "an account is dated ahead of the database's clock: nothing is posted to it",
      ),
    ),
    observerOf: writerMetrics(registry),
    statementObserver: statementMetrics(registry),
    primaryObserver: {
      found: (server) => logger.info({ server }, 'using this MySQL server, which accepts writes'),
      lost: (server, reason) =>
        logger.warn({ server, fault: describeFault(reason) }, 'searching for the MySQL primary'),
      refused: (servers) =>
        logger.error({ servers }, 'several MySQL servers accept writes: none is used'),
    },
    onRolledBack: () =>
      logger.error(
        'rows that existed are missing: the ledger is closed until a restore is finished (restore status)',
      ),
    onFault: (kind, fault) =>
      logger.error(
        { kind, fault: describeFault(fault) },
        'a command failed because of an internal error',
      ),
  });
  poolMetrics(registry, ledger.database);
  const recipientBudget = new RecipientBudget(ledger.database, ledger.clock, ledger.writer, {
    ...config.NEW_RECIPIENTS,
    fullAfterMs: RECIPIENTS_FULL_AFTER_MS,
  });
  return {
    ...ledger,
    ...buildTemporal(config, { ...ledger, registry, logger }, tracing),
    logger,
    registry,
    recipientBudget,
    errors: new ErrorWriter(config.DOCS_URL),
    encryptionKeys: config.ENCRYPTION_KEYS,
  };
}

export async function closeCore(core: Core): Promise<void> {
  await core.writers.idle();
  core.rollbackGuard.stop();
  await core.notifier.stop();
  await Promise.all([core.database.close(), core.client.close()]);
}

interface AdminOptions {
  readonly fitness?: () => Promise<Fitness>;
  readonly moreMetrics?: () => Promise<string>;
}

/** Opens the admin port, and starts the checks for a database that was set back. */
export async function openAdmin(
  { ADMIN_HOST: host, ADMIN_PORT: port }: ServiceConfig,
  core: Core,
  { fitness = () => ledgerFitness(core), moreMetrics }: AdminOptions = {},
) {
  void prepareLedger(core);
  core.rollbackGuard.start(() => core.client.auditCheckpoint());
  const readiness = new Readiness(fitness);
  const admin = createAdmin({ ...core, readiness, ...(moreMetrics && { moreMetrics }) });
  const server = await listen(admin, core.errors, { host, port });
  /** Reports the stop on /readyz, and gives the load balancer time to notice it. */
  const leaveLoadBalancer = async (delayMs: number): Promise<void> => {
    readiness.stop();
    await sleep(delayMs);
  };
  return { port: server.port, leaveLoadBalancer, close: () => server.stop(0) };
}
