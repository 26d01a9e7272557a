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
import type { Clock, Instant } from '../core/instant.js';
import type { Role } from '../core/permissions.js';
import type { Database, DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { releasedAliases, reservedAliases } from '../db/entities/identity.js';
import { type Account, accounts, memberRoles, members, tenants } from '../db/entities/parties.js';
import { DUPLICATE_KEY, errnoOf } from '../db/failures.js';
import { insertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { openLedgerAccounts } from '../ledger/opening.js';
import { ALIAS_RESERVED, ALIAS_TAKEN, quarantineRefusal } from './alias.js';
import { parseAlias, parsePhone } from './identifiers.js';

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

type Drafted = { readonly draft: Draft } | { readonly refusal: Refusal };

const MAX_NAME = 120;

const PHONE_TAKEN: Refusal = {
  ...invalidField('phone', 'taken'),
  message: 'another account of the tenant has this phone',
};

/** Opens an account: active, unverified, with zero in each asset. (docs/contract.md, Accounts) */
export async function openAccount(
  database: Database,
  clock: Clock,
  wanted: NewAccount,
  actor: Actor,
): Promise<Account> {
  const drafted = draftAccount(wanted, clock());
  if ('refusal' in drafted) throw new ApiError(drafted.refusal);
  const [refusal = null] = await openAccounts(
    database,
    clock,
    wanted.tenantId,
    [drafted.draft],
    actor,
  );
  if (refusal !== null) throw new ApiError(refusal);
  return drafted.draft.account;
}

function draftAccount(
  { tenantId, type, name, grants, ...wanted }: NewAccount,
  createdAt: Instant,
): Drafted {
  const problems: FieldProblem[] = [];
  const wrong = (field: string, reason: string): void => {
    problems.push({ code: 'invalid_field', field, reason });
  };
  const alias = wanted.alias === null ? null : parseAlias(wanted.alias);
  if (alias === null && wanted.alias !== null) wrong('alias', 'malformed');
  const phone = wanted.phone === null ? null : parsePhone(wanted.phone);
  if (phone === null && wanted.phone !== null) wrong('phone', 'malformed');
  if (new Set(grants.map(({ memberId }) => memberId)).size < grants.length)
    wrong('grants', 'member_named_twice');
  const named = cleanText(name, MAX_NAME);
  if ('fault' in named) wrong('name', named.fault);
  const [first, ...rest] = problems;
  if (first !== undefined || 'fault' in named)
    return {
      refusal:
        first === undefined ? invalidField('name', 'malformed') : fieldRefusal([first, ...rest]),
    };
  const account: Account = {
    ...{
      id: newId(),
      tenantId,
      type,
      systemRole: null,
      status: 'active',
      name: named.clean,
      alias,
      phone,
    },
    ...{ verifiedAt: null, seq: 0n, lastPostedAt: createdAt, createdAt },
  };
  return { draft: { account, grants } };
}

/** Thrown, before any row is written, if data read beforehand has changed. */
class Overtaken extends Error {
  override name = 'Overtaken';
}

const TRIES = 4;

/**
 * Opens in one transaction those accounts of a tenant that no rule forbids. Returns for each
 * account the rule that forbids it, or null. Throws ApiError not_found (tenant or member).
 */
async function openAccounts(
  database: Database,
  clock: Clock,
  tenantId: Uuid,
  drafts: readonly Draft[],
  actor: Actor,
): Promise<readonly (Refusal | null)[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transact(database, (transaction) =>
        openAll(transaction, tenantId, drafts, actor, clock()),
      );
    } catch (failure) {
      if (!(failure instanceof Overtaken) && errnoOf(failure) !== DUPLICATE_KEY) throw failure;
      if (tries === TRIES) throw failure;
    }
  }
}

async function openAll(
  transaction: Transaction,
  tenantId: Uuid,
  drafts: readonly Draft[],
  actor: Actor,
  now: Instant,
): Promise<readonly (Refusal | null)[]> {
  await assertParties(transaction, tenantId, drafts);
  const refusals = await judgeDrafts(transaction, tenantId, drafts, now);
  const open = drafts.filter((_, index) => refusals[index] === null);
  const opened = open.map(({ account }) => account);
  if (opened.length > 0) {
    await openLedgerAccounts(transaction, opened);
    await assertNoneWasReleased(transaction, tenantId, opened, now);
    const roles = open.flatMap(({ account, grants }) =>
      grants.map((grant) => ({ accountId: account.id, ...grant })),
    );
    if (roles.length > 0) await transaction.execute(insertSql(memberRoles, roles));
    for (const account of opened) {
      const entry = accountAudit(account, 'account.open', { type: account.type });
      await recordAction(transaction, actor, now, entry);
    }
  }
  return refusals;
}

async function assertParties(reader: Reader, id: Uuid, drafts: readonly Draft[]): Promise<void> {
  const ids = new Set(drafts.flatMap(({ grants }) => grants.map(({ memberId }) => memberId)));
  const tenant = await reader.find(tenants, { id });
  if (tenant === undefined)
    throw new ApiError({ code: 'not_found', message: 'the tenant does not exist' });
  const own = await reader.select(members, { tenantId: id, id: [...ids] });
  if (own.length < ids.size)
    throw new ApiError({
      code: 'not_found',
      message: 'a member that is to be granted a role does not exist',
    });
}

