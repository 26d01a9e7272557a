import { toRfc3339 } from '../../core/instant.js';
import { type Restore, type RestoreFinding, restores } from '../../db/entities/restores.js';
import type { Fields } from '../output.js';
import { rowFields } from '../row-fields.js';

/** How operators see restores. */

export function restoreFields(restore: Restore): Fields {
  return {
    id: restore.id,
    ledger: restore.finishedAt === null ? 'closed' : 'open',
    ...rowFields(
      restores,
      restore,
      'noticedBy',
      'reason',
      'beganAt',
      'beganBy',
      'restoredTo',
      'lostUntil',
      'skip',
    ),
    sequences_moved_at: toRfc3339(restore.movedAt),
    workflows_rebuilt_at: toRfc3339(restore.rebuiltAt),
    rails_asked_at: toRfc3339(restore.askedAt),
    audited_at: toRfc3339(restore.auditedAt),
    ...rowFields(restores, restore, 'finishedAt', 'finishedBy'),
    workflows_told_at: toRfc3339(restore.toldAt),
  };
}

export function restoreFindingFields({
  kind,
  rail,
  payoutId,
  here,
  there,
  foundAt,
}: RestoreFinding): Fields {
  return { finding: kind, rail, payout_id: payoutId, here, there, found_at: toRfc3339(foundAt) };
}
