import { Approvals } from '../approvals/service.js';
import type { SupportConfig } from '../config/config.js';
import { providerOf } from '../config/sign-in.js';
import { workflowUrlOf } from '../config/servers.js';
import { listen } from '../http/node-server.js';
import { payoutApproval } from '../payouts/decide.js';
import { RailBreakers } from '../payouts/breaker.js';
import { railMetrics } from '../payouts/metrics.js';
import { RailCalls } from '../payouts/rail-calls.js';
import { openRails } from '../payouts/rails/registry.js';
import { DEFAULT_QUIET_MS, type ReleaseDeps } from '../payouts/resolution/approve.js';
import { resourceRoutes, waitingRoutes } from '../support/routes.js';
import { sessionRoutes } from '../support/sign-in.js';
import { singleSignOnRoutes } from '../support/single-sign-on/routes.js';
import { createSite } from '../support/site.js';
import { transferApproval } from '../transfers/approval-outcomes.js';
import { Transfers } from '../transfers/service.js';
import { closeCore, type Core, openAdmin } from './build-core.js';

interface OpenSupport {
  readonly port: number;
  readonly adminPort: number;
  /** Finishes accepted requests, and closes the core. */
  stop(): Promise<void>;
}

/** Starts the support desk. Pages answer 503 while MySQL is unavailable. */
export async function openSupport(config: SupportConfig, core: Core): Promise<OpenSupport> {
  const { SUPPORT_URL: url, TRUSTED_PROXIES: trustedProxies } = config;
  const site = createSite({
    deps: {
      ...core,
      transfers: new Transfers(core),
      transferApprovals: new Approvals(transferApproval, core),
      payoutApprovals: new Approvals(payoutApproval, core),
      release: buildRelease(config, core),
    },
    settings: {
      url,
      trustedProxies,
      workflowUrl: workflowUrlOf(config),
      provider: providerOf(config),
      withCode: config.SUPPORT_CODE_SIGN_IN === 'on',
    },
    logger: core.logger,
    registry: core.registry,
    routes: [sessionRoutes, singleSignOnRoutes, waitingRoutes, resourceRoutes],
  });
  const { HOST: host, PORT: port } = config;
  const server = await listen(site.callback(), core.errors, { host, port });
  const admin = await openAdmin(config, core);
  const stop = async (): Promise<void> => {
    await admin.leaveLoadBalancer(config.STOP_DELAY_MS);
    await server.stop(config.SHUTDOWN_GRACE_MS);
    await Promise.all([closeCore(core), admin.close()]);
  };
  return { port: server.port, adminPort: admin.port, stop };
}

/** Builds what releases the money of payouts, which asks the rail first. */
function buildRelease(config: SupportConfig, core: Core): ReleaseDeps {
  const observer = railMetrics(core.registry, (rail, reason) =>
    core.logger.warn({ rail, reason }, 'a rail did not respond'),
  );
  const breakers = new RailBreakers(core.database, core.clock);
  const calls = new RailCalls({ ...core, rails: openRails(core, config), observer, breakers });
  return { calls, quietMs: (rail) => config.PAYOUT_RAIL_QUIET_S.get(rail) ?? DEFAULT_QUIET_MS };
}
