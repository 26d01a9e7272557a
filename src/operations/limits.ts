import {
  accountAudit,
  type Actor,
  type AuditDetails,
  changedFrom,
  recordAction,
} from '../access/audit-log.js';
import { lockAccount, readAccount } from '../accounts/access.js';
import type { Limits } from '../accounts/rules.js';
import { type Asset, ASSETS, formatAmount, LISTED_ASSETS } from '../core/amount.js';
import { ApiError, invalidField, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { instant, type Instant, maxInstant, monthOf, toRfc3339 } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import { type AccountLimits, accountLimits } from '../db/entities/identity.js';
import { balances, lastPostingOf, monthTotals } from '../db/entities/ledger.js';
import { type Account, tenants } from '../db/entities/parties.js';
import { transact } from '../db/reader.js';
import { deleteSql, upsertSql } from '../db/statements.js';
import { rowKey, type RowKey } from '../ledger/writer/types.js';

const BUSINESS_FACTOR = 100n;

/** Returns the account's own limits, else those of its type. (docs/contract.md, Limits and fees) */
export function limitsOf(
  account: Pick<Account, 'type'>,
  asset: Asset,
  own: AccountLimits | undefined,
): Limits {
  const { minimum, maximum, month } = LISTED_ASSETS[asset].limits;
  const factor = account.type === 'person' ? 1n : BUSINESS_FACTOR;
  return {
    minimum: own?.minimum ?? minimum,
    maximum: own?.maximum ?? maximum * factor,
    month: own?.month ?? month * factor,
  };
}

/** More than the offset of any time zone from UTC, which is at most 14 hours. */
const WIDEST_OFFSET_MS = 15 * 3_600_000;

/** Includes each month that `at` may be in: the tenant's time zone is read only with these rows. */
export function limitRowKeys(accountId: Uuid, asset: Asset, at: Instant): RowKey[] {
  const months = [-WIDEST_OFFSET_MS, WIDEST_OFFSET_MS].map(
    (offset) => monthOf(instant(at + offset), 'UTC').name,
  );
  const totals = [...new Set(months)].map((month) =>
    rowKey(monthTotals, { accountId, asset, month }),
  );
  return [rowKey(accountLimits, { accountId, asset }), ...totals];
}

type LimitName = 'minimum' | 'maximum' | 'month';

/** Null restores the limit of the account's type, undefined keeps the limit, 0 forbids all spending. */
export interface LimitChange extends Partial<Record<LimitName, bigint | null | undefined>> {
  readonly accountId: Uuid;
  readonly asset: Asset;
}

/** Returns limits as the audit log has them. Null is the limit of the account's type. */
function textsOf(asset: Asset, limits: Readonly<Record<LimitName, bigint | null>>): AuditDetails {
  const texts = (['minimum', 'maximum', 'month'] as const).map((name) => {
    const raw = limits[name];
    return [name, raw === null ? null : formatAmount({ raw, asset })];
  });
  return Object.fromEntries(texts) as AuditDetails;
}

/** Throws not_found, invalid_field (a minimum of zero, or over the maximum). */
export async function setAccountLimits(
  { database, clock }: DatabaseDeps,
  change: LimitChange,
  actor: Actor,
  why: AuditDetails = {},
): Promise<void> {
  const { accountId, asset } = change;
  await transact(database, async (transaction) => {
    const account = await lockAccount(transaction, accountId);
    const before = await transaction.find(accountLimits, { accountId, asset });
    const limit = (name: LimitName): bigint | null => {
      const changed = change[name];
      return changed === undefined ? (before?.[name] ?? null) : changed;
    };
    const own = { minimum: limit('minimum'), maximum: limit('maximum'), month: limit('month') };
    const row: AccountLimits = { accountId, asset, ...own };
    const { minimum, maximum } = limitsOf(account, asset, row);
    if (minimum < 1n) throw new ApiError(invalidField('minimum', 'must_be_positive'));
    if (minimum > maximum) throw new ApiError(invalidField('minimum', 'over_the_maximum'));
    await transaction.execute(upsertSql(accountLimits, [row], ['minimum', 'maximum', 'month']));
    const inForce = textsOf(asset, limitsOf(account, asset, row));
    const details = {
      asset,
      ...textsOf(asset, own),
      ...changedFrom(textsOf(asset, limitsOf(account, asset, before)), inForce),
      ...why,
    };
    await recordAction(transaction, actor, clock(), accountAudit(account, 'limits.set', details));
  });
}

/** Restores the limits of the account's type. Returns false if the account had none of its own. */
export async function clearAccountLimits(
  { database, clock }: DatabaseDeps,
  accountId: Uuid,
  asset: Asset,
  actor: Actor,
  why: AuditDetails = {},
): Promise<boolean> {
  return transact(database, async (transaction) => {
    const account = await lockAccount(transaction, accountId);
    const own = await transaction.find(accountLimits, { accountId, asset });
    if (own === undefined) return false;
    await transaction.execute(deleteSql(accountLimits, { accountId, asset }));
    const before = textsOf(asset, limitsOf(account, asset, own));
    const after = textsOf(asset, limitsOf(account, asset, undefined));
    const details = { asset, ...changedFrom(before, after), ...why };
    const entry = accountAudit(account, 'limits.clear', details);
    await recordAction(transaction, actor, clock(), entry);
    return true;
  });
}

export async function readLimits(
  { database, clock }: DatabaseDeps,
  caller: Caller,
  accountId: Uuid,
): Promise<Readonly<Record<string, unknown>>> {
  const reader = database.readerFor(caller);
  const account = await readAccount(reader, caller, accountId, 'readLimits');
  const limits = await readLimitState(reader, account, clock());
  return {
    account_id: accountId,
    limits: limits.map(({ asset, limits: { minimum, maximum, month }, used, resetsAt }) => ({
      asset,
      minimum: minimum.toString(),
      maximum: maximum.toString(),
      month: { used: used.toString(), limit: month.toString(), resets_at: toRfc3339(resetsAt) },
    })),
  };
}

/** Returns the limits and the month's usage. `isOwn`: operators set limits for this account. */
export async function readLimitState(reader: Reader, account: Account, now: Instant) {
  const [state = []] = await readLimitStates(reader, [account], now);
  return state;
}

/** Returns what `readLimitState` returns for each account, in their order. */
export async function readLimitStates(reader: Reader, all: readonly Account[], now: Instant) {
  const accountId = all.map(({ id }) => id);
  const [owners, postings, overrides] = await Promise.all([
    reader.select(tenants, { id: [...new Set(all.map(({ tenantId }) => tenantId))] }),
    reader.select(balances, { accountId }),
    reader.select(accountLimits, { accountId }),
  ]);
  // The month in which an operation would count now: never earlier than the account's last posting.
  const months = all.map((account) => {
    const tenant = owners.find(({ id }) => id === account.tenantId);
    if (tenant === undefined) throw notFound();
    const own = postings.filter((balance) => balance.accountId === account.id);
    const at = maxInstant(now, lastPostingOf(own).lastPostedAt);
    return { account, month: monthOf(at, tenant.timeZone) };
  });
  const month = [...new Set(months.map(({ month: { name } }) => name))];
  const totals = await reader.select(monthTotals, { accountId, month });
  return months.map(({ account, month: { name, endsAt: resetsAt } }) =>
    ASSETS.map((asset) => {
      const isOf = (row: { readonly accountId: Uuid; readonly asset: Asset }): boolean =>
        row.accountId === account.id && row.asset === asset;
      const override = overrides.find(isOf);
      return {
        asset,
        limits: limitsOf(account, asset, override),
        isOwn: override !== undefined,
        used: totals.find((row) => isOf(row) && row.month === name)?.used ?? 0n,
        resetsAt,
      };
    }),
  );
}
