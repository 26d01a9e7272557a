import { initialOf } from '../accounts/recipients.js';
import type { RecipientBudget } from '../accounts/recipient-budget.js';
import { ApiError, invalidField, notFound } from '../core/errors.js';
import { hmac, type Keyring } from '../core/fingerprint.js';
import { asUuid, type Uuid } from '../core/ids.js';
import { type Clock, instant } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Database } from '../db/database.js';
import type { KeyType } from '../db/entities/payouts.js';
import { tenants } from '../db/entities/parties.js';
import { type HolderCheck, type PayoutRails, railOfKeys } from './destination.js';
import { keyTypeOf } from './rails/destinations.js';
import type { KeyHolder } from './rails/rail.js';
import { type ResolveDeps, resolveKey } from './resolve.js';

export interface RecipientDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly recipientBudget: Pick<RecipientBudget, 'charge'>;
  readonly rails: PayoutRails;
  /** The rails that are asked, and who counts the calls. */
  readonly resolving: ResolveDeps;
  /** The first key names looked-up keys in the budget, so that a dump reveals none. */
  readonly fingerprintKeys: Keyring;
}

interface FoundRecipient extends Pick<KeyHolder, 'holderName' | 'bankCode' | 'accountType'> {
  readonly keyType: KeyType;
  readonly check: HolderCheck;
}

const CHECK_MS = 3_600_000;

/** Looks up who holds a key. (docs/contract.md, Payouts by key) */
export class PayoutRecipients {
  constructor(private readonly deps: RecipientDeps) {}

  /** Throws ApiError invalid_field, rate_limited, not_found, rail_unavailable. */
  async find(caller: Caller, key: string): Promise<FoundRecipient> {
    const { database, clock, recipientBudget, rails, resolving } = this.deps;
    const tenant = await database.readerFor(caller).find(tenants, { id: caller.tenantId });
    const chosen = tenant === undefined ? null : railOfKeys(rails, tenant);
    if (chosen === null) throw new ApiError(invalidField('key', 'not_supported'));
    const { rail, terms } = chosen;
    const keyType = keyTypeOf(terms, key);
    if (keyType === null) throw new ApiError(invalidField('key', 'malformed'));
    // Charged first, so that a tenant without budget cannot use up the rail either.
    await recipientBudget.charge(caller, [this.idOf(key)]);
    const found = await resolveKey(resolving, rail, { type: 'bre_b_key', keyType, key });
    if (found === 'none') throw new ApiError(UNKNOWN_HOLDER);
    if (found === null) throw notFound('key');
    const { holder, bankCode, accountType } = found;
    const check = { rail, holder, expiresAt: instant(clock() + CHECK_MS) };
    return { keyType, holderName: maskedName(found.holderName), bankCode, accountType, check };
  }

  /** Returns the id of a key among the recipients that a tenant knows. */
  private idOf(key: string): Uuid {
    const hex = hmac(this.deps.fingerprintKeys[0], `recipient key ${key}`).toString('hex');
    return asUuid(hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'));
  }
}

const UNKNOWN_HOLDER = {
  code: 'rail_unavailable',
  message: 'the rail did not say who holds the key: nothing is known about it',
} as const;

/** Returns "Ana M*** P***": only the first of several words is shown in full. */
export function maskedName(name: string): string {
  const words = name.split(/\s+/u).filter((word) => word !== '');
  return words
    .map((word, index) => (index === 0 && words.length > 1 ? word : `${initialOf(word)}***`))
    .join(' ');
}
