import type { Asset } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import { nullable, oneOf, uuid } from '../db/columns.js';
import type { StoredRow } from '../db/database.js';
import { SYSTEM_ROLES, type SystemRole } from '../db/entities/parties.js';
import type { EntryKind, ResourceType } from '../db/entities/ledger.js';
import type { Expectation, ExpectedEntry } from './sources/types.js';

/** Describes what an operation calls for, in the same words as what exists. */

/** An account, with its role if it is a system account, and then its tenant. */
interface Place {
  readonly id: Uuid;
  readonly tenantId: Uuid | null;
  readonly role: SystemRole | null;
}

export interface PostedLeg {
  readonly kind: EntryKind;
  readonly raw: bigint;
  readonly asset: Asset;
  readonly account: Place;
  readonly counterparty: Place | null;
}

const role = nullable(oneOf(SYSTEM_ROLES));

/** The account whose `tenant_id` and `system_role` were selected under this prefix. */
export function placeOf(id: Uuid, row: StoredRow, prefix: string): Place {
  const tenantId = nullable(uuid).parse(row[`${prefix}tenant_id`]);
  return { id, tenantId, role: role.parse(row[`${prefix}system_role`]) };
}

export function describeExpected({
  account,
  asset,
  raw,
  kind,
  counterparty,
}: ExpectedEntry): string {
  return `${kind} ${raw} ${asset} on ${account} with ${counterparty}`;
}

/** As an operation of this tenant would call for it. */
export function describePosted(
  { kind, raw, asset, account, counterparty }: PostedLeg,
  tenantId: Uuid,
): string {
  const name = (place: Place | null): string => {
    if (place === null) return 'nobody';
    return place.role !== null && place.tenantId === tenantId ? place.role : place.id;
  };
  return `${kind} ${raw} ${asset} on ${name(account)} with ${name(counterparty)}`;
}

export const postingFact = (type: ResourceType, description: string | null): string =>
  `${type} is posted ${JSON.stringify(description)}`;
export const legFact = (type: ResourceType, described: string): string => `${type} ${described}`;
export const eventFact = (type: string): string => `event ${type}`;
export const KEY_FACT = 'key';

/** Everything that must exist for an operation besides its own rows. */
export function factsOf(
  type: ResourceType,
  { postings, description, events, isKeyed }: Expectation,
): { money: string[]; events: string[] } {
  const legs = postings.flat().map((leg) => legFact(type, describeExpected(leg)));
  const posted = postings.map(() => postingFact(type, description));
  return {
    money: [...posted, ...legs, ...(isKeyed ? [KEY_FACT] : [])],
    events: events.map(eventFact),
  };
}
