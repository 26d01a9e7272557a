import { type Instant, toRfc3339 } from '../../core/instant.js';
import type { Restore, RestoreFinding } from '../../db/entities/restores.js';
import type { Fields } from '../output.js';

/** How operators see restores. */

function at(time: Instant | null): string | null {
  return time === null ? null : toRfc3339(time);
}

export function restoreFields(restore: Restore): Fields {
  return {
    id: restore.id,
    ledger: restore.finishedAt === null ? 'closed' : 'open',
    noticed_by: restore.noticedBy,
    reason: restore.reason,
    began_at: toRfc3339(restore.beganAt),
    began_by: restore.beganBy,
    restored_to: at(restore.restoredTo),
    lost_until: at(restore.lostUntil),
    skip: restore.skip?.toString() ?? null,
    sequences_moved_at: at(restore.movedAt),
    workflows_rebuilt_at: at(restore.rebuiltAt),
    rails_asked_at: at(restore.askedAt),
    audited_at: at(restore.auditedAt),
    finished_at: at(restore.finishedAt),
    finished_by: restore.finishedBy,
    workflows_told_at: at(restore.toldAt),
  };
}

export function restoreFindingFields({ kind, rail, payoutId, here, there, foundAt }: RestoreFinding): Fields {
  return { finding: kind, rail, payout_id: payoutId, here, there, found_at: toRfc3339(foundAt) };
}
