import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { SCOPES } from '../../core/permissions.js';
import { bigint, string, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { approvals } from '../../db/entities/approvals.js';
import {
  holds,
  idempotencyKeys,
  type KeyResourceType,
  type ResourceType,
} from '../../db/entities/ledger.js';
import { accounts, memberRoles, members, tokens } from '../../db/entities/parties.js';
import type { Table } from '../../db/table.js';
import { type AuditRun, byId, type Check, ROWS_PER_SLICE, scanTable } from '../scan.js';
import { SOURCE_OF } from '../sources.js';
import { schedules } from '../../db/entities/schedules.js';
import { statements } from '../../db/entities/statements.js';
import { webhookEndpoints } from '../../db/entities/webhooks.js';
import { KEY_FACT, type Totals } from '../totals.js';
import type { Expectation } from '../operation-source.js';

const TABLES_OF_ACCOUNTS = ['balances', 'holds', 'month_totals', 'member_roles', 'pending_roles'];

/** Checks that rows name operations, accounts, tenants, members and people that exist. */
export const referenceChecks: Check = {
  tables: ['holds', 'approvals'],
  run: async (audit) => {
    const own = audit.tenantConditions('tenant_id');
    const ofTenant = own.map((one) => `account_id IN (SELECT id FROM accounts WHERE ${one})`);
    await checkOperationsExist(audit, holds, ofTenant, {
      check: 'hold_resource',
      subjectOf: (hold) => `hold ${hold.resourceId}`,
    });
    // A row without its operation, account or member belongs to no tenant.
    if (audit.tenantId !== undefined) return;
    await checkOperationsExist(audit, approvals, [], {
      check: 'approval_resource',
      subjectOf: (approval) => `approval ${approval.id}`,
    });
    for (const table of TABLES_OF_ACCOUNTS)
      await audit.slice((reader) => checkAccountsExist(audit, reader, table));
    for (const { check, subjectType, sql, message } of BROKEN_REFERENCES)
      await audit.slice(async (reader) => {
        for (const row of await reader.query(`${sql} LIMIT 1000`))
          audit.report(
            check,
            `${subjectType} ${row.key_id === undefined ? uuid.parse(row.id) : string.parse(row.key_id)}`,
            message,
          );
      });
  },
};

type OperationRow = Readonly<{ resourceType: ResourceType; resourceId: Uuid }>;

async function checkOperationsExist<Row extends OperationRow>(
  audit: AuditRun,
  table: Table<Row>,
  own: string[],
  { check, subjectOf }: { readonly check: string; readonly subjectOf: (row: Row) => string },
): Promise<void> {
  await scanTable(
    audit,
    table,
    ROWS_PER_SLICE,
    async (reader, slice) => {
      audit.countRows(table.name, slice.length);
      for (const [type, rows] of groupBy(slice, ({ resourceType }) => resourceType)) {
        const known = await SOURCE_OF[type].owners(
          reader,
          rows.map(({ resourceId }) => resourceId),
        );
        for (const row of rows)
          if (!known.has(row.resourceId))
            audit.report(check, subjectOf(row), `there is no ${type} ${row.resourceId}`);
      }
    },
    own,
  );
}

async function checkAccountsExist(audit: AuditRun, reader: Reader, table: string): Promise<void> {
  const rows = await reader.query(
    `SELECT r.account_id, CAST(COUNT(*) AS CHAR) AS orphans
     FROM ${table} r LEFT JOIN accounts a ON a.id=r.account_id
     WHERE a.id IS NULL GROUP BY r.account_id LIMIT 1000`,
  );
  for (const { account_id: id, orphans } of rows)
    audit.report(
      'row_account',
      `account ${uuid.parse(id)}`,
      `it does not exist, but has ${bigint.parse(orphans)} row(s) in ${table}`,
    );
}

const BROKEN_REFERENCES = [
  {
    check: 'account_tenant',
    subjectType: 'account',
    sql: `SELECT a.id FROM accounts a LEFT JOIN tenants t ON t.id=a.tenant_id WHERE t.id IS NULL`,
    message: 'its tenant does not exist',
  },
  {
    check: 'account_member',
    subjectType: 'account',
    sql: `SELECT DISTINCT a.id FROM member_roles r JOIN accounts a ON a.id=r.account_id
      LEFT JOIN members m ON m.id=r.member_id WHERE m.id IS NULL OR m.tenant_id<>a.tenant_id OR m.is_active IS NULL`,
    message: 'a role in it belongs to a person who is not a member of its tenant',
  },
  {
    check: 'token_member',
    subjectType: 'token',
    sql: `SELECT t.id, t.key_id FROM tokens t LEFT JOIN members m ON m.id=t.member_id
      AND m.tenant_id=t.tenant_id AND m.is_active=1 WHERE t.revoked_at IS NULL AND m.id IS NULL`,
    message: 'it is live, but its member does not exist or was removed',
  },
  {
    check: 'token_creator',
    subjectType: 'token',
    sql: `SELECT t.id, t.key_id FROM tokens t LEFT JOIN tokens c ON c.key_id=t.created_by_key
      AND c.tenant_id=t.tenant_id WHERE t.created_by_key IS NOT NULL
      AND (c.key_id IS NULL OR t.created_at>c.revoked_at + INTERVAL 5 SECOND OR ${SCOPES.map(
        (scope) => `FIND_IN_SET('${scope}', t.scopes)>0 AND FIND_IN_SET('${scope}', c.scopes)=0`,
      ).join(' OR ')})`,
    message: 'the token that created it does not exist, was revoked before, or lacks a scope',
  },
  {
    check: 'tenant_fee_account',
    subjectType: 'tenant',
    sql: `SELECT t.id FROM tenants t LEFT JOIN accounts a ON a.id=t.fee_account_id
      WHERE t.fee_account_id IS NOT NULL
      AND (a.id IS NULL OR a.tenant_id<>t.id OR a.type='system' OR a.status='closed')`,
    message: 'its fees go to no open account of its own',
  },
  {
    check: 'payout_destination',
    subjectType: 'payout',
    sql: `SELECT p.id FROM payouts p FORCE INDEX (expiring) LEFT JOIN payout_secrets s ON s.id=p.id
      WHERE p.status IN ('pending_approval','approved','in_progress') AND s.id IS NULL`,
    message: 'it has not ended, but its destination is no longer stored',
  },
  {
    check: 'operation_people',
    subjectType: 'payout resolution',
    sql: `SELECT id FROM payout_resolutions WHERE status='applied' AND decided_by_id=proposed_by_id`,
    message: 'one person proposed and decided it',
  },
] as const;

/** Returns whether the key is of a request of a client or operator, a batch's row or a schedule's run. */
export function isRequestKey(key: string): boolean {
  return /^(?:[^/]+|(?:ops|batch-row|schedule\/[^/]+)\/[^/]+)$/.test(key);
}

export async function checkKeys(audit: AuditRun, totals: Totals): Promise<void> {
  await scanTable(audit, idempotencyKeys, ROWS_PER_SLICE, async (reader, slice) => {
    audit.countRows('idempotency_keys', slice.length);
    for (const [type, own] of groupBy(slice, (key) => key.resourceType)) {
      const ids = own.flatMap((key) => key.resourceId ?? []);
      const known = await readKeyedResources(reader, type, ids);
      if (type === 'account') await checkOwners(audit, reader, ids);
      for (const { tenantId, idempotencyKey, resourceId } of own) {
        if (resourceId === null) continue;
        const resource = known.get(resourceId);
        if (resource?.tenantId !== tenantId)
          audit.report(
            'key_resource',
            `key ${tenantId}/${idempotencyKey}`,
            `the tenant has no ${type} ${resourceId}`,
          );
        else if (resource.isKeyed === true && isRequestKey(idempotencyKey))
          totals.add(resourceId, KEY_FACT, -1);
      }
    }
  });
}

/** Checks that each account that a member opened has an owner. */
async function checkOwners(audit: AuditRun, reader: Reader, ids: readonly Uuid[]): Promise<void> {
  const owners = await reader.select(memberRoles, { accountId: ids, role: 'owner' });
  const owned = new Set(owners.map(({ accountId }) => accountId));
  for (const id of ids)
    if (!owned.has(id)) audit.report('account_owner', `account ${id}`, 'it has no owner');
}

type KeyedResource = Pick<Expectation, 'tenantId'> & Partial<Expectation>;

type OtherType = Exclude<KeyResourceType, ResourceType>;

/** Tables of the resources that no command of the ledger creates. */
const TABLES: Readonly<Record<OtherType, Table<Pick<Expectation, 'id' | 'tenantId'>>>> = {
  webhook_endpoint: webhookEndpoints,
  statement: statements,
  schedule: schedules,
  account: accounts,
  member: members,
  token: tokens,
};

function readKeyedResources(
  reader: Reader,
  type: KeyResourceType,
  ids: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, KeyedResource>> {
  return isOther(type)
    ? byId(reader, TABLES[type], ids)
    : SOURCE_OF[type].expectations(reader, ids);
}

function isOther(type: KeyResourceType): type is OtherType {
  return type in TABLES;
}
