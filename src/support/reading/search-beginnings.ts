import type { Uuid } from '../../core/ids.js';
import { string, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';

/** Searches for the beginning of names and references, by ranges of existing indexes. */

const MAX_OF_EACH = 25;
const MAX_TENANTS = 1_000;
const TENANTS_A_STATEMENT = 100;

function beginsSql(columnName: string, text: string): string {
  return `${columnName} LIKE ${string.literal(`${text.replace(/[\\%_]/g, '\\$&')}%`)}`;
}

/** Returns the ids of accounts and tenants whose name begins with the text, in any of four cases. */
export async function idsNamedLike(reader: Reader, text: string): Promise<readonly Uuid[]> {
  const lower = text.toLowerCase();
  const titled = lower.replace(/(?<=^|\s)\S/g, (first) => first.toUpperCase());
  const names = [...new Set([text, lower, titled, text.toUpperCase()])];
  const like = names.map((name) => beginsSql('name', name)).join(' OR ');
  const rows = await reader.query(
    `(SELECT id FROM tenants WHERE ${like} LIMIT ${MAX_OF_EACH}) UNION ALL
     (SELECT id FROM accounts FORCE INDEX (by_name) WHERE (${like}) AND type<>'system' LIMIT ${MAX_OF_EACH})`,
  );
  return rows.map((row) => uuid.parse(row.id));
}

/**
 * Returns the ids of resources whose reference or idempotency key begins with the text. The indexes
 * start with the tenant, so each tenant is searched by a range of its own.
 */
export async function idsReferencedLike(reader: Reader, text: string): Promise<readonly Uuid[]> {
  if (!/^[\x20-\x7e]*$/.test(text)) return [];
  const owners = await reader.query(`SELECT id FROM tenants LIMIT ${MAX_TENANTS}`);
  const some = `LIMIT ${MAX_OF_EACH}`;
  const begins = beginsSql('reference', text);
  const parts = owners.flatMap((row) => {
    const owner = `tenant_id=${uuid.literal(uuid.parse(row.id))}`;
    const keys = (start: string): string =>
      `(SELECT resource_id AS id FROM idempotency_keys FORCE INDEX (PRIMARY) WHERE ${owner}
        AND ${beginsSql('idempotency_key', start)} AND resource_id IS NOT NULL ${some})`;
    return [
      `(SELECT id FROM adjustments FORCE INDEX (reference) WHERE ${owner} AND ${begins} ${some})`,
      keys(text),
      keys(`ops/${text}`),
    ];
  });
  const groups = Array.from({ length: Math.ceil(parts.length / TENANTS_A_STATEMENT) }, (_, index) =>
    parts.slice(index * TENANTS_A_STATEMENT, (index + 1) * TENANTS_A_STATEMENT),
  );
  const own = `(SELECT id FROM bonus_references WHERE ${begins} ${some})`;
  const ofRows = `(SELECT batch_id AS id FROM bonus_batch_rows FORCE INDEX (reference) WHERE ${begins} ${some})`;
  const found: Uuid[] = [];
  for (const group of [[own, ofRows], ...groups]) {
    if (found.length >= MAX_OF_EACH) break;
    const rows = await reader.query(`${group.join(' UNION ALL ')} ${some}`);
    found.push(...rows.map((row) => uuid.parse(row.id)));
  }
  return [...new Set(found)];
}
