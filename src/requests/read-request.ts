import { notFound } from '../core/errors.js';
import { timeOfId, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { type Caller, type Operation, type Permission, PERMISSIONS } from '../core/permissions.js';
import type { Reader } from '../db/database.js';
import { bonuses } from '../db/entities/bonuses.js';
import type { KeyResourceType } from '../db/entities/ledger.js';
import { transfers } from '../db/entities/operations.js';
import { payouts } from '../db/entities/payouts.js';
import { requests } from '../db/entities/requests.js';
import { statements } from '../db/entities/statements.js';
import { COLLECTIONS, keptSince } from './log.js';

/** The operations that create a resource with the request's id. */
const OPERATIONS = {
  transfer: 'createTransfer',
  bonus: 'createBonus',
  payout: 'createPayout',
  statement: 'readAccount',
} as const satisfies Partial<Record<KeyResourceType, Operation>>;

interface CreatedResource {
  readonly type: keyof typeof OPERATIONS;
  readonly status: 201 | 202;
}

export interface RequestResult {
  readonly id: Uuid;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: string | null;
  readonly resource: { readonly type: KeyResourceType; readonly id: Uuid } | null;
  readonly createdAt: Instant;
}

/**
 * Returns the outcome of a request by the caller's own member, if the token has a scope that the
 * request required. Otherwise throws `not_found`. (docs/contract.md, Request ids)
 */
export async function readRequest(
  reader: Reader,
  caller: Caller,
  id: Uuid,
  now: Instant,
): Promise<RequestResult> {
  const { tenantId, memberId } = caller;
  const [stored, made] = await Promise.all([
    reader.find(requests, { id, tenantId, memberId }),
    readCreated(reader, caller, id),
  ]);
  const operation = stored?.operation ?? (made === null ? undefined : OPERATIONS[made.type]);
  const createdAt = instant(timeOfId(id));
  if (!isShown(operation, caller) || createdAt < keptSince(now)) throw notFound();
  if (stored === undefined) {
    if (made === null) throw notFound();
    const { type, status } = made;
    const path = COLLECTIONS[type];
    return { id, method: 'POST', path, status, code: null, resource: { type, id }, createdAt };
  }
  const { method, path, status, code, resourceType, resourceId } = stored;
  const known =
    resourceType === null || resourceId === null ? null : { type: resourceType, id: resourceId };
  // The response was that the outcome is unknown, but the request had succeeded.
  const own = made === null ? null : { type: made.type, id };
  return { id, method, path, status, code, resource: known ?? own, createdAt };
}

/** Returns the id of the resource that the request or its key created; by default its own. */
export async function resourceOfRequest(reader: Reader, tenantId: Uuid, id: Uuid): Promise<Uuid> {
  const stored = await reader.find(requests, { id, tenantId });
  return stored?.resourceId ?? id;
}

function isShown(operation: string | undefined, { scopes }: Caller): boolean {
  const permission: Permission | undefined = Object.entries(PERMISSIONS).find(
    ([name]) => name === operation,
  )?.[1];
  return permission?.scopes.some((scope) => scopes.includes(scope)) ?? false;
}

async function readCreated(
  reader: Reader,
  { tenantId, memberId }: Caller,
  id: Uuid,
): Promise<CreatedResource | null> {
  const own = { id, tenantId, createdBy: memberId };
  const [transfer, bonus, payout, statement] = await Promise.all([
    reader.find(transfers, own),
    // A request does not create the bonuses of a batch.
    reader.find(bonuses, { ...own, batchId: null }),
    reader.find(payouts, own),
    reader.find(statements, own),
  ]);
  const found = { transfer, bonus, payout, statement };
  const types = Object.keys(OPERATIONS) as CreatedResource['type'][];
  const type = types.find((one) => found[one] !== undefined);
  const approvals = (transfer ?? payout)?.approvalsRequired ?? null;
  return type === undefined ? null : { type, status: approvals === null ? 201 : 202 };
}
