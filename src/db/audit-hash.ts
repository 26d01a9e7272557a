import { createHash } from 'node:crypto';
import { asUuid, type Uuid } from '../core/ids.js';

/** Hash chains of the audit log. If the hashed form changed, stored rows would fail verification. */

/** Chain of the rows without a tenant. */
export const SYSTEM_CHAIN = asUuid('00000000-0000-0000-0000-000000000000');

/** The previous hash of a chain's first row. */
export const GENESIS = Buffer.alloc(32);

/** Action of the first row after sequence numbers that a restore skipped. */
export const RESTORE_GAP = 'restore.gap';

interface HashedRow {
  readonly id: Uuid;
  readonly tenantId: Uuid | null;
  readonly at: number;
  readonly channel: string;
  readonly actorClaimed: string;
  readonly action: string;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly details: string;
}

export function chainOf({ tenantId }: Pick<HashedRow, 'tenantId'>): Uuid {
  return tenantId ?? SYSTEM_CHAIN;
}

/** SHA-256 of the previous hash and the row. */
export function rowHash(previous: Buffer, sequence: bigint, row: HashedRow): Buffer {
  const { id, tenantId, at, channel, actorClaimed, action, subjectType, subjectId, details } = row;
  const content = [
    chainOf(row),
    sequence.toString(),
    id,
    tenantId,
    at,
    channel,
    actorClaimed,
    action,
    subjectType,
    subjectId,
    details,
  ];
  return createHash('sha256').update(previous).update(JSON.stringify(content)).digest();
}
