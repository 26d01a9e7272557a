import { accountAudit, type Actor, type AuditEntry, recordAction } from '../access/audit-log.js';
import type { Changer } from '../access/authority.js';
import { ApiError, invalidField, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { instant, type Instant, toRfc3339 } from '../core/instant.js';
import type { DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { releasedAliases, type ReservedAlias, reservedAliases } from '../db/entities/identity.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { isDuplicateKey } from '../db/failures.js';
import { deleteSql, insertSql, updateSql, upsertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { changeAccount } from './access.js';
import { parseAlias } from './recipients.js';

/** At exactly 90 × 24 h, the alias is free again. (docs/contract.md, Alias) */
const QUARANTINE_MS = 90 * 24 * 3_600_000;

export const ALIAS_RESERVED: Refusal = {
  code: 'alias_reserved',
  message: 'this alias is reserved by the platform',
};
export const ALIAS_TAKEN: Refusal = {
  code: 'alias_taken',
  message: 'another account of the tenant has this alias',
};

export function parseAliasOrThrow(text: string): string {
  const alias = parseAlias(text);
  if (alias === null) throw new ApiError(invalidField('alias', 'malformed'));
  return alias;
}

/** Gives an account this alias and releases its previous one. (docs/contract.md, Alias) */
export function setAlias(
  { database, clock }: DatabaseDeps,
  accountId: Uuid,
  text: string,
  by: Changer,
): Promise<Account> {
  const alias = parseAliasOrThrow(text);
  return changeAccount(database, by, accountId, async (transaction, account, actor) => {
    if (account.alias === alias) return account;
    const now = clock();
    if ((await transaction.find(reservedAliases, { alias })) !== undefined)
      throw new ApiError(ALIAS_RESERVED);
    try {
      await transaction.execute(updateSql(accounts, { alias }, { id: accountId }));
    } catch (failure) {
      throw isDuplicateKey(failure) ? new ApiError(ALIAS_TAKEN) : failure;
    }
    // The UPDATE has waited for any transaction that was releasing the alias.
    const { tenantId } = account;
    const released = await transaction.find(releasedAliases, { tenantId, alias });
    const refusal = released === undefined ? null : quarantineRefusal(released.releasedAt, now);
    if (refusal !== null) throw new ApiError(refusal);
    await recordRelease(transaction, account, now);
    // The entry omits the alias, which may name a person, because the audit log is never erased.
    await recordAction(transaction, actor, now, accountAudit(account, 'alias.set'));
    return { ...account, alias };
  });
}

/** Releases the account's alias; succeeds if it has none. */
export function releaseAlias(deps: DatabaseDeps, id: Uuid, by: Changer): Promise<Account> {
  return changeAccount(deps.database, by, id, async (transaction, account, actor) => {
    await releaseAliasInTransaction(transaction, account, actor, deps.clock());
    return { ...account, alias: null };
  });
}

/** Releases the alias of an account that the caller has locked. */
export async function releaseAliasInTransaction(
  transaction: Transaction,
  account: Account,
  actor: Actor,
  now: Instant,
): Promise<void> {
  if (account.alias === null) return;
  await transaction.execute(updateSql(accounts, { alias: null }, { id: account.id }));
  await recordRelease(transaction, account, now);
  await recordAction(transaction, actor, now, accountAudit(account, 'alias.release'));
}

export function quarantineRefusal(releasedAt: Instant, now: Instant): Refusal | null {
  const freeAt = instant(releasedAt + QUARANTINE_MS);
  if (now >= freeAt) return null;
  return {
    code: 'alias_in_quarantine',
    message: `this alias was released less than 90 days ago: it is free again at ${toRfc3339(freeAt)}`,
  };
}

async function recordRelease(transaction: Transaction, account: Account, now: Instant) {
  const { id: accountId, tenantId, alias } = account;
  if (alias === null) return;
  const row = { tenantId, alias, accountId, releasedAt: now };
  await transaction.execute(upsertSql(releasedAliases, [row], ['accountId', 'releasedAt']));
}

/** Returns aliases that cannot be taken. An account that already has one keeps it. */
export function listReservedAliases(reader: Reader): Promise<ReservedAlias[]> {
  return reader.select(reservedAliases, {}, { orderBy: ['alias'] });
}

/** Returns false if the alias was already on the list. */
export async function reserveAlias(
  { database, clock }: DatabaseDeps,
  text: string,
  actor: Actor,
): Promise<boolean> {
  const alias = parseAliasOrThrow(text);
  const createdAt = clock();
  try {
    await transact(database, async (transaction) => {
      const row = { alias, reservedBy: actor.name, createdAt };
      await transaction.execute(insertSql(reservedAliases, [row]));
      await recordAction(transaction, actor, createdAt, reservationAudit('reserve', alias));
    });
    return true;
  } catch (failure) {
    if (isDuplicateKey(failure)) return false;
    throw failure;
  }
}

/** Returns false if the alias was not on the list. */
export async function unreserveAlias(
  { database, clock }: DatabaseDeps,
  text: string,
  actor: Actor,
): Promise<boolean> {
  const alias = parseAliasOrThrow(text);
  return transact(database, async (transaction) => {
    if ((await transaction.execute(deleteSql(reservedAliases, { alias }))) === 0) return false;
    await recordAction(transaction, actor, clock(), reservationAudit('unreserve', alias));
    return true;
  });
}

function reservationAudit(verb: 'reserve' | 'unreserve', alias: string): AuditEntry {
  return { tenantId: null, action: `alias.${verb}`, subjectType: 'alias', subjectId: alias };
}
