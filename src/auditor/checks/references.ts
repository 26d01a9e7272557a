import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { bigint, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { idempotencyKeys, type KeyResourceType } from '../../db/entities/ledger.js';
import { statements } from '../../db/entities/statements.js';
import { webhookEndpoints } from '../../db/entities/webhooks.js';
import type { Check } from '../run.js';
import { sourceOf } from '../sources/index.js';
import { ownersById, ROWS_A_SLICE, walkTable } from '../walk.js';

/** Every idempotency key that created something names a resource of its tenant. */
export const keyChecks: Check = {
  tables: ['idempotency_keys'],
  run: (audit) =>
    walkTable(audit, idempotencyKeys, ROWS_A_SLICE, async (reader, slice) => {
      audit.counted('idempotency_keys', slice.length);
      for (const [type, own] of groupBy(slice, (key) => key.resourceType)) {
        const ids = own.flatMap((key) => key.resourceId ?? []);
        const owners = await ownersOf(reader, type, ids);
        for (const { tenantId, idempotencyKey, resourceId } of own)
          if (resourceId !== null && owners?.get(resourceId) !== tenantId)
            audit.report(
              'key_resource',
              `key ${tenantId}/${idempotencyKey}`,
              `the tenant has no ${type} ${resourceId}`,
            );
      }
    }),
};

/** The tenants of those that exist, by id. */
function ownersOf(
  reader: Reader,
  type: KeyResourceType,
  ids: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, Uuid> | undefined> {
  if (type === 'webhook_endpoint') return ownersById(reader, webhookEndpoints, ids);
  if (type === 'statement') return ownersById(reader, statements, ids);
  return sourceOf(type)?.owners(reader, ids) ?? Promise.resolve(undefined);
}

const OF_AN_ACCOUNT = ['balances', 'holds', 'month_totals', 'member_roles'];

/** Rows that belong to an account name one that exists. Without the account nobody can say whose they are. */
export const accountReferenceChecks: Check = {
  tables: [],
  run: async (audit) => {
    if (audit.tenantId !== undefined) return;
    for (const table of OF_AN_ACCOUNT)
      await audit.slice(async (reader) => {
        const rows = await reader.query(
          `SELECT r.account_id, CAST(COUNT(*) AS CHAR) AS orphans FROM ${table} r LEFT JOIN accounts a ON a.id=r.account_id
           WHERE a.id IS NULL GROUP BY r.account_id LIMIT 1000`,
        );
        for (const row of rows)
          audit.report(
            'row_account',
            `account ${uuid.parse(row.account_id)}`,
            `it does not exist, but has ${bigint.parse(row.orphans)} row(s) in ${table}`,
          );
      });
  },
};
