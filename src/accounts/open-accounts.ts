import { accountAudit, type Actor, memberActor, recordAction } from '../access/audit-log.js';
import { assertOwner, lockAccess } from '../access/authority.js';
import { assertQuota } from '../access/quotas.js';
import { cleanText } from '../core/checked-text.js';
import {
  ApiError,
  type CommandResult,
  type FieldProblem,
  fieldRefusal,
  type Refusal,
} from '../core/errors.js';
import { settlesKey } from '../core/error-table.js';
import type { RequestKey } from '../core/fingerprint.js';
import { ASSETS } from '../core/amount.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Metadata } from '../core/metadata.js';
import type { Caller, Role } from '../core/permissions.js';
import type { DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { releasedAliases, reservedAliases } from '../db/entities/identity.js';
import { balances, noBalance } from '../db/entities/ledger.js';
import { type Account, accounts, memberRoles, members, tenants } from '../db/entities/parties.js';
import { isDuplicateKey, TransactionRetryable } from '../db/failures.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { writeKeyed } from '../ledger/keyed-writes.js';
import { ALIAS_RESERVED, ALIAS_TAKEN, quarantineRefusal } from './alias.js';
import { parseAlias, parsePhone } from './recipients.js';

export interface NewAccount {
  readonly tenantId: Uuid;
  readonly type: 'person' | 'business';
  /** 1 to 120 characters: a person's full name or a business's trade name. */
  readonly name: string;
  readonly alias: string | null;
  readonly phone: string | null;
  /** None unless given. Its rules have been checked. */
  readonly metadata?: Metadata | null;
  readonly grants: readonly { readonly memberId: Uuid; readonly role: Role }[];
}

interface Draft {
  readonly account: Account;
  readonly grants: NewAccount['grants'];
}

export const MAX_ACCOUNT_NAME = 120;

const PHONE_TAKEN: Refusal = {
  code: 'phone_taken',
  message: 'another account of the tenant has this phone',
};

/** Opens an account: active, unverified, with zero in each asset. (docs/contract.md, Accounts) */
export async function openAccount(
  deps: DatabaseDeps,
  request: NewAccount,
  actor: Actor,
): Promise<Account> {
  const draft = draftAccount(request, deps.clock());
  if ('code' in draft) throw new ApiError(draft);
  const notOpened = await openAccounts({ ...deps, actor }, request.tenantId, [draft], 'request');
  const refusal = notOpened.get(draft);
  if (refusal !== undefined && refusal !== 'known') throw new ApiError(refusal);
  return draft.account;
}

/** Opens an account for an owner, at most once per key. (docs/contract.md, Own access) */
export function openOwnAccount(
  { database, clock }: DatabaseDeps,
  caller: Caller,
  request: Omit<NewAccount, 'tenantId' | 'grants'>,
  idempotency: RequestKey,
): Promise<CommandResult<Account>> {
  const { tenantId, memberId, deadline } = caller;
  const kind = { resourceType: 'account', table: accounts } as const;
  const keyed = { kind, command: { ...idempotency, tenantId } };
  return writeKeyed(database, keyed, deadline, async (transaction) => {
    await lockAccess(transaction, caller, tenantId);
    await assertOwner(transaction, caller);
    const now = clock();
    const draft = draftAccount(
      { ...request, tenantId, grants: [{ memberId, role: 'owner' }] },
      now,
    );
    if ('code' in draft) throw new ApiError(draft);
    const refusal = (await checkDrafts(transaction, tenantId, [draft], 'request', now)).get(draft);
    if (refusal !== undefined && refusal !== 'known') {
      if (!settlesKey(refusal.code)) throw new ApiError(refusal);
      return { refusal, at: now };
    }
    await assertQuota(transaction, tenantId, 'accounts', now);
    await storeAccounts(transaction, tenantId, [draft], memberActor(caller), now);
    return { row: draft.account, isWritten: true };
  });
}

function draftAccount(
  { tenantId, type, name, grants, metadata = null, ...identifiers }: NewAccount,
  createdAt: Instant,
): Draft | Refusal {
  const problems: FieldProblem[] = [];
  const addProblem = (field: string, reason: string): void => {
    problems.push({ code: 'invalid_field', field, reason });
  };
  const alias = identifiers.alias === null ? null : parseAlias(identifiers.alias);
  if (alias === null && identifiers.alias !== null) addProblem('alias', 'malformed');
  const phone = identifiers.phone === null ? null : parsePhone(identifiers.phone);
  if (phone === null && identifiers.phone !== null) addProblem('phone', 'malformed');
  if (new Set(grants.map(({ memberId }) => memberId)).size < grants.length)
    addProblem('grants', 'member_named_twice');
  const cleaned = cleanText(name, MAX_ACCOUNT_NAME);
  if ('fault' in cleaned) addProblem('name', cleaned.fault);
  const [first, ...rest] = problems;
  if (first !== undefined) return fieldRefusal([first, ...rest]);
  const account: Account = {
    id: newId(),
    tenantId,
    type,
    systemRole: null,
    status: 'active',
    alias,
    phone,
    metadata,
    name: 'clean' in cleaned ? cleaned.clean : '',
    verifiedAt: null,
    createdAt,
  };
  return { account, grants };
}

const MAX_TRIES = 4;

interface OpeningDeps extends DatabaseDeps {
  readonly actor: Actor;
}

/** Why drafts were not opened. `known`: the account existed before. */
type NotOpened = ReadonlyMap<Draft, Refusal | 'known'>;

/**
 * Opens, in one transaction, the accounts of a tenant that no rule forbids and that do not exist
 * yet. Throws ApiError not_found (tenant or member).
 */
async function openAccounts(
  { database, clock, actor }: OpeningDeps,
  tenantId: Uuid,
  drafts: readonly Draft[],
  mode: 'request' | 'import',
): Promise<NotOpened> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transact(database, async (transaction) => {
        const now = clock();
        await lockTenantAndMembers(transaction, tenantId, drafts);
        const notOpened = await checkDrafts(transaction, tenantId, drafts, mode, now);
        const toOpen = drafts.filter((draft) => !notOpened.has(draft));
        if (toOpen.length > 0) await storeAccounts(transaction, tenantId, toOpen, actor, now);
        return notOpened;
      });
    } catch (failure) {
      if (!isDuplicateKey(failure) || tries === MAX_TRIES) throw failure;
    }
  }
}

