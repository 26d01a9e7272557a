import { toRfc3339 } from '../../core/instant.js';
import type { Restore, RestoreFinding } from '../../db/entities/restores.js';
import type { Fields } from '../output.js';

/** How operators see restores. */

export function restoreFields(restore: Restore): Fields {
  return {
    id: restore.id,
    ledger: restore.finishedAt === null ? 'closed' : 'open',
    noticed_by: restore.noticedBy,
    reason: restore.reason,
    began_at: toRfc3339(restore.beganAt),
    began_by: restore.beganBy,
    restored_to: toRfc3339(restore.restoredTo),
    lost_until: toRfc3339(restore.lostUntil),
    skip: restore.skip?.toString() ?? null,
    sequences_moved_at: toRfc3339(restore.movedAt),
    workflows_rebuilt_at: toRfc3339(restore.rebuiltAt),
    rails_asked_at: toRfc3339(restore.askedAt),
    audited_at: toRfc3339(restore.auditedAt),
    finished_at: toRfc3339(restore.finishedAt),
    finished_by: restore.finishedBy,
    workflows_told_at: toRfc3339(restore.toldAt),
  };
}

export function restoreFindingFields({ kind, rail, payoutId, here, there, foundAt }: RestoreFinding): Fields {
  return { finding: kind, rail, payout_id: payoutId, here, there, found_at: toRfc3339(foundAt) };
}
