import { invalidField, LEDGER_UNAVAILABLE, type Refusal } from '../core/errors.js';
import type { Amount } from '../core/amount.js';
import type { Instant } from '../core/instant.js';
import type { Payout } from '../db/entities/payouts.js';
import {
  type AllRailTerms,
  type BankAccount,
  KEY_COUNTRY,
  keyTypeOf,
  type RailTerms,
  takesPayment,
} from './rails/destinations.js';
import { chooseRail, type RailRoute, termsOf } from './rails/rail.js';
import { endOfKey } from './rules.js';

/** The choice of a payout's rail, and what the rail must take. Pure. (docs/contract.md, Payouts by key) */

export interface PayoutRails {
  readonly routes: readonly RailRoute[];
  readonly terms: AllRailTerms;
}

/** The result of a look-up of a key, as sealed for the tenant and the key. */
export interface HolderCheck {
  readonly rail: string;
  readonly holder: string;
  readonly expiresAt: Instant;
}

/** `unknown_key`: sealed under a key of the service that this process does not have yet. */
export type ReadHolderCheck = HolderCheck | 'forged' | 'unknown_key';

export interface RequestedKey {
  readonly type: 'bre_b_key';
  readonly key: string;
  readonly check: ReadHolderCheck | null;
}

/** The columns that the destination sets; the others are null. */
type DestinationColumns = Pick<Payout, 'country'> &
  Partial<
    Pick<Payout, 'bankCode' | 'accountType' | 'accountEnd' | 'holderName' | 'keyType' | 'keyEnd'>
  >;

type Shown = 'type' | 'country' | 'bankCode' | 'accountType' | 'holderName';

/** The destination of a new payout, with only the end of the account number. */
export type NewDestination =
  (Pick<BankAccount, Shown> & { readonly accountEnd: string }) | RequestedKey;

interface Tenant {
  readonly id: string;
  readonly name: string;
}

export interface ChosenDestination {
  readonly rail: string;
  readonly columns: DestinationColumns;
}

/** Returns the rail and the columns of a new payout, or why no rail takes it. */
export function chooseDestination(
  { routes, terms }: PayoutRails,
  tenant: Tenant,
  { destination, amount }: { readonly destination: NewDestination; readonly amount: Amount },
  at: Instant,
): ChosenDestination | { readonly refusal: Refusal } {
  const isKey = destination.type === 'bre_b_key';
  const country = isKey ? KEY_COUNTRY : destination.country;
  const rail = chooseRail(routes, tenant, country);
  if (rail === null) return notSupported(isKey ? 'destination.type' : 'destination.country');
  const its = termsOf(terms, rail);
  if (!takesPayment(its, destination.type, amount)) return notSupported('destination.type');
  if (!isKey) {
    const { type: _type, ...columns } = destination;
    return { rail, columns };
  }
  const { key, check } = destination;
  const keyType = keyTypeOf(its, key);
  if (keyType === null) return { refusal: invalidField('destination.key', 'malformed') };
  const refusal = check === null ? null : checkRefusal(check, rail, at);
  if (refusal !== null) return { refusal };
  return { rail, columns: { country, keyType, keyEnd: endOfKey(key) } };
}

/** Returns the rail of keys and its terms. Null if no rail takes keys of the tenant. */
export function railOfKeys(
  { routes, terms }: PayoutRails,
  tenant: Tenant,
): { readonly rail: string; readonly terms: RailTerms } | null {
  const rail = chooseRail(routes, tenant, KEY_COUNTRY);
  const its = rail === null ? null : termsOf(terms, rail);
  return rail === null || its?.limits.bre_b_key === undefined ? null : { rail, terms: its };
}

const CHECK_FIELD = 'destination.holder_check';

function checkRefusal(check: ReadHolderCheck, rail: string, at: Instant): Refusal | null {
  if (check === 'unknown_key') return LEDGER_UNAVAILABLE;
  // Another rail names holders differently.
  if (check === 'forged' || check.rail !== rail)
    return invalidField(CHECK_FIELD, 'not_a_check_of_this_key');
  return at > check.expiresAt ? invalidField(CHECK_FIELD, 'expired') : null;
}

function notSupported(field: string): { readonly refusal: Refusal } {
  return { refusal: invalidField(field, 'not_supported') };
}