async function storeAccounts(
  transaction: Transaction,
  tenantId: Uuid,
  drafts: readonly Draft[],
  actor: Actor,
  now: Instant,
): Promise<void> {
  const opened = drafts.map(({ account }) => account);
  await openLedgerAccounts(transaction, opened);
  // The unique key has waited for transactions that release an alias, so their release is visible.
  for (const releasedAt of (await readReleases(transaction, tenantId, opened)).values())
    if (quarantineRefusal(releasedAt, now) !== null)
      throw new TransactionRetryable('an alias was released meanwhile');
  const roles = drafts.flatMap(({ account, grants }) =>
    grants.map((grant) => ({ accountId: account.id, ...grant })),
  );
  if (roles.length > 0) await transaction.execute(insertSql(memberRoles, roles));
  for (const account of opened) {
    const entry = accountAudit(account, 'account.open', { type: account.type });
    await recordAction(transaction, actor, now, entry);
  }
}

/** The lock keeps members from being removed before they have their roles. */
async function lockTenantAndMembers(
  transaction: Transaction,
  id: Uuid,
  drafts: readonly Draft[],
): Promise<void> {
  const ids = new Set(drafts.flatMap(({ grants }) => grants.map(({ memberId }) => memberId)));
  const missing = (message: string) => new ApiError({ code: 'not_found', message });
  if ((await transaction.find(tenants, { id }, { forUpdate: true })) === undefined)
    throw missing('the tenant does not exist');
  const own = await transaction.select(members, { tenantId: id, id: [...ids], isActive: true });
  if (own.length < ids.size) throw missing('a member that is to be granted a role does not exist');
}

