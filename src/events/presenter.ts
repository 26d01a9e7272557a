import { toRfc3339 } from '../core/instant.js';
import type { EventGap } from '../db/entities/restores.js';

/** What a restore has skipped in the log. (docs/contract.md, Events) */
export function presentGap({ afterSequence, throughSequence, restoredTo, announcedAt }: EventGap) {
  return {
    after: Number(afterSequence),
    before: Number(throughSequence + 1n),
    restored_to: toRfc3339(restoredTo),
    created_at: toRfc3339(announcedAt),
  };
}
