import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { bigint, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { idempotencyKeys, type KeyResourceType } from '../../db/entities/ledger.js';
import { statements } from '../../db/entities/statements.js';
import { webhookEndpoints } from '../../db/entities/webhooks.js';
import { KEY_FACT } from '../facts.js';
import type { AuditRun, Check } from '../run.js';
import { sourceOf } from '../sources/index.js';
import type { Expectation } from '../sources/types.js';
import { byId, ROWS_A_SLICE, walkTable } from '../walk.js';

/**
 * The keys of requests: a client's own, an operator's reference, a batch's row. Those of other acts on what a request
 * made are named after it.
 */
const OF_A_REQUEST = /^(?:[^/]+|(?:ops|batch-row)\/[^/]+)$/;

/**
 * Every idempotency key that created something names a resource of its tenant. Whether every operation has its key:
 * crossing.ts.
 */
export const keyChecks: Check = {
  tables: ['idempotency_keys'],
  run: (audit) =>
    walkTable(audit, idempotencyKeys, ROWS_A_SLICE, async (reader, slice) => {
      audit.counted('idempotency_keys', slice.length);
      for (const [type, own] of groupBy(slice, (key) => key.resourceType)) {
        const ids = own.flatMap((key) => key.resourceId ?? []);
        const known = await knownOf(reader, type, ids);
        for (const { tenantId, idempotencyKey, resourceId } of own)
          if (resourceId !== null && known?.get(resourceId)?.tenantId !== tenantId)
            audit.report(
              'key_resource',
              `key ${tenantId}/${idempotencyKey}`,
              `the tenant has no ${type} ${resourceId}`,
            );
          else if (isKeyOf(idempotencyKey, resourceId, known) && audit.isInTime(resourceId))
            audit.tally.add(resourceId, KEY_FACT, -1);
      }
    }),
};

type Known = ReadonlyMap<Uuid, Pick<Expectation, 'tenantId'> & Partial<Expectation>>;

/** Whether it is the key of the request that made the operation. */
function isKeyOf(
  key: string,
  resourceId: Uuid | null,
  known: Known | undefined,
): resourceId is Uuid {
  return resourceId !== null && known?.get(resourceId)?.isKeyed === true && OF_A_REQUEST.test(key);
}

/** Those that exist, by id. */
function knownOf(
  reader: Reader,
  type: KeyResourceType,
  ids: readonly Uuid[],
): Promise<Known | undefined> {
  if (type === 'webhook_endpoint') return byId(reader, webhookEndpoints, ids);
  if (type === 'statement') return byId(reader, statements, ids);
  return sourceOf(type)?.expectations(reader, ids) ?? Promise.resolve(undefined);
}

/** The operations that have a key of a request, of those that are wanted. */
export async function collectKeyed(
  audit: AuditRun,
  isWanted: (id: Uuid) => boolean,
): Promise<ReadonlySet<Uuid>> {
  const found = new Set<Uuid>();
  await walkTable(audit, idempotencyKeys, ROWS_A_SLICE, (_, slice) => {
    for (const { resourceId, idempotencyKey } of slice)
      if (resourceId !== null && isWanted(resourceId) && OF_A_REQUEST.test(idempotencyKey))
        found.add(resourceId);
  });
  return found;
}

const OF_AN_ACCOUNT = ['balances', 'holds', 'month_totals', 'member_roles'];

/**
 * Rows that belong to an account name one that exists. Without the account nobody can say whose they are. The same of
 * what else no operation names.
 */
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
    for (const { check, of, sql, message } of ASTRAY)
      await audit.slice(async (reader) => {
        for (const row of await reader.query(`${sql} LIMIT 1000`))
          audit.report(check, `${of} ${uuid.parse(row.id)}`, message);
      });
  },
};

const ASTRAY = [
  {
    check: 'account_tenant',
    of: 'account',
    sql: `SELECT a.id FROM accounts a LEFT JOIN tenants t ON t.id=a.tenant_id WHERE t.id IS NULL`,
    message: 'its tenant does not exist',
  },
  {
    check: 'account_member',
    of: 'account',
    sql: `SELECT DISTINCT a.id FROM member_roles r JOIN accounts a ON a.id=r.account_id LEFT JOIN members m ON m.id=r.member_id
      WHERE m.id IS NULL OR m.tenant_id<>a.tenant_id`,
    message: 'somebody has a role in it who is no member of its tenant',
  },
  {
    check: 'tenant_fee_account',
    of: 'tenant',
    sql: `SELECT t.id FROM tenants t LEFT JOIN accounts a ON a.id=t.fee_account_id WHERE t.fee_account_id IS NOT NULL
      AND (a.id IS NULL OR a.tenant_id<>t.id OR a.type='system' OR a.status='closed')`,
    message: 'its fees go to no open account of its own',
  },
  {
    check: 'payout_destination',
    of: 'payout',
    sql: `SELECT p.id FROM payouts p FORCE INDEX (expiring) LEFT JOIN payout_secrets s ON s.id=p.id
      WHERE p.status IN ('pending_approval','approved','in_progress') AND s.id IS NULL`,
    message: 'it has not ended, and nobody knows any more where it goes',
  },
  {
    check: 'operation_people',
    of: 'payout resolution',
    sql: `SELECT id FROM payout_resolutions WHERE status='applied' AND decided_by_id=proposed_by_id`,
    message: 'one person proposed and decided it',
  },
] as const;
