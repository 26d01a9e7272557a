import type { Instant } from '../core/instant.js';
import type { WebhookDelivery } from '../db/entities/webhooks.js';
import type { AttemptResult } from './attempt/result.js';

export interface WebhookObserver {
  attempted(attempt: {
    readonly delivery: WebhookDelivery;
    readonly result: AttemptResult;
    readonly beganAt: Instant;
  }): void;
  /** How many endpoints this process's senders are sending to now, in short and in long slots. */
  sending(short: number, long: number): void;
  /** A round of the senders, or their work for one endpoint, failed through our fault and will be repeated. */
  failed(fault: unknown): void;
}

export const UNOBSERVED: WebhookObserver = {
  attempted: () => undefined,
  sending: () => undefined,
  failed: () => undefined,
};
