import { accountAuditEntry, type Actor, recordAction } from '../access/audit-log.js';
import { ApiError, invalidField, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Clock, instant, type Instant, toRfc3339 } from '../core/instant.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { releasedAliases, reservedAliases } from '../db/entities/identity.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { DUPLICATE_KEY, errnoOf } from '../db/failures.js';
import { updateSql, upsertSql } from '../db/statements.js';
import { transactFor } from '../db/transact.js';
import { beneficiaryOf, type Changer, lockForChange } from './access.js';
import { parseAlias } from './identifiers.js';

/** 90 × 24 h; at exactly 90 days the alias is free. (docs/contract.md, Alias) */
const QUARANTINE_MS = 90 * 24 * 3_600_000;

export const ALIAS_RESERVED: Refusal = {
  code: 'alias_reserved',
  message: 'this alias is reserved by the platform',
};
export const ALIAS_TAKEN: Refusal = {
  code: 'alias_taken',
  message: 'another account of the tenant has this alias',
};

export function readAlias(text: string): string {
  const alias = parseAlias(text);
  if (alias === null) throw new ApiError(invalidField('alias', 'malformed'));
  return alias;
}

/** Gives an account this alias and releases its previous one. (docs/contract.md, Alias) */
export function setAlias(
  database: Database,
  clock: Clock,
  accountId: Uuid,
  text: string,
  by: Changer,
): Promise<Account> {
  const alias = readAlias(text);
  return transactFor(beneficiaryOf(by), database, async (transaction) => {
    const { account, actor } = await lockForChange(transaction, by, accountId);
    return changeAlias(transaction, account, alias, actor, clock());
  });
}

/** Releases the account's alias; succeeds if it has none. */
export function releaseAlias(
  database: Database,
  clock: Clock,
  accountId: Uuid,
  by: Changer,
): Promise<Account> {
  return transactFor(beneficiaryOf(by), database, async (transaction) => {
    const { account, actor } = await lockForChange(transaction, by, accountId);
    await dropAlias(transaction, account, actor, clock());
    return { ...account, alias: null };
  });
}

async function changeAlias(
  transaction: Transaction,
  account: Account,
  alias: string,
  actor: Actor,
  now: Instant,
): Promise<Account> {
  if (account.alias === alias) return account;
  if ((await transaction.find(reservedAliases, { alias })) !== undefined)
    throw new ApiError(ALIAS_RESERVED);
  await takeAlias(transaction, account, alias);
  // The unique key has waited for transactions that release the alias, so their release is visible.
  await assertNotQuarantined(transaction, account.tenantId, alias, now);
  await rememberRelease(transaction, account, now);
  // Without the alias, which may name a person: the audit log is never erased.
  await recordAction(transaction, actor, now, accountAuditEntry(account, 'alias.set'));
  return { ...account, alias };
}

export async function dropAlias(
  transaction: Transaction,
  account: Account,
  actor: Actor,
  now: Instant,
): Promise<void> {
  if (account.alias === null) return;
  await transaction.execute(updateSql(accounts, { alias: null }, { id: account.id }));
  await rememberRelease(transaction, account, now);
  await recordAction(transaction, actor, now, accountAuditEntry(account, 'alias.release'));
}

async function takeAlias(transaction: Transaction, { id }: Account, alias: string): Promise<void> {
  try {
    await transaction.execute(updateSql(accounts, { alias }, { id }));
  } catch (failure) {
    throw errnoOf(failure) === DUPLICATE_KEY ? new ApiError(ALIAS_TAKEN) : failure;
  }
}

async function assertNotQuarantined(
  reader: Reader,
  tenantId: Uuid,
  alias: string,
  now: Instant,
): Promise<void> {
  const released = await reader.find(releasedAliases, { tenantId, alias });
  const refusal = released === undefined ? null : quarantineRefusal(released.releasedAt, now);
  if (refusal !== null) throw new ApiError(refusal);
}

export function quarantineRefusal(releasedAt: Instant, now: Instant): Refusal | null {
  const freeAt = instant(releasedAt + QUARANTINE_MS);
  if (now >= freeAt) return null;
  return {
    code: 'alias_in_quarantine',
    message: `this alias was released less than 90 days ago: it is free again at ${toRfc3339(freeAt)}`,
  };
}

async function rememberRelease(
  transaction: Transaction,
  account: Account,
  now: Instant,
): Promise<void> {
  const { id: accountId, tenantId, alias } = account;
  if (alias === null) return;
  const row = { tenantId, alias, accountId, releasedAt: now };
  await transaction.execute(upsertSql(releasedAliases, [row], ['accountId', 'releasedAt']));
}
