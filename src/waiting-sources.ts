import { batchWaiting } from './batches/waiting.js';
import type { WaitingType } from './db/entities/outbox.js';
import { payoutWaiting } from './payouts/waiting.js';
import type { WaitingSource } from './temporal/waiting.js';
import { transferWaiting } from './transfers/waiting.js';
import { webhookWaiting } from './webhooks/waiting.js';

const SOURCES: Readonly<Record<WaitingType, WaitingSource>> = {
  transfer: transferWaiting,
  payout: payoutWaiting,
  bonus_batch: batchWaiting,
  webhook_endpoint: webhookWaiting,
};

export const WAITING_SOURCES: readonly WaitingSource[] = Object.values(SOURCES);

/** Those whose lost workflows nothing else finds: webhooks have their own sweep (src/webhooks/sweeping.ts). */
export const UNATTENDED_SOURCES = WAITING_SOURCES.filter((source) => source !== webhookWaiting);
