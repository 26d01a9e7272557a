import { accountAudit, type Actor, recordAction } from '../access/audit-log.js';
import { cleanText } from '../core/checked-text.js';
import {
  ApiError,
  type FieldProblem,
  fieldRefusal,
  invalidField,
  type Refusal,
} from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Role } from '../core/permissions.js';
import type { DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { releasedAliases, reservedAliases } from '../db/entities/identity.js';
import { type Account, accounts, memberRoles, members, tenants } from '../db/entities/parties.js';
import { DUPLICATE_KEY, errnoOf } from '../db/failures.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { openLedgerAccounts } from '../ledger/keyed-writes.js';
import { ALIAS_RESERVED, ALIAS_TAKEN, quarantineRefusal } from './alias.js';
import { parseAlias, parsePhone } from './recipients.js';

export interface NewAccount {
  readonly tenantId: Uuid;
  readonly type: 'person' | 'business';
  /** 1 to 120 characters: a person's full name or a business's trade name. */
  readonly name: string;
  readonly alias: string | null;
  readonly phone: string | null;
  readonly grants: readonly { readonly memberId: Uuid; readonly role: Role }[];
}

interface Draft {
  readonly account: Account;
  readonly grants: NewAccount['grants'];
}

const MAX_NAME = 120;

const PHONE_TAKEN: Refusal = {
  ...invalidField('phone', 'taken'),
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
  const opening = openAccounts({ ...deps, actor }, request.tenantId, [draft], false);
  const refusal = (await opening).get(draft);
  if (refusal !== undefined && refusal !== 'known') throw new ApiError(refusal);
  return draft.account;
}

function draftAccount(
  { tenantId, type, name, grants, ...identifiers }: NewAccount,
  createdAt: Instant,
): Draft | Refusal {
  const problems: FieldProblem[] = [];
  const wrong = (field: string, reason: string): void => {
    problems.push({ code: 'invalid_field', field, reason });
  };
  const alias = identifiers.alias === null ? null : parseAlias(identifiers.alias);
  if (alias === null && identifiers.alias !== null) wrong('alias', 'malformed');
  const phone = identifiers.phone === null ? null : parsePhone(identifiers.phone);
  if (phone === null && identifiers.phone !== null) wrong('phone', 'malformed');
  if (new Set(grants.map(({ memberId }) => memberId)).size < grants.length)
    wrong('grants', 'member_named_twice');
  const cleaned = cleanText(name, MAX_NAME);
  if ('fault' in cleaned) wrong('name', cleaned.fault);
  const [first, ...rest] = problems;
  if (first !== undefined) return fieldRefusal([first, ...rest]);
  const account: Account = {
    ...{ id: newId(), tenantId, type, systemRole: null, status: 'active', alias, phone },
    name: 'clean' in cleaned ? cleaned.clean : '',
    ...{ verifiedAt: null, seq: 0n, lastPostedAt: createdAt, createdAt },
  };
  return { account, grants };
}

/** Thrown, before any row is written, if data read beforehand has changed. */
class ConcurrentChange extends Error {
  override name = 'ConcurrentChange';
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
  isImport: boolean,
): Promise<NotOpened> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transact(database, async (transaction) => {
        const now = clock();
        await assertParties(transaction, tenantId, drafts);
        const notOpened = await checkDrafts(transaction, tenantId, drafts, isImport, now);
        const toOpen = drafts.filter((draft) => !notOpened.has(draft));
        if (toOpen.length > 0) await store(transaction, tenantId, toOpen, actor, now);
        return notOpened;
      });
    } catch (failure) {
      if (!(failure instanceof ConcurrentChange) && errnoOf(failure) !== DUPLICATE_KEY)
        throw failure;
      if (tries === MAX_TRIES) throw failure;
    }
  }
}

