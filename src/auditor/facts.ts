import type { Asset } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import { nullable, oneOf, uuid } from '../db/columns.js';
import type { StoredRow } from '../db/database.js';
import type { EntryKind, ResourceType } from '../db/entities/ledger.js';
import { SYSTEM_ROLES, type SystemRole } from '../db/entities/parties.js';
import type { Expectation, ExpectedEntry } from './sources/types.js';

/** `role` and `tenantId` are set for system accounts. */
interface Party {
  readonly id: Uuid;
  readonly tenantId: Uuid | null;
  readonly role: SystemRole | null;
}

interface PostedLeg {
  readonly kind: EntryKind;
  readonly raw: bigint;
  readonly asset: Asset;
  readonly account: Party;
  readonly counterparty: Party | null;
}

const role = nullable(oneOf(SYSTEM_ROLES));

/** Returns the account whose `tenant_id` and `system_role` were selected with this prefix. */
export function partyOf(id: Uuid, row: StoredRow, prefix: string): Party {
  const tenantId = nullable(uuid).parse(row[`${prefix}tenant_id`]);
  return { id, tenantId, role: role.parse(row[`${prefix}system_role`]) };
}

export function describeExpected(leg: ExpectedEntry): string {
  const { account, asset, raw, kind, counterparty } = leg;
  return `${kind} ${raw} ${asset} on ${account} with ${counterparty}`;
}

/** Describes an entry in the words of `describeExpected`, for an operation of this tenant. */
export function describePosted(leg: PostedLeg, tenantId: Uuid): string {
  const { kind, raw, asset, account, counterparty } = leg;
  const name = (party: Party | null): string => {
    if (party === null) return 'nobody';
    return party.role !== null && party.tenantId === tenantId ? party.role : party.id;
  };
  return `${kind} ${raw} ${asset} on ${name(account)} with ${name(counterparty)}`;
}

export const postingFact = (type: ResourceType, description: string | null): string =>
  `${type} is posted ${JSON.stringify(description)}`;
export const eventFact = (type: string): string => `event ${type}`;
export const KEY_FACT = 'key';

/** Returns all facts that must exist for an operation outside of its own table. */
export function factsOf(
  type: ResourceType,
  { postings, description, events, isKeyed }: Expectation,
): { money: string[]; events: string[] } {
  const legs = postings.flat().map((leg) => `${type} ${describeExpected(leg)}`);
  const posted = postings.map(() => postingFact(type, description));
  return {
    money: [...posted, ...legs, ...(isKeyed ? [KEY_FACT] : [])],
    events: events.map(eventFact),
  };
}
