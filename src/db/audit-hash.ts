import { createHash } from 'node:crypto';
import { asUuid, type Uuid } from '../core/ids.js';

/**
 * What ties the lines of the audit log together: each carries a hash of the one before it in its chain and of its own
 * content. A tenant has a chain, and so has what belongs to no tenant. What is hashed never changes: another form would be
 * another hash, and every line written so far would seem to be broken.
 */

/** The chain of what belongs to no tenant. */
export const SYSTEM_CHAIN = asUuid('00000000-0000-0000-0000-000000000000');

/** What the first line of a chain follows, where no line is older than the chains. */
export const GENESIS = Buffer.alloc(32);

/** The act that follows numbers which a restore has left out of its chain: somebody may have kept them of what was lost. */
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

/** SHA-256 of the hash before and of the line. `sequence` is null for the lines that are older than the chains. */
export function actHash(previous: Buffer, sequence: bigint | null, act: HashedAct): Buffer {
  const { id, tenantId, at, channel, actorClaimed, action, subjectType, subjectId, details } = act;
  const numbered = [chainOf(act), sequence?.toString() ?? null];
  const content = [...numbered, id, tenantId, at, channel, actorClaimed, action, subjectType, subjectId, details];
  return createHash('sha256').update(previous).update(JSON.stringify(content)).digest();
}
