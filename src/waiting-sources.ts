import { batchWaiting } from './batches/waiting.js';
import { payoutWaiting } from './payouts/waiting.js';
import type { WaitingSource } from './temporal/waiting.js';
import { transferWaiting } from './transfers/waiting.js';

/** Every feature whose resources wait in workflows. */
export const WAITING_SOURCES: readonly WaitingSource[] = [transferWaiting, payoutWaiting, batchWaiting];
