import { type Actor, recordAction } from '../access/audit-log.js';
import type { Clock } from '../core/instant.js';
import type { Database, Reader } from '../db/database.js';
import { type ReservedAlias, reservedAliases } from '../db/entities/identity.js';
import { DUPLICATE_KEY, errnoOf } from '../db/failures.js';
import { deleteSql, insertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { readAlias } from './alias.js';

/** Aliases that cannot be taken. An account that already has one keeps it. */

export function listReservedAliases(reader: Reader): Promise<ReservedAlias[]> {
  return reader.select(reservedAliases, {}, { orderBy: ['alias'] });
}

/** Returns false if the alias was already on the list. */
export async function reserveAlias(
  database: Database,
  clock: Clock,
  text: string,
  actor: Actor,
): Promise<boolean> {
  const alias = readAlias(text);
  const createdAt = clock();
  try {
    await transact(database, async (transaction) => {
      await transaction.execute(
        insertSql(reservedAliases, [{ alias, reservedBy: actor.name, createdAt }]),
      );
      await recordAction(transaction, actor, createdAt, {
        ...ACT,
        action: 'alias.reserve',
        subjectId: alias,
      });
    });
    return true;
  } catch (failure) {
    if (errnoOf(failure) === DUPLICATE_KEY) return false;
    throw failure;
  }
}

/** Returns false if the alias was not on the list. */
export async function unreserveAlias(
  database: Database,
  clock: Clock,
  text: string,
  actor: Actor,
): Promise<boolean> {
  const alias = readAlias(text);
  return transact(database, async (transaction) => {
    if ((await transaction.execute(deleteSql(reservedAliases, { alias }))) === 0) return false;
    await recordAction(transaction, actor, clock(), {
      ...ACT,
      action: 'alias.unreserve',
      subjectId: alias,
    });
    return true;
  });
}

const ACT = { tenantId: null, subjectType: 'alias' } as const;
