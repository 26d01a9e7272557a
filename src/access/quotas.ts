import { ApiError, invalidField, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Clock, Instant } from '../core/instant.js';
import { bigint } from '../db/columns.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { type TenantQuotas, tenantQuotas } from '../db/entities/identity.js';
import { recipientBudgets, tenants, tokens } from '../db/entities/parties.js';
import { literal, updateSql, upsertSql } from '../db/statements.js';
import { snakeCase } from '../db/table.js';
import { transact } from '../db/reader.js';
import {
  type Actor,
  type AuditDetails,
  changedFrom,
  recordAction,
  tenantAudit,
} from './audit-log.js';

/** How much a tenant may store, so that uploads fill only the tenant's own share of the disk. */

/** A tenant's quotas, unless operators have set others. */
export const DEFAULT_QUOTAS = {
  /** Open batches are being validated, ready to be executed, or being paid. */
  openBatches: 100n,
  /** Problems kept of rejected files. */
  problemRows: 2_000_000n,
  /** Rows of accepted files without a payment: all rows, until the batch ends. */
  unpaidRows: 10_000_000n,
  storedBytes: 1_048_576_000n,
  statementRows: 2_000_000n,
  accounts: 100_000n,
  members: 1_000n,
  /** Live tokens: neither revoked nor expired. */
  tokens: 1_000n,
};
type Quotas = Readonly<typeof DEFAULT_QUOTAS>;
const MAX_QUOTA = 1_000_000_000_000n;
/** Rows that a statement counts in addition to its movements, for the fixed part of its files. */
const FIXED_ROWS_PER_STATEMENT = 100;
const MAX_PREPARING = 20n;

interface QuotaState {
  readonly limits: Quotas;
  readonly used: Omit<Quotas, CountedQuota>;
}

/** Quotas of what members create by themselves: the rows that count, with the index that finds them. */
const COUNTED = {
  accounts: () => 'accounts FORCE INDEX (system_role) WHERE system_role IS NULL',
  members: () => 'members FORCE INDEX (member_name) WHERE is_active=1',
  tokens: (now: Instant) =>
    `tokens FORCE INDEX (live) WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at>${literal(tokens, 'expiresAt', now)})`,
};
type CountedQuota = keyof typeof COUNTED;

async function count(reader: Reader, tenant: string, name: CountedQuota, now: Instant) {
  const [counted] = await reader.query(
    `SELECT CAST(COUNT(*) AS CHAR) AS used FROM ${COUNTED[name](now)} AND tenant_id=${tenant}`,
  );
  return bigint.parse(counted?.used);
}

/** Throws quota_exceeded. The caller holds the lock of the tenant. Operators have no quota. */
export async function assertQuota(
  reader: Reader,
  tenantId: Uuid,
  name: CountedQuota,
  now: Instant,
): Promise<void> {
  const used = await count(reader, literal(tenants, 'id', tenantId), name, now);
  const own = await reader.find(tenantQuotas, { tenantId });
  const limit = own?.[name] ?? DEFAULT_QUOTAS[name];
  if (used >= limit) throw quotaExceeded(name, used, limit);
}

/** Returns a tenant's quotas and what it uses, for operators. */
export async function readAllQuotas(reader: Reader, tenantId: Uuid, now: Instant) {
  const { limits, used } = await readQuotas(reader, tenantId);
  const tenant = literal(tenants, 'id', tenantId);
  const counts = await Promise.all(
    (['accounts', 'members', 'tokens'] as const).map(
      async (name) => [name, await count(reader, tenant, name, now)] as const,
    ),
  );
  return { limits, used: { ...used, ...Object.fromEntries(counts) } as Quotas };
}

export async function readQuotas(reader: Reader, tenantId: Uuid): Promise<QuotaState> {
  const tenant = literal(tenants, 'id', tenantId);
  const [ownQuotas, [open], [stored], [statements]] = await Promise.all([
    reader.find(tenantQuotas, { tenantId }),
    reader.query(
      `SELECT CAST(COUNT(*) AS CHAR) AS batches FROM batches FORCE INDEX (status)
       WHERE tenant_id=${tenant} AND status IN ('validating','ready','executing')`,
    ),
    reader.query(
      `SELECT CAST(COALESCE(SUM(problem_rows), 0) AS CHAR) AS problems, CAST(COALESCE(SUM(unpaid_rows), 0) AS CHAR) AS unpaid,
         CAST(COALESCE(SUM(file_bytes), 0) AS CHAR) AS bytes
       FROM batch_storage WHERE tenant_id=${tenant}`,
    ),
    reader.query(
      `SELECT CAST(COALESCE(SUM(entry_count+${FIXED_ROWS_PER_STATEMENT}), 0) AS CHAR) AS stored_rows FROM statements FORCE INDEX (tenant_status)
       WHERE tenant_id=${tenant} AND status IN ('preparing','ready')`,
    ),
  ]);
  return {
    limits: Object.fromEntries(
      Object.entries(DEFAULT_QUOTAS).map(([name, defaultLimit]) => [
        name,
        ownQuotas?.[name as keyof Quotas] ?? defaultLimit,
      ]),
    ) as Quotas,
    used: {
      openBatches: bigint.parse(open?.batches),
      problemRows: bigint.parse(stored?.problems),
      unpaidRows: bigint.parse(stored?.unpaid),
      storedBytes: bigint.parse(stored?.bytes),
      statementRows: bigint.parse(statements?.stored_rows),
    },
  };
}

