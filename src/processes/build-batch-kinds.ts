import type { BatchKinds } from '../batches/kind.js';
import { BONUS_BATCHES } from '../batches/kinds/bonus.js';

/** The kinds of batches, as API and workers use them. */
export function buildBatchKinds(): BatchKinds {
  return { bonus: BONUS_BATCHES };
}
