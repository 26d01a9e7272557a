import type { Failpoints } from '../core/failpoints.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Clock, Instant } from '../core/instant.js';
import type { Database } from '../db/database.js';
import type { WebhookDelivery } from '../db/entities/webhooks.js';
import type { OutboxNotifier } from '../temporal/outbox-notifier.js';
import type { DeliveryStore } from './delivery-store.js';
import type { AttemptResult } from './exchange.js';
import type { Sending } from './sender.js';

export interface WebhookDeps {
  readonly database: Database;
  /** Batched reads and writes of the runs. */
  readonly store: DeliveryStore;
  readonly clock: Clock;
  /** The first one seals. */
  readonly encryptionKeys: Keyring;
  readonly sending: Sending;
  readonly failpoints: Failpoints;
  /** Receives notices for endpoints' workflows. */
  readonly notifier: Pick<OutboxNotifier, 'notify'>;
  readonly observer: WebhookObserver;
}

export interface WebhookObserver {
  attempted(attempt: {
    readonly delivery: WebhookDelivery;
    readonly result: AttemptResult;
    readonly beganAt: Instant;
  }): void;
  /** Reports how many endpoints this process sends to now, in fast and in slow slots. */
  sending(fast: number, slow: number): void;
  /**
   * Reports a round or a run that failed because of a fault of the service; it will be repeated.
   */
  failed(fault: unknown): void;
}

export const UNOBSERVED: WebhookObserver = {
  attempted: () => undefined,
  sending: () => undefined,
  failed: () => undefined,
};