/** Returns the rule that forbids each draft, or null. Earlier drafts take aliases and phones. */
async function judgeDrafts(
  reader: Reader,
  tenantId: Uuid,
  drafts: readonly Draft[],
  now: Instant,
): Promise<readonly (Refusal | null)[]> {
  const aliases = drafts.flatMap(({ account }) => account.alias ?? []);
  const phones = drafts.flatMap(({ account }) => account.phone ?? []);
  const reserved = new Set(
    (await reader.select(reservedAliases, { alias: aliases })).map(({ alias }) => alias),
  );
  const released = await releasedAt(reader, tenantId, aliases);
  const takenAliases = new Set(
    (await reader.select(accounts, { tenantId, alias: aliases })).map(({ alias }) => alias),
  );
  const takenPhones = new Set(
    (await reader.select(accounts, { tenantId, phone: phones })).map(({ phone }) => phone),
  );
  const refusalOf = ({ alias, phone }: Account): Refusal | null => {
    if (alias !== null) {
      if (reserved.has(alias)) return ALIAS_RESERVED;
      if (takenAliases.has(alias)) return ALIAS_TAKEN;
      const since = released.get(alias);
      const quarantined = since === undefined ? null : quarantineRefusal(since, now);
      if (quarantined !== null) return quarantined;
    }
    return phone !== null && takenPhones.has(phone) ? PHONE_TAKEN : null;
  };
  return drafts.map(({ account }) => {
    const refusal = refusalOf(account);
    if (refusal === null && account.alias !== null) takenAliases.add(account.alias);
    if (refusal === null && account.phone !== null) takenPhones.add(account.phone);
    return refusal;
  });
}

async function releasedAt(
  reader: Reader,
  tenantId: Uuid,
  aliases: readonly string[],
): Promise<ReadonlyMap<string, Instant>> {
  const rows = await reader.select(releasedAliases, { tenantId, alias: aliases });
  return new Map(rows.map((row) => [row.alias, row.releasedAt]));
}

/**
 * The unique key has waited for transactions that release an alias, so their release is visible.
 */
async function assertNoneWasReleased(
  reader: Reader,
  tenantId: Uuid,
  opened: readonly Account[],
  now: Instant,
): Promise<void> {
  const aliases = opened.flatMap(({ alias }) => alias ?? []);
  const released = await releasedAt(reader, tenantId, aliases);
  for (const since of released.values())
    if (quarantineRefusal(since, now) !== null)
      throw new Overtaken('an alias was released meanwhile');
}

/** `known`: the account was open already, so repeating an import opens nothing twice. */
type Imported =
  | { readonly result: 'opened' | 'known' }
  | { readonly result: 'refused'; readonly refusal: Refusal };

export interface ImportDeps extends DatabaseDeps {
  readonly actor: Actor;
  readonly dryRun: boolean;
}

/**
 * Opens a group of a tenant's accounts. An account of the same type and name is known by its phone,
 * or by its alias if the draft has no phone.
 */
export async function importAccounts(
  { database, clock, actor, dryRun }: ImportDeps,
  tenantId: Uuid,
  wanted: readonly NewAccount[],
): Promise<readonly Imported[]> {
  const drafted = wanted.map((one) => draftAccount(one, clock()));
  const drafts = drafted.flatMap((one) => ('draft' in one ? one.draft : []));
  const known = await findKnown(database.reader, tenantId, drafts);
  const fresh = drafts.filter((draft) => !known.has(draft));
  const judged = dryRun
    ? await judgeDrafts(database.reader, tenantId, fresh, clock())
    : await openAccounts(database, clock, tenantId, fresh, actor);
  const refusals = new Map<Draft, Refusal>();
  fresh.forEach((draft, index) => {
    const refusal = judged[index] ?? null;
    if (refusal !== null) refusals.set(draft, refusal);
  });
  // A concurrent run of the same import may have been faster.
  const overtaken = await findKnown(database.reader, tenantId, [...refusals.keys()]);
  return drafted.map((one): Imported => {
    if ('refusal' in one) return { result: 'refused', refusal: one.refusal };
    if (known.has(one.draft) || overtaken.has(one.draft)) return { result: 'known' };
    const refusal = refusals.get(one.draft);
    return refusal === undefined ? { result: 'opened' } : { result: 'refused', refusal };
  });
}

async function findKnown(
  reader: Reader,
  tenantId: Uuid,
  drafts: readonly Draft[],
): Promise<ReadonlySet<Draft>> {
  const aliases = drafts.flatMap(({ account }) => account.alias ?? []);
  const phones = drafts.flatMap(({ account }) => account.phone ?? []);
  const byAlias = new Map(
    (await reader.select(accounts, { tenantId, alias: aliases })).map((one) => [one.alias, one]),
  );
  const byPhone = new Map(
    (await reader.select(accounts, { tenantId, phone: phones })).map((one) => [one.phone, one]),
  );
  const known = new Set<Draft>();
  for (const draft of drafts) {
    const { type, name, alias, phone } = draft.account;
    const ofAlias = alias === null ? undefined : byAlias.get(alias);
    const found = phone === null ? ofAlias : byPhone.get(phone);
    const isSame = found !== undefined && found.type === type && found.name === name;
    // An alias of another account is a conflict, even if the phone matches.
    if (isSame && (ofAlias === undefined || ofAlias.id === found.id)) known.add(draft);
  }
  return known;
}
