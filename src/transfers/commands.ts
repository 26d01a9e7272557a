import { approvalPolicies } from '../db/entities/approvals.js';
import { transfers, type Transfer } from '../db/entities/operations.js';
import { memberRoles, tenants } from '../db/entities/parties.js';
import { feeNeeds, readFeeAccounts } from '../accounts/fee.js';
import { limitNeeds } from '../accounts/limits.js';
import { readReach } from '../accounts/reachable.js';
import { type CommandKind, need } from '../ledger/writer/types.js';
import { decideTransfer } from './decide.js';
import type { CreateTransfer } from './rules.js';

export const createTransfer: CommandKind<CreateTransfer, Transfer> = {
  name: 'create transfer',
  resourceType: 'transfer',
  table: transfers,
  async accounts(commands, reader, isRetry) {
    const tenantIds = new Set(commands.map((command) => command.tenantId));
    const named = commands.flatMap(({ tenantId, sourceAccountId, destinationAccountId }) =>
      [sourceAccountId, destinationAccountId].map((accountId) => ({ tenantId, accountId })),
    );
    const [feeAccount, reach] = await Promise.all([
      readFeeAccounts(reader, 'transfer', tenantIds, isRetry),
      readReach(reader, named),
    ]);
    const ids = commands.map(({ tenantId, sourceAccountId, destinationAccountId, amount }) => {
      if (!reach.owns(tenantId, sourceAccountId) || !reach.reaches(tenantId, destinationAccountId))
        return [];
      const fee = feeAccount(tenantId, amount.asset);
      return [sourceAccountId, destinationAccountId, ...(fee === undefined ? [] : [fee])];
    });
    return { ids, ownerOf: reach.ownerOf };
  },
  needs({ tenantId, memberId, sourceAccountId, destinationAccountId, amount }, at, ownerOf) {
    return [
      need(memberRoles, { accountId: sourceAccountId, memberId }),
      need(approvalPolicies, { accountId: sourceAccountId, asset: amount.asset }),
      ...feeNeeds({ tenantId, operation: 'transfer', asset: amount.asset }),
      need(tenants, { id: ownerOf(destinationAccountId) ?? tenantId }),
      ...limitNeeds(sourceAccountId, amount.asset, at),
    ];
  },
  decide: decideTransfer,
};