async function store(
  transaction: Transaction,
  tenantId: Uuid,
  drafts: readonly Draft[],
  actor: Actor,
  now: Instant,
): Promise<void> {
  const opened = drafts.map(({ account }) => account);
  await openLedgerAccounts(transaction, opened);
  // The unique key has waited for transactions that release an alias, so their release is visible.
  for (const since of (await releasedAt(transaction, tenantId, opened)).values())
    if (quarantineRefusal(since, now) !== null)
      throw new ConcurrentChange('an alias was released meanwhile');
  const roles = drafts.flatMap(({ account, grants }) =>
    grants.map((grant) => ({ accountId: account.id, ...grant })),
  );
  if (roles.length > 0) await transaction.execute(insertSql(memberRoles, roles));
  for (const account of opened) {
    const entry = accountAudit(account, 'account.open', { type: account.type });
    await recordAction(transaction, actor, now, entry);
  }
}

async function assertParties(reader: Reader, id: Uuid, drafts: readonly Draft[]): Promise<void> {
  const ids = new Set(drafts.flatMap(({ grants }) => grants.map(({ memberId }) => memberId)));
  const missing = (message: string) => new ApiError({ code: 'not_found', message });
  if ((await reader.find(tenants, { id })) === undefined)
    throw missing('the tenant does not exist');
  const own = await reader.select(members, { tenantId: id, id: [...ids] });
  if (own.length < ids.size) throw missing('a member that is to be granted a role does not exist');
}

/** Checks drafts against the stored accounts, and the aliases and phones of earlier drafts. */
async function checkDrafts(
  reader: Reader,
  tenantId: Uuid,
  drafts: readonly Draft[],
  isImport: boolean,
  now: Instant,
): Promise<NotOpened> {
  const opening = drafts.map(({ account }) => account);
  const alias = opening.flatMap((one) => one.alias ?? []);
  const phone = opening.flatMap((one) => one.phone ?? []);
  const reserved = await reader.select(reservedAliases, { alias });
  const reservedNames = new Set(reserved.map((one) => one.alias));
  const released = await releasedAt(reader, tenantId, opening);
  const ofAliases = await reader.select(accounts, { tenantId, alias });
  const ofPhones = await reader.select(accounts, { tenantId, phone });
  const byAlias = new Map(ofAliases.map((one) => [one.alias, one]));
  const byPhone = new Map(ofPhones.map((one) => [one.phone, one]));
  const notOpened = new Map<Draft, Refusal | 'known'>();
  for (const draft of drafts) {
    const { account } = draft;
    const ofAlias = account.alias === null ? undefined : byAlias.get(account.alias);
    const ofPhone = account.phone === null ? undefined : byPhone.get(account.phone);
    const since = account.alias === null ? undefined : released.get(account.alias);
    const quarantined = since === undefined ? null : quarantineRefusal(since, now);
    if (isImport && isKnown(account, ofAlias, ofPhone)) notOpened.set(draft, 'known');
    else if (reservedNames.has(account.alias ?? '')) notOpened.set(draft, ALIAS_RESERVED);
    else if (ofAlias !== undefined) notOpened.set(draft, ALIAS_TAKEN);
    else if (quarantined !== null) notOpened.set(draft, quarantined);
    else if (ofPhone !== undefined) notOpened.set(draft, PHONE_TAKEN);
    else {
      byAlias.set(account.alias, account);
      byPhone.set(account.phone, account);
    }
  }
  return notOpened;
}

/**
 * An account of the same type and name is known by its phone, or by its alias if the draft has no
 * phone. An alias of another account is a conflict, even if the phone matches.
 */
function isKnown(
  { type, name, phone }: Account,
  ofAlias: Account | undefined,
  ofPhone: Account | undefined,
): boolean {
  const known = phone === null ? ofAlias : ofPhone;
  if (known?.type !== type || known.name !== name) return false;
  return ofAlias === undefined || ofAlias.id === known.id;
}

async function releasedAt(reader: Reader, tenantId: Uuid, opening: readonly Account[]) {
  const alias = opening.flatMap((one) => one.alias ?? []);
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
  accounts: readonly NewAccount[],
): Promise<readonly ('opened' | 'known' | Refusal)[]> {
  const { database, clock } = deps;
  const drafted = accounts.map((one) => draftAccount(one, clock()));
  const drafts = drafted.flatMap((one) => ('code' in one ? [] : one));
  const notOpened = dryRun
    ? await checkDrafts(database.reader, tenantId, drafts, true, clock())
    : await openAccounts(deps, tenantId, drafts, true);
  return drafted.map((one) => ('code' in one ? one : (notOpened.get(one) ?? 'opened')));
}