export async function assertWithinQuotas(
  reader: Reader,
  tenantId: Uuid,
  fileBytes: number,
): Promise<void> {
  const { limits, used } = await readQuotas(reader, tenantId);
  // A file's rows are known only after it was read, so one file may exceed the quota.
  for (const name of ['openBatches', 'problemRows', 'unpaidRows'] as const)
    if (used[name] >= limits[name]) throw quotaExceeded(snakeCase(name), used[name], limits[name]);
  if (used.storedBytes + BigInt(fileBytes) > limits.storedBytes)
    throw quotaExceeded('stored_bytes', used.storedBytes, limits.storedBytes);
}

export async function assertStatementQuota(
  reader: Reader,
  tenantId: Uuid,
  movements: number,
): Promise<void> {
  const { limits, used } = await readQuotas(reader, tenantId);
  if (used.statementRows + BigInt(movements + FIXED_ROWS_PER_STATEMENT) > limits.statementRows)
    throw quotaExceeded('statement_rows', used.statementRows, limits.statementRows);
  const [counted] = await reader.query(
    `SELECT CAST(COUNT(*) AS CHAR) AS statements FROM statements FORCE INDEX (tenant_status)
     WHERE tenant_id=${literal(tenants, 'id', tenantId)} AND status='preparing'`,
  );
  const preparing = bigint.parse(counted?.statements);
  if (preparing >= MAX_PREPARING) throw quotaExceeded('open_statements', preparing, MAX_PREPARING);
}

const MAX_SCHEDULES = 10_000n;

/** Counts active and paused schedules. The caller holds the lock on the tenant's row. */
export async function assertScheduleQuota(reader: Reader, tenantId: Uuid): Promise<void> {
  const [counted] = await reader.query(
    `SELECT CAST(COUNT(*) AS CHAR) AS schedules FROM schedules FORCE INDEX (status)
     WHERE tenant_id=${literal(tenants, 'id', tenantId)} AND status IN ('active','paused')`,
  );
  const used = bigint.parse(counted?.schedules);
  if (used >= MAX_SCHEDULES) throw quotaExceeded('schedules', used, MAX_SCHEDULES);
}

function quotaExceeded(quota: string, used: bigint, limit: bigint): ApiError {
  const refusal: Refusal = {
    code: 'quota_exceeded',
    message: `the tenant has used ${used} of ${limit} ${quota.replaceAll('_', ' ')}`,
    details: { quota, used: used.toString(), limit: limit.toString() },
  };
  return new ApiError(refusal);
}

type Settable = Exclude<keyof TenantQuotas, 'tenantId'>;
const SETTABLE_QUOTAS = tenantQuotas.columns
  .filter(({ property }) => property !== 'tenantId')
  .map(({ name, property }) => ({ name, property: property as Settable }));

/** Null restores the default; undefined leaves the quota unchanged. */
export type QuotaChange = Readonly<Partial<Record<Settable, bigint | null | undefined>>>;

/** Changes a tenant's quotas. Stored data over a smaller quota stays. */
export async function setQuotas(
  database: Database,
  clock: Clock,
  tenantId: Uuid,
  change: QuotaChange,
  actor: Actor,
): Promise<void> {
  for (const [name, limit] of Object.entries(change)) {
    const least = name === 'newRecipients' ? 1n : 0n;
    if (typeof limit === 'bigint' && (limit < least || limit > MAX_QUOTA))
      throw new ApiError(invalidField(name, 'out_of_range'));
  }
  await transact(database, async (transaction) => {
    await transaction.find(tenants, { id: tenantId }, { forUpdate: true });
    const before = await transaction.find(tenantQuotas, { tenantId });
    const limitOf = (name: keyof QuotaChange): bigint | null =>
      change[name] === undefined ? (before?.[name] ?? null) : (change[name] ?? null);
    const limits = SETTABLE_QUOTAS.map(({ property }) => [property, limitOf(property)]);
    const own = { tenantId, ...Object.fromEntries(limits) } as TenantQuotas;
    const set = SETTABLE_QUOTAS.map(({ property }) => property);
    await transaction.execute(upsertSql(tenantQuotas, [own], set));
    if (change.newRecipients !== undefined) await fillBudgets(transaction, tenantId, clock());
    const detailsOf = (row: TenantQuotas | undefined): AuditDetails =>
      Object.fromEntries(
        SETTABLE_QUOTAS.map(({ name, property }) => [name, row?.[property]?.toString() ?? null]),
      );
    const details = { ...detailsOf(own), ...changedFrom(detailsOf(before), detailsOf(own)) };
    const entry = tenantAudit(tenantId, 'tenant.set_quotas', details);
    await recordAction(transaction, actor, clock(), entry);
  });
}

/** Refills the new-recipient budgets: each stores when it is full, which depends on its old size. */
async function fillBudgets(
  transaction: Transaction,
  tenantId: Uuid,
  fullAt: Instant,
): Promise<void> {
  const tenantTokens = await transaction.select(tokens, { tenantId });
  const name = [`tenant/${tenantId}`, ...tenantTokens.map(({ keyId }) => `token/${keyId}`)];
  await transaction.execute(updateSql(recipientBudgets, { fullAt }, { name }));
}
