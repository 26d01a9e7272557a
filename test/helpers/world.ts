import { randomUUID } from 'node:crypto';
import assert from 'node:assert/strict';
import { operatorActor } from '../../src/access/audit-log.js';
import { addMember } from '../../src/members/members.js';
import { addTenant } from '../../src/accounts/tenants.js';
import { type IssuedToken, issueToken } from '../../src/members/tokens.js';
import { setFeeSchedule } from '../../src/operations/fees.js';
import { openAccount } from '../../src/accounts/open-accounts.js';
import type { Amount, Asset } from '../../src/core/amount.js';
import { ApiError } from '../../src/core/errors.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { type Clock, type Instant, systemClock } from '../../src/core/instant.js';
import { type Role, type Scope, SCOPES } from '../../src/core/permissions.js';
import type { Database } from '../../src/db/database.js';
import { DatabaseUnavailable } from '../../src/db/failures.js';
import { balances } from '../../src/db/entities/ledger.js';
import {
  type Account,
  accounts,
  type FeeScheduleRow,
  type Member,
  type Tenant,
} from '../../src/db/entities/parties.js';
import { STAFF_RIGHTS } from '../../src/db/entities/staff.js';
import { updateSql } from '../../src/db/statements.js';
import { recordPayIn } from '../../src/funding/service.js';
import { audit, type Finding } from '../../src/auditor/audit.js';
import type { StaffIdentity } from '../../src/staff/rules.js';
import { DatabaseClock } from '../../src/ledger/database-clock.js';
import { type WriterOptions, LedgerWriter } from '../../src/ledger/writer/ledger-writer.js';

/** The world that tests act in: made by the service's own code, money entering by pay-ins. */

/** A desk with what it told its observer. */
export interface WatchedWriter {
  readonly writer: LedgerWriter;
  readonly faults: { readonly kind: string; readonly fault: unknown }[];
  readonly groups: number[];
  readonly retries: Record<string, number>;
  readonly seen: { unknown: number; unknownKeys: number; shed: number };
  readonly ahead: { readonly accountId: Uuid; readonly aheadMs: number }[];
}

/** A database's clock that a test sets. Accounts may be dated any time ahead of it, unless `maxAheadMs` is given. */
export class TestClock extends DatabaseClock {
  constructor(clock: Clock, maxAheadMs = Number.POSITIVE_INFINITY) {
    super(clock, maxAheadMs);
  }

  override parseReading(): Instant {
    return this.now();
  }

  /** The clock that a test sets dates several commits alike. */
  override earliestAfter(lastPostedAt: Instant): Instant {
    return lastPostedAt;
  }
}

export function asDatabaseClock(clock: Clock | DatabaseClock): DatabaseClock {
  if (clock instanceof DatabaseClock) return clock;
  return clock === systemClock ? new DatabaseClock() : new TestClock(clock);
}

/** A notifier without workflows. */
export const NOBODY = { notify: () => undefined };

const DESK_OPTIONS: WriterOptions = {
  maxGroup: 200,
  groupsInFlight: 2,
  maxGatherMs: 20,
  maxQueue: 5_000,
  commandTimeoutMs: 20_000,
};

export function openWriter(
  database: Database,
  options: Partial<WriterOptions> = {},
  clock: Clock | DatabaseClock = new DatabaseClock(),
): WatchedWriter {
  const faults: WatchedWriter['faults'] = [];
  const groups: number[] = [];
  const retries: Record<string, number> = {};
  const seen = { unknown: 0, unknownKeys: 0, shed: 0 };
  const ahead: WatchedWriter['ahead'] = [];
  const databaseClock = asDatabaseClock(clock);
  const writer = new LedgerWriter(
    {
      database,
      clock: databaseClock.now,
      databaseClock,
      rollbackGuard: { checkConnection: () => Promise.resolve(), remember: () => undefined },
      onFault: (kind, fault) => faults.push({ kind, fault }),
      onAccountAhead: (accountId, aheadMs) => ahead.push({ accountId, aheadMs }),
    },
    { ...DESK_OPTIONS, ...options },
    {
      groupPosted: (size) => groups.push(size),
      groupRetried: (reason) => (retries[reason] = (retries[reason] ?? 0) + 1),
      commitUnknown: () => (seen.unknown += 1),
      fingerprintKeyUnknown: () => (seen.unknownKeys += 1),
      shed: () => (seen.shed += 1),
      queued: () => undefined,
    },
  );
  return { writer, faults, groups, retries, seen, ahead };
}

/** Whom the audit log names for what tests do as operators. */
export const TEST_ACTOR = operatorActor('test');

const people = new Map<string, StaffIdentity>();

/** One of the staff with every right, whom no test asks for a proof: the same whenever this name is given. They have no row. */
export function someone(name: string): StaffIdentity {
  const known = people.get(name) ?? {
    id: newId(),
    name,
    kind: 'person',
    rights: STAFF_RIGHTS,
    channel: 'ops',
  };
  people.set(name, known);
  return known;
}

