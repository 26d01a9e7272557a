import type { Failpoints } from '../core/failpoints.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Clock } from '../core/instant.js';
import type { Database } from '../db/database.js';
import type { OutboxNotifier } from '../temporal/outbox-notifier.js';
import type { DeliveryStore } from './delivery-store.js';
import type { WebhookObserver } from './observer.js';
import type { Sending } from './sending.js';

export interface WebhookDeps {
  readonly database: Database;
  /** Batched reads and writes of the runs. */
  readonly store: DeliveryStore;
  readonly clock: Clock;
  /** The first one seals. */
  readonly encryptionKeys: Keyring;
  readonly sending: Sending;
  readonly failpoints: Failpoints;
  /** Gets what an endpoint's workflow must learn. */
  readonly notifier: Pick<OutboxNotifier, 'notify'>;
  readonly observer: WebhookObserver;
}
