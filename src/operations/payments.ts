import type { Amount } from '../core/amount.js';
import { type Month, monthOf } from '../core/instant.js';
import { missing, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import { accountLimits } from '../db/entities/identity.js';
import { monthTotals } from '../db/entities/ledger.js';
import { type FeeOperation, memberRoles, type Tenant, tenants } from '../db/entities/parties.js';
import {
  type CommandKind,
  type LockedAccount,
  type LockedState,
  rowKey,
} from '../ledger/writer/types.js';
import { feeRowKeys, readFeeAccounts } from './fees.js';
import { limitRowKeys, limitsOf } from './limits.js';
import { readReach } from '../accounts/access.js';
import {
  type Fee,
  isReachable,
  overflowRefusal,
  type PaymentCommand,
  spendingRefusal,
} from '../accounts/rules.js';

/**
 * Returns what transfers, bonuses and payouts lock and read. `recipientOf` returns null if the
 * recipient is unknown, undefined if it is a bank account.
 */
export function paymentKind<C extends PaymentCommand>(
  operation: FeeOperation,
  recipientOf: (command: C) => Uuid | null | undefined,
): Pick<CommandKind<C, never>, 'accounts' | 'rowKeys'> {
  return {
    async accounts(commands, reader, isRetry) {
      const tenantIds = new Set(commands.map(({ tenantId }) => tenantId));
      const namedAccounts = commands.flatMap((command) =>
        [command.sourceAccountId, recipientOf(command) ?? []]
          .flat()
          .map((accountId) => ({ tenantId: command.tenantId, accountId })),
      );
      const [feeAccount, reach] = await Promise.all([
        readFeeAccounts(reader, operation, tenantIds, isRetry),
        readReach(reader, namedAccounts),
      ]);
      const ids = commands.map((command) => {
        const { tenantId, sourceAccountId, amount } = command;
        if (!reach.owns(tenantId, sourceAccountId)) return [];
        // Locks the source even if the recipient cannot be paid: the alias or phone may have meant
        // another account in an earlier request with this key, whose result a replay returns.
        const recipientId = recipientOf(command);
        if (recipientId === null) return [sourceAccountId];
        if (recipientId !== undefined && !reach.reaches(tenantId, recipientId))
          return [sourceAccountId];
        return [
          sourceAccountId,
          recipientId ?? [],
          feeAccount(tenantId, amount.asset) ?? [],
        ].flat();
      });
      return { ids, ownerOf: reach.ownerOf };
    },
    rowKeys(command, at, ownerOf) {
      const { tenantId, memberId, sourceAccountId: accountId, amount } = command;
      const recipientId = recipientOf(command) ?? null;
      const recipientTenantId = recipientId === null ? undefined : ownerOf(recipientId);
      return [
        rowKey(memberRoles, { accountId, memberId }),
        rowKey(approvalPolicies, { accountId, asset: amount.asset }),
        ...feeRowKeys({ tenantId, operation, asset: amount.asset }),
        rowKey(tenants, { id: recipientTenantId ?? tenantId }),
        ...limitRowKeys(accountId, amount.asset, at),
      ];
    },
  };
}

interface Payer {
  readonly source: LockedAccount;
  readonly tenant: Tenant;
}

type Source = Pick<PaymentCommand, 'tenantId' | 'sourceAccountId'>;

/** Returns null, for a 404, unless the source is the tenant's own. */
export function findPayer(state: LockedState, { tenantId, sourceAccountId }: Source): Payer | null {
  const source = state.accountIfLocked(sourceAccountId);
  const tenant = state.row(tenants, { id: tenantId });
  const isOwn = source?.account.tenantId === tenantId && source.account.type !== 'system';
  return isOwn && tenant !== undefined ? { source, tenant } : null;
}

/** Returns null, for a 404, unless the tenant owns the source and may pay the recipient. */
export function findParties(
  state: LockedState,
  command: Source,
  recipientId: Uuid | null,
): (Payer & { readonly recipient: LockedAccount }) | null {
  const payer = findPayer(state, command);
  if (payer === null || recipientId === null) return null;
  const recipient = findRecipient(state, payer.tenant, recipientId);
  return recipient === undefined ? null : { recipient, ...payer };
}

/** Returns the 404 for parties that `findParties` does not find. */
export function missingParty(state: LockedState, command: Source, recipientField: string): Refusal {
  return missing(findPayer(state, command) === null ? 'source_account' : recipientField);
}

export function findRecipient(
  state: LockedState,
  tenant: Tenant,
  recipientId: Uuid,
): LockedAccount | undefined {
  const recipient = state.accountIfLocked(recipientId);
  if (recipient === undefined) return undefined;
  const receiver = state.row(tenants, { id: recipient.account.tenantId });
  return isReachable(recipient.account, tenant, receiver) ? recipient : undefined;
}

/** Returns the month in which the spending counts, and the first rule that forbids it. */
export function checkSpending(
  state: LockedState,
  { source, tenant, amount, fee }: Payer & { readonly amount: Amount; readonly fee: Fee },
): { readonly month: Month; readonly refusal: Refusal | null } {
  const month = monthOf(state.at, tenant.timeZone);
  const key = { accountId: source.account.id, asset: amount.asset };
  const monthUsed = state.row(monthTotals, { month: month.name, ...key })?.used ?? 0n;
  const limits = limitsOf(source.account, amount.asset, state.row(accountLimits, key));
  const spending = { source, amount, feeRaw: fee.raw, limits, month, monthUsed };
  return { month, refusal: spendingRefusal(spending) };
}

/** Refuses an amount that would overflow the 64-bit total of the recipient or the fee account. */
export function creditRefusal(
  state: LockedState,
  recipient: LockedAccount,
  fee: Fee,
  { raw, asset }: Amount,
): Refusal | null {
  // The recipient may be the fee account as well.
  const credited = fee.accountId === recipient.account.id ? raw + fee.raw : raw;
  const refusal = overflowRefusal(recipient, { raw: credited, asset });
  if (refusal !== null || fee.accountId === null) return refusal;
  const receiver = state.account(fee.accountId);
  return receiver === undefined ? null : overflowRefusal(receiver, { raw: fee.raw, asset });
}
