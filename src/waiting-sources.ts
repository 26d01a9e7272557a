import { batchWaiting } from './batches/waiting.js';
import type { WaitingType } from './db/entities/outbox.js';
import { payoutWaiting } from './payouts/waiting.js';
import type { WaitingSource } from './temporal/waiting.js';
import { transferWaiting } from './transfers/waiting.js';

const SOURCES: Readonly<Record<WaitingType, WaitingSource>> = {
  transfer: transferWaiting,
  payout: payoutWaiting,
  bonus_batch: batchWaiting,
};

/** Every feature whose resources wait in workflows. */
export const WAITING_SOURCES: readonly WaitingSource[] = Object.values(SOURCES);
