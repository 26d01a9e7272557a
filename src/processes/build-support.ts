import { Approvals } from '../approvals/service.js';
import type { SupportConfig } from '../config/config.js';
import { providerOf } from '../config/sign-in.js';
import { workflowUrlOf } from '../config/servers.js';
import { createAdmin, Readiness } from '../http/admin.js';
import { ErrorWriter } from '../http/errors.js';
import type { Logger } from '../http/logging.js';
import { keyringMetrics } from '../http/metrics.js';
import { listen, type RunningServer } from '../http/node-server.js';
import { payoutApproval } from '../payouts/decide.js';
import { RailBreakers } from '../payouts/breaker.js';
import { railMetrics } from '../payouts/metrics.js';
import { RailCalls } from '../payouts/rail-calls.js';
import { openRails } from '../payouts/rails/registry.js';
import { DEFAULT_QUIET_MS, type ReleaseDeps } from '../payouts/release.js';
import type { DeskDeps } from '../support/desk.js';
import { resourceRoutes, waitingRoutes } from '../support/routes.js';
import { sessionRoutes } from '../support/sign-in.js';
import { singleSignOnRoutes } from '../support/single-sign-on/routes.js';
import { createSite } from '../support/site.js';
import { transferApproval } from '../transfers/approval-outcomes.js';
import type { TemporalParts } from './build-temporal.js';
import type { Core } from './build-api.js';
import { ledgerFitness, prepareLedger } from './build-ledger.js';

interface SupportServers {
  readonly readiness: Readiness;
  readonly desk: RunningServer;
  readonly admin: RunningServer;
}

/** Pages are served from then on, with 503 while MySQL is unavailable. */
export async function openSupport(
  config: SupportConfig,
  core: Core,
  temporal: TemporalParts,
  logger: Logger,
): Promise<SupportServers> {
  const errors = new ErrorWriter(config.DOCS_URL);
  keyringMetrics(core.registry, config);
  const { SUPPORT_URL: url, TRUSTED_PROXIES: trustedProxies } = config;
  const site = createSite({
    deps: buildDeskDeps(config, core, temporal, logger),
    settings: {
      ...{ url, trustedProxies, workflowUrl: workflowUrlOf(config), provider: providerOf(config) },
      withCode: config.SUPPORT_CODE_SIGN_IN === 'on',
    },
    logger,
    registry: core.registry,
    routes: [sessionRoutes, singleSignOnRoutes, waitingRoutes, resourceRoutes],
  });
  void prepareLedger(core);
  core.rollbacks.start(() => temporal.client.auditCheckpoint());
  const readiness = new Readiness(() => ledgerFitness(core));
  const admin = createAdmin({ registry: core.registry, readiness, errors });
  return {
    readiness,
    desk: await listen(site.callback(), errors, { host: config.HOST, port: config.PORT }),
    admin: await listen(admin, errors, { host: config.ADMIN_HOST, port: config.ADMIN_PORT }),
  };
}

function buildDeskDeps(
  config: SupportConfig,
  core: Core,
  { notifier }: TemporalParts,
  logger: Logger,
): DeskDeps {
  const { database, writer, clock } = core;
  return {
    database,
    writer,
    clock,
    encryptionKeys: config.ENCRYPTION_KEYS,
    transferApprovals: new Approvals(transferApproval, writer, database.reader, clock, notifier),
    payoutApprovals: new Approvals(payoutApproval, writer, database.reader, clock, notifier),
    release: buildRelease(config, core, logger),
  };
}

/** Money is only given back after asking the rail. */
function buildRelease(config: SupportConfig, core: Core, logger: Logger): ReleaseDeps {
  const { database, writer, clock, failpoints, registry } = core;
  const rails = openRails(core, config);
  const observer = railMetrics(registry, (rail, reason) =>
    logger.warn({ rail, reason }, 'a rail gave no answer'),
  );
  const breakers = new RailBreakers(database, clock);
  const calls = new RailCalls({ database, writer, clock, rails, failpoints, observer, breakers });
  return { calls, quietMs: (rail) => config.PAYOUT_RAIL_QUIET_S.get(rail) ?? DEFAULT_QUIET_MS };
}
