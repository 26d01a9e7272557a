import { ledgerUnavailable, notFound } from '../core/errors.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import type { Clock, Instant } from '../core/instant.js';
import type { Page, TimePosition } from '../core/pages.js';
import type { Caller } from '../core/permissions.js';
import type { Database, Reader } from '../db/database.js';
import type { Account } from '../db/entities/parties.js';
import type { ClockGuard } from '../ledger/clock-guard.js';
import { assertAccountAllowed } from './access.js';
import { releaseAlias, setAlias } from './alias.js';
import { Balances } from './balances.js';
import { AliasLookup, lookUpPhone, type LookupResult } from './lookup.js';
import { type MovementFilter, type MovementPage, readMovements } from './movements.js';
import { readPastBalances } from './past-balances.js';
import { type AccountFilter, listAccounts, readAccount, readLimits } from './reading.js';
import type { RecipientBudget } from './recipient-budget.js';
import { declareVerification, type Declaration, type VerificationAnswer } from './verification.js';

type Shown = Readonly<Record<string, unknown>>;

/**
 * What the API does with accounts. Every method throws not_found or authority_insufficient if the caller has no right.
 */
export class Accounts {
  private readonly reader: Reader;
  private readonly ownBalances: Balances;
  private readonly aliases: AliasLookup;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly guard: Pick<ClockGuard, 'isWell'>,
    private readonly budget: RecipientBudget,
    private readonly encryptionKeys: Keyring,
  ) {
    this.reader = database.reader;
    this.ownBalances = new Balances(database.reader);
    this.aliases = new AliasLookup(database.reader);
  }

  read(caller: Caller, accountId: Uuid): Promise<Account> {
    return readAccount(this.reader, caller, accountId);
  }

  list(caller: Caller, filter: AccountFilter, before: TimePosition | null, limit: number): Promise<Page<Account>> {
    return listAccounts(this.reader, caller, filter, before, limit);
  }

  /** With `at`, those at a past moment. Also throws invalid_field and ledger_unavailable. */
  balances(caller: Caller, accountId: Uuid, at: Instant | undefined): Promise<Shown> {
    if (at === undefined) return this.ownBalances.read(caller, accountId, this.clock());
    // By a wrong clock, a moment that is yet to come may seem past.
    if (!this.guard.isWell()) return Promise.reject(ledgerUnavailable());
    return readPastBalances(this.database, caller, accountId, at, this.clock());
  }

  limits(caller: Caller, accountId: Uuid): Promise<Shown> {
    return readLimits(this.reader, caller, accountId, this.clock());
  }

  async movements(
    caller: Caller,
    accountId: Uuid,
    filter: MovementFilter,
    before: bigint | null,
    limit: number,
  ): Promise<MovementPage> {
    await assertAccountAllowed(this.reader, 'readAccount', caller, accountId);
    return readMovements(this.reader, accountId, filter, before, limit);
  }

  lookUpAlias(caller: Caller, alias: string): Promise<LookupResult> {
    return this.told(caller, this.aliases.find(caller.tenantId, alias));
  }

  lookUpPhone(caller: Caller, phone: string): Promise<LookupResult> {
    return this.told(caller, lookUpPhone(this.reader, caller.tenantId, phone));
  }

  /** What was found, once it is paid for. Throws rate_limited, not_found. */
  private async told(caller: Caller, looking: Promise<LookupResult | null>): Promise<LookupResult> {
    const found = await looking;
    await this.budget.charge(caller, [found?.account_id ?? null]);
    if (found === null) throw notFound();
    return found;
  }

  setAlias(caller: Caller, accountId: Uuid, text: string): Promise<Account> {
    return setAlias(this.database, this.clock, caller, accountId, text);
  }

  releaseAlias(caller: Caller, accountId: Uuid): Promise<void> {
    return releaseAlias(this.database, this.clock, caller, accountId);
  }

  declareVerification(caller: Caller, accountId: Uuid, declared: Declaration): Promise<VerificationAnswer> {
    const { database, clock, encryptionKeys } = this;
    return declareVerification({ database, clock, encryptionKeys }, caller, accountId, declared);
  }
}
