import { createHash } from 'node:crypto';
import { asUuid, type Uuid } from '../core/ids.js';

/**
 * What ties the lines of the audit log together: each carries a hash of the line before it in its chain and of its own
 * content. There is a chain for each tenant, and one for lines that belong to none. The form of what is hashed never
 * changes: another form would give other hashes, and every line written so far would look broken.
 */

/** The chain of lines that belong to no tenant. */
export const SYSTEM_CHAIN = asUuid('00000000-0000-0000-0000-000000000000');

/** The previous hash of a chain's first line. */
export const GENESIS = Buffer.alloc(32);

/** The act that follows numbers skipped by a restore, which somebody may have kept from the lost part of its chain. */
export const RESTORE_GAP = 'restore.gap';

export interface HashedAct {
  readonly id: Uuid;
  readonly tenantId: Uuid | null;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly channel: string;
  readonly actorClaimed: string;
  readonly action: string;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly details: string;
}

export function chainOf({ tenantId }: Pick<HashedAct, 'tenantId'>): Uuid {
  return tenantId ?? SYSTEM_CHAIN;
}

/** SHA-256 of the previous hash and the line. */
export function actHash(previous: Buffer, sequence: bigint, act: HashedAct): Buffer {
  const { id, tenantId, at, channel, actorClaimed, action, subjectType, subjectId, details } = act;
  const numbered = [chainOf(act), sequence.toString()];
  const content = [
    ...numbered,
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
