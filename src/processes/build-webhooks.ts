import type { ServiceConfig } from '../config/config.js';
import { describeFault } from '../http/logging.js';
import { AddressGuard } from '../webhooks/address-guard.js';
import { DeliveryStore } from '../webhooks/delivery-store.js';
import { UNOBSERVED, type WebhookDeps, type WebhookObserver } from '../webhooks/deps.js';
import type { Webhooks } from '../webhooks/routes.js';
import { ATTEMPT_TIMEOUT_MS, type DeliverySender, Sender } from '../webhooks/sender.js';
import { TestDeliveries } from '../webhooks/test-deliveries.js';
import type { Core } from './build-core.js';

export function buildWebhookDeps(
  core: Core,
  sender: DeliverySender,
  observer: WebhookObserver = UNOBSERVED,
): WebhookDeps {
  return { ...core, store: new DeliveryStore(core), sender, observer };
}

export function buildSender(config: ServiceConfig, timeoutMs: number = ATTEMPT_TIMEOUT_MS): Sender {
  const { WEBHOOK_ALLOWED_HOSTS: allowedHosts, WEBHOOK_PROXY_URL: proxy } = config;
  const proxyUrl = proxy === undefined ? null : new URL(proxy);
  const guard = new AddressGuard({ allowedHosts, namesAreLeftToProxy: proxyUrl !== null });
  return new Sender({ guard, timeoutMs, proxyUrl });
}

export function buildWebhooks(core: Core, sender: DeliverySender): Webhooks {
  const deps = buildWebhookDeps(core, sender);
  const tests = new TestDeliveries(deps, (fault) =>
    core.logger.error({ fault: describeFault(fault) }, 'a test delivery was not recorded'),
  );
  return { deps, tests };
}
