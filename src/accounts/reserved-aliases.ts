import { type Actor, recordAct } from '../access/audit-log.js';
import { ApiError, invalidField } from '../core/errors.js';
import type { Clock } from '../core/instant.js';
import type { Database, Reader } from '../db/database.js';
import { type ReservedAlias, reservedAliases } from '../db/entities/identity.js';
import { literal, upsertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { parseAlias } from './identifiers.js';

/** The platform's list of aliases that nobody may take. Who has one already keeps it. */

export function listReservedAliases(reader: Reader): Promise<ReservedAlias[]> {
  return reader.select(reservedAliases, {}, { orderBy: ['alias'] });
}

/** Throws ApiError invalid_field. */
export async function reserveAlias(database: Database, clock: Clock, text: string, actor: Actor): Promise<string> {
  const alias = readAlias(text);
  await transact(database, async (transaction) => {
    const createdAt = clock();
    await transaction.execute(
      upsertSql(reservedAliases, [{ alias, reservedBy: actor.name, createdAt }], ['alias']),
    );
    await recordAct(transaction, actor, createdAt, { ...ACT, action: 'alias.reserve', subjectId: alias });
  });
  return alias;
}

/** False when it was not on the list. Throws ApiError invalid_field. */
export async function unreserveAlias(database: Database, clock: Clock, text: string, actor: Actor): Promise<boolean> {
  const alias = readAlias(text);
  return transact(database, async (transaction) => {
    const removed = await transaction.execute(
      `DELETE FROM reserved_aliases WHERE alias=${literal(reservedAliases, 'alias', alias)}`,
    );
    if (removed > 0) await recordAct(transaction, actor, clock(), { ...ACT, action: 'alias.unreserve', subjectId: alias });
    return removed > 0;
  });
}

const ACT = { tenantId: null, subjectType: 'alias' } as const;

function readAlias(text: string): string {
  const alias = parseAlias(text);
  if (alias === null) throw new ApiError(invalidField('alias', 'malformed'));
  return alias;
}
