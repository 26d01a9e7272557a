import type { Instant } from '../core/instant.js';
import type { WebhookDelivery } from '../db/entities/webhooks.js';
import type { AttemptResult } from './attempt/result.js';

/** What hears of the sending. */
export interface WebhookObserver {
  attempted(attempt: {
    readonly delivery: WebhookDelivery;
    readonly result: AttemptResult;
    readonly beganAt: Instant;
  }): void;
  /** So many endpoints are sent to now by the senders of this process: `short` for a moment, `long` where it takes more. */
  sending(short: number, long: number): void;
  /** A round of the senders, or what they did for one endpoint, failed by our fault: it is done again. */
  failed(fault: unknown): void;
}

/** Where nobody looks. */
export const UNOBSERVED: WebhookObserver = {
  attempted: () => undefined,
  sending: () => undefined,
  failed: () => undefined,
};