/** A tenant with a member who owns every account that is opened through it. */
export interface TestTenant {
  readonly tenant: Tenant;
  readonly owner: Member;
}

export async function makeTenant(
  database: Database,
  wanted: Partial<Tenant> = {},
): Promise<TestTenant> {
  const described = {
    name: wanted.name ?? `tenant ${randomUUID()} of a test`,
    network: wanted.network ?? null,
    timeZone: wanted.timeZone ?? 'America/Bogota',
  };
  const tenant = await addTenant(database, systemClock, described, TEST_ACTOR);
  return { tenant, owner: await addMember(database, systemClock, tenant.id, 'owner', TEST_ACTOR) };
}

export interface WantedAccount {
  readonly type?: 'person' | 'business';
  readonly name?: string;
  readonly alias?: string;
  readonly phone?: string;
  readonly isVerified?: boolean;
  readonly roles?: readonly { readonly memberId: Uuid; readonly role: Role }[];
  readonly funds?: Partial<Record<Asset, bigint>>;
}

/** A verified business account with `funds`, unless something else is wanted. */
export async function makeAccount(
  { database, writer }: { readonly database: Database; readonly writer: LedgerWriter },
  { tenant, owner }: TestTenant,
  wanted: WantedAccount = {},
): Promise<Account> {
  const described = {
    tenantId: tenant.id,
    type: wanted.type ?? 'business',
    name: wanted.name ?? 'Account of a test',
    alias: wanted.alias ?? null,
    phone: wanted.phone ?? null,
    grants: [{ memberId: owner.id, role: 'owner' as const }, ...(wanted.roles ?? [])],
  };
  const account = await openAccount({ database, clock: systemClock }, described, TEST_ACTOR);
  // Not by a declaration, which makes an event: a test's log of events begins with what the test does.
  const verifiedAt = wanted.isVerified === false ? null : systemClock();
  if (verifiedAt !== null)
    await database.withTransaction(async (transaction) => {
      await transaction.execute(updateSql(accounts, { verifiedAt }, { id: account.id }));
    });
  for (const [asset, raw] of Object.entries(wanted.funds ?? {}))
    await fund({ database, writer }, account, { asset: asset as Asset, raw });
  return { ...account, verifiedAt };
}

/** A pay-in through the desk: the one way in which money enters. */
export async function fund(
  deps: { readonly database: Database; readonly writer: LedgerWriter },
  account: Account,
  amount: Amount,
): Promise<void> {
  await recordPayIn(deps, {
    tenantId: account.tenantId,
    accountId: account.id,
    amount,
    reference: `test-${randomUUID()}`,
    description: null,
    by: someone('test'),
  });
}

export function makeToken(
  database: Database,
  member: Member,
  scopes: readonly Scope[] = SCOPES,
): Promise<IssuedToken> {
  const wanted = { name: 'a test', scopes, expiresAt: null, cidrs: [] };
  return issueToken(database, systemClock, member, wanted, TEST_ACTOR);
}

/** The balance of the account in an asset. */
export async function balanceOf(
  database: Database,
  accountId: Uuid,
  asset: Asset = 'COPM',
): Promise<{ available: bigint; held: bigint }> {
  const balance = await database.reader.find(balances, { accountId, asset });
  assert(balance !== undefined, 'the account has no balance row');
  return { available: balance.available, held: balance.held };
}

/** The auditor over the whole database of the test finds nothing. Every test that moves money ends with it. */
export async function assertLedgerSound(database: Database): Promise<void> {
  assert.deepEqual(await findings(database), []);
}

export async function findings(database: Database): Promise<readonly Finding[]> {
  // A server that stands still for seconds, as on a machine's slow disk, has no finding.
  for (let tries = 1; ; tries += 1)
    try {
      return (await audit(database)).findings;
    } catch (failure) {
      if (!(failure instanceof DatabaseUnavailable) || tries === AUDIT_TRIES) throw failure;
    }
}

const AUDIT_TRIES = 3;

/** Returns the code with which work is refused, and these details. Fails if the work is not refused. */
export async function refusalOf(
  work: Promise<unknown>,
  ...details: readonly string[]
): Promise<unknown[]> {
  const failure = await work.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof ApiError, String(failure));
  const { refusal } = failure;
  return [refusal.code, ...details.map((name) => refusal.details?.[name])];
}

type GivenFee = Pick<FeeScheduleRow, 'tenantId'> & Partial<FeeScheduleRow>;

/** In all that is not given: of transfers in COPM, and free. */
export function feeSchedule(given: GivenFee): FeeScheduleRow {
  const free = { flatRaw: 0n, basisPoints: 0n, floorRaw: 0n, capRaw: null };
  return { operation: 'transfer', asset: 'COPM', ...free, ...given };
}

/** Into the fee account that the tenant has. */
export function setFee(database: Database, given: GivenFee): Promise<void> {
  return setFeeSchedule({ database, clock: systemClock }, feeSchedule(given), TEST_ACTOR);
}