/** Checks drafts against the stored accounts, and the aliases and phones of earlier drafts. */
async function checkDrafts(
  reader: Reader,
  tenantId: Uuid,
  drafts: readonly Draft[],
  mode: 'request' | 'import',
  now: Instant,
): Promise<NotOpened> {
  const drafted = drafts.map(({ account }) => account);
  const alias = drafted.flatMap((account) => account.alias ?? []);
  const phone = drafted.flatMap((account) => account.phone ?? []);
  const reserved = await reader.select(reservedAliases, { alias });
  const reservedNames = new Set(reserved.map((reservation) => reservation.alias));
  const releases = await readReleases(reader, tenantId, drafted);
  const aliasOwners = await reader.select(accounts, { tenantId, alias });
  const phoneOwners = await reader.select(accounts, { tenantId, phone });
  const byAlias = new Map(aliasOwners.map((account) => [account.alias, account]));
  const byPhone = new Map(phoneOwners.map((account) => [account.phone, account]));
  const notOpened = new Map<Draft, Refusal | 'known'>();
  for (const draft of drafts) {
    const { account } = draft;
    const aliasOwner = account.alias === null ? undefined : byAlias.get(account.alias);
    const phoneOwner = account.phone === null ? undefined : byPhone.get(account.phone);
    const releasedAt = account.alias === null ? undefined : releases.get(account.alias);
    const quarantined = releasedAt === undefined ? null : quarantineRefusal(releasedAt, now);
    if (mode === 'import' && exists(account, aliasOwner, phoneOwner)) notOpened.set(draft, 'known');
    else if (reservedNames.has(account.alias ?? '')) notOpened.set(draft, ALIAS_RESERVED);
    else if (aliasOwner !== undefined) notOpened.set(draft, ALIAS_TAKEN);
    else if (quarantined !== null) notOpened.set(draft, quarantined);
    else if (phoneOwner !== undefined) notOpened.set(draft, PHONE_TAKEN);
    else {
      byAlias.set(account.alias, account);
      byPhone.set(account.phone, account);
    }
  }
  return notOpened;
}

/**
 * True if an account of the same type and name has the phone, or the alias of a draft without a
 * phone. False if another account has the alias, even if the phone matches.
 */
function exists(
  { type, name, phone }: Account,
  aliasOwner: Account | undefined,
  phoneOwner: Account | undefined,
): boolean {
  const existing = phone === null ? aliasOwner : phoneOwner;
  if (existing?.type !== type || existing.name !== name) return false;
  return aliasOwner === undefined || aliasOwner.id === existing.id;
}

/** Returns when each alias of the drafted accounts was last released. */
async function readReleases(reader: Reader, tenantId: Uuid, drafted: readonly Account[]) {
  const alias = drafted.flatMap((account) => account.alias ?? []);
  const rows = await reader.select(releasedAliases, { tenantId, alias });
  return new Map(rows.map((row) => [row.alias, row.releasedAt]));
}

export interface ImportDeps extends OpeningDeps {
  readonly dryRun: boolean;
}

/** Opens a group of a tenant's accounts. Repeating an import opens nothing twice. */
export async function importAccounts(
  { dryRun, ...deps }: ImportDeps,
  tenantId: Uuid,
  requests: readonly NewAccount[],
): Promise<readonly ('opened' | 'known' | Refusal)[]> {
  const { database, clock } = deps;
  const drafted = requests.map((request) => draftAccount(request, clock()));
  const drafts = drafted.flatMap((draft) => ('code' in draft ? [] : draft));
  const notOpened = dryRun
    ? await checkDrafts(database.reader, tenantId, drafts, 'import', clock())
    : await openAccounts(deps, tenantId, drafts, 'import');
  return drafted.map((draft) => ('code' in draft ? draft : (notOpened.get(draft) ?? 'opened')));
}

/** Inserts accounts with zero in every asset. Throws 1062 for a taken alias or phone. */
export async function openLedgerAccounts(
  transaction: Transaction,
  opened: readonly Account[],
): Promise<void> {
  await transaction.execute(insertSql(accounts, opened));
  const zero = opened.flatMap((account) => ASSETS.map((asset) => noBalance(account, asset)));
  await transaction.execute(insertSql(balances, zero));
}
