import type { Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import type { Clock, Instant } from '../core/instant.js';
import type { Database } from '../db/database.js';
import type { WebhookDelivery } from '../db/entities/webhooks.js';
import type { OutboxNotifier } from '../temporal/relay.js';
import type { DeliveryStore } from './delivery-store.js';
import type { AttemptResult } from './attempt.js';
import type { DeliverySender } from './sender.js';

export interface WebhookDeps {
  readonly database: Database;
  readonly store: DeliveryStore;
  readonly clock: Clock;
  /** The first key encrypts, and all keys decrypt. */
  readonly encryptionKeys: Keyring;
  readonly sender: DeliverySender;
  readonly notifier: Pick<OutboxNotifier, 'notify'>;
  readonly observer: WebhookObserver;
}

export interface WebhookObserver {
  attempted(attempt: {
    readonly delivery: WebhookDelivery;
    readonly result: AttemptResult;
    readonly beganAt: Instant;
  }): void;
  /** The number of endpoints that this process now sends to, in fast and in slow slots. */
  slotsTaken(fast: number, slow: number): void;
  /** The endpoint's rows cannot be read. It is read again after a minute. */
  setAside(endpointId: Uuid, fault: unknown): void;
  /** A fault of the service ended a round of the dispatcher or a run, which is repeated. */
  failed(fault: unknown): void;
}

export const UNOBSERVED: WebhookObserver = {
  attempted: () => undefined,
  slotsTaken: () => undefined,
  setAside: () => undefined,
  failed: () => undefined,
};
