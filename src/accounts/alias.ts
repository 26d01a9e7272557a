import { memberActor, recordAct, type Actor } from '../access/audit-log.js';
import { ApiError, invalidField, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Clock, type Instant, toRfc3339 } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { releasedAliases, reservedAliases } from '../db/entities/identity.js';
import { type Account, accounts } from '../db/entities/parties.js';
import { DUPLICATE_KEY, errnoOf } from '../db/failures.js';
import { updateSql, upsertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { lockManagedAccount } from './access.js';
import { parseAlias } from './identifiers.js';

/** 90 × 24 h; at exactly 90 days the alias is free. (interface.md, Limits) */
export const QUARANTINE_MS = 90 * 24 * 3_600_000;

const ALIAS_RESERVED: Refusal = { code: 'alias_reserved', message: 'this alias is reserved by the platform' };
export const ALIAS_TAKEN: Refusal = {
  code: 'alias_taken',
  message: 'another account of the tenant has this alias',
};

/** Gives the account this alias and releases the one it had. Throws ApiError: every refusal of PUT alias. */
export async function setAlias(
  database: Database,
  clock: Clock,
  caller: Caller,
  accountId: Uuid,
  text: string,
): Promise<Account> {
  const alias = readAlias(text);
  return transact(database, async (transaction) => {
    const account = await lockManagedAccount(transaction, caller, accountId);
    if (account.alias === alias) return account;
    const now = clock();
    await assertNotReserved(transaction, alias);
    await takeAlias(transaction, account, alias);
    // After the unique key has waited for whoever is giving the alias up, so that their release is seen.
    await assertNotQuarantined(transaction, account.tenantId, alias, now);
    await rememberRelease(transaction, account, now);
    await recordAct(transaction, memberActor(caller), now, aliasAct(account, 'alias.set'));
    return { ...account, alias };
  });
}

/** Releases the account's alias, if it has one. Throws ApiError not_found, authority_insufficient, invalid_state. */
export async function releaseAlias(database: Database, clock: Clock, caller: Caller, accountId: Uuid): Promise<void> {
  await transact(database, async (transaction) => {
    const account = await lockManagedAccount(transaction, caller, accountId);
    await dropAlias(transaction, account, memberActor(caller), clock());
  });
}

/** The same inside a transaction that has locked the account. */
export async function dropAlias(
  transaction: Transaction,
  account: Account,
  actor: Actor,
  now: Instant,
): Promise<void> {
  if (account.alias === null) return;
  await transaction.execute(updateSql(accounts, { alias: null }, { id: account.id }));
  await rememberRelease(transaction, account, now);
  await recordAct(transaction, actor, now, aliasAct(account, 'alias.release'));
}

/** Throws alias_reserved, alias_in_quarantine: for an account that is opened with this alias. */
export async function assertAliasFree(reader: Reader, tenantId: Uuid, alias: string, now: Instant): Promise<void> {
  await assertNotReserved(reader, alias);
  await assertNotQuarantined(reader, tenantId, alias, now);
}

function readAlias(text: string): string {
  const alias = parseAlias(text);
  if (alias === null) throw new ApiError(invalidField('alias', 'malformed'));
  return alias;
}

async function assertNotReserved(reader: Reader, alias: string): Promise<void> {
  if ((await reader.find(reservedAliases, { alias })) !== undefined) throw new ApiError(ALIAS_RESERVED);
}

async function takeAlias(transaction: Transaction, { id }: Account, alias: string): Promise<void> {
  try {
    await transaction.execute(updateSql(accounts, { alias }, { id }));
  } catch (failure) {
    throw errnoOf(failure) === DUPLICATE_KEY ? new ApiError(ALIAS_TAKEN) : failure;
  }
}

async function assertNotQuarantined(reader: Reader, tenantId: Uuid, alias: string, now: Instant): Promise<void> {
  const released = await reader.find(releasedAliases, { tenantId, alias });
  if (released === undefined || now - released.releasedAt >= QUARANTINE_MS) return;
  const freeAt = toRfc3339((released.releasedAt + QUARANTINE_MS) as Instant);
  throw new ApiError({
    code: 'alias_in_quarantine',
    message: `this alias was released less than 90 days ago: it is free again at ${freeAt}`,
  });
}

async function rememberRelease(transaction: Transaction, account: Account, now: Instant): Promise<void> {
  const { id: accountId, tenantId, alias } = account;
  if (alias === null) return;
  const row = { tenantId, alias, accountId, releasedAt: now };
  await transaction.execute(upsertSql(releasedAliases, [row], ['accountId', 'releasedAt']));
}

function aliasAct({ tenantId, id }: Account, action: string): Parameters<typeof recordAct>[3] {
  return { tenantId, action, subjectType: 'account', subjectId: id };
}
