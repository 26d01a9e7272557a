import type { Keyring } from '../core/fingerprint.js';
import type { Clock, Instant } from '../core/instant.js';
import type { Database } from '../db/database.js';
import type { WebhookDelivery } from '../db/entities/webhooks.js';
import type { OutboxNotifier } from '../temporal/relay.js';
import type { DeliveryStore } from './delivery-store.js';
import type { AttemptResult } from './exchange.js';
import type { Sending } from './sender.js';

export interface WebhookDeps {
  readonly database: Database;
  readonly store: DeliveryStore;
  readonly clock: Clock;
  /** The first key encrypts, and all keys decrypt. */
  readonly encryptionKeys: Keyring;
  readonly sending: Sending;
  readonly notifier: Pick<OutboxNotifier, 'notify'>;
  readonly observer: WebhookObserver;
}

export interface WebhookObserver {
  attempted(attempt: {
    readonly delivery: WebhookDelivery;
    readonly result: AttemptResult;
    readonly beganAt: Instant;
  }): void;
  /** Endpoints that this process sends to now, in fast and in slow slots. */
  sending(fast: number, slow: number): void;
  /** A round or run failed by a fault of the service. It is repeated. */
  failed(fault: unknown): void;
}

export const UNOBSERVED: WebhookObserver = {
  attempted: () => undefined,
  sending: () => undefined,
  failed: () => undefined,
};
