import type { Uuid } from '../core/ids.js';
import { approvalPolicies, approvals, staff } from '../db/entities/approvals.js';
import { holds, monthTotals } from '../db/entities/ledger.js';
import { transfers, type Transfer } from '../db/entities/operations.js';
import { memberRoles, tenants } from '../db/entities/parties.js';
import { feeNeeds, readFeeAccounts } from '../accounts/fee.js';
import { limitNeeds } from '../accounts/limits.js';
import { isInReach, isOwn, readOwners } from '../accounts/reachable.js';
import { type CommandKind, need, type Need } from '../ledger/desk/types.js';
import { decideTransfer } from './decide.js';
import type { CreateTransfer } from './rules.js';
import { type ActOnTransfer, decideAct, decideExpiry, type ExpireTransfer, type TransferFacts } from './settle.js';

/** POST /v1/transfers, as the posting desk does it. */
export const createTransfer: CommandKind<CreateTransfer, Transfer> = {
  name: 'create transfer',
  resourceType: 'transfer',
  table: transfers,
  async accounts(commands, reader) {
    const tenantIds = new Set(commands.map((command) => command.tenantId));
    const ids = commands.flatMap((command) => [command.sourceAccountId, command.destinationAccountId]);
    const [feeAccount, owners] = await Promise.all([
      readFeeAccounts(reader, 'transfer', tenantIds),
      readOwners(reader, ids),
    ]);
    return commands.map(({ tenantId, sourceAccountId, destinationAccountId, amount }) => {
      if (!isOwn(owners, tenantId, sourceAccountId)) return [];
      if (!isInReach(owners, sourceAccountId, destinationAccountId)) return [];
      const fee = feeAccount(tenantId, amount.asset);
      return [sourceAccountId, destinationAccountId, ...(fee === undefined ? [] : [fee])];
    });
  },
  needs({ tenantId, memberId, sourceAccountId, destinationAccountId, amount }, at, account) {
    const receiver = account(destinationAccountId)?.account.tenantId ?? tenantId;
    return [
      need(memberRoles, { accountId: sourceAccountId, memberId }),
      need(approvalPolicies, { accountId: sourceAccountId, asset: amount.asset }),
      ...feeNeeds(tenantId, 'transfer', amount.asset),
      need(tenants, { id: receiver }),
      ...limitNeeds(sourceAccountId, amount.asset, at),
    ];
  },
  decide: decideTransfer,
};

/** Approve, reject and cancel, by whomever. */
export const actOnTransfer: CommandKind<ActOnTransfer, Transfer> = {
  name: 'act on transfer',
  resourceType: 'transfer',
  table: transfers,
  accounts: (commands) => Promise.resolve(commands.map(({ facts }) => accountsOf(facts))),
  needs({ facts, acting }) {
    if (facts === null) return [];
    const authority =
      acting.by === 'member'
        ? need(memberRoles, { accountId: facts.sourceAccountId, memberId: acting.memberId })
        : need(staff, { name: acting.name });
    return [...settlementNeeds(facts), need(approvals, { resourceId: facts.id }), authority];
  },
  decide: decideAct,
};

/** The end of a transfer that nobody approved in time. */
export const expireTransfer: CommandKind<ExpireTransfer, Transfer> = {
  name: 'expire transfer',
  resourceType: 'transfer',
  table: transfers,
  accounts: (commands) => Promise.resolve(commands.map(({ facts }) => accountsOf(facts))),
  needs: ({ facts }) => (facts === null ? [] : settlementNeeds(facts)),
  decide: decideExpiry,
};

function accountsOf(facts: TransferFacts | null): readonly Uuid[] {
  if (facts === null) return [];
  const { sourceAccountId, destinationAccountId, feeAccountId } = facts;
  return [sourceAccountId, destinationAccountId, ...(feeAccountId === null ? [] : [feeAccountId])];
}

function settlementNeeds({ id, sourceAccountId: accountId, asset, limitMonth: month }: TransferFacts): Need[] {
  return [need(transfers, { id }), need(holds, { resourceId: id }), need(monthTotals, { accountId, asset, month })];
}
