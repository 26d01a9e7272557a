import { approvalPolicies } from '../db/entities/approvals.js';
import { type Bonus, bonuses } from '../db/entities/bonuses.js';
import { memberRoles, tenants } from '../db/entities/parties.js';
import { feeNeeds, readFeeAccounts } from '../accounts/fee.js';
import { limitNeeds } from '../accounts/limits.js';
import { readReach } from '../accounts/reachable.js';
import { type CommandKind, need } from '../ledger/writer/types.js';
import { decideBonus } from './decide.js';
import type { CreateBonus } from './rules.js';

export const createBonusKind: CommandKind<CreateBonus, Bonus> = {
  name: 'create bonus',
  resourceType: 'bonus',
  table: bonuses,
  async accounts(commands, reader, isRetry) {
    const tenantIds = new Set(commands.map((command) => command.tenantId));
    const named = commands.flatMap(({ tenantId, sourceAccountId, recipientAccountId }) =>
      [sourceAccountId, recipientAccountId ?? []]
        .flat()
        .map((accountId) => ({ tenantId, accountId })),
    );
    const [feeAccount, reach] = await Promise.all([
      readFeeAccounts(reader, 'bonus', tenantIds, isRetry),
      readReach(reader, named),
    ]);
    const ids = commands.map(({ tenantId, sourceAccountId, recipientAccountId, amount }) => {
      if (!reach.owns(tenantId, sourceAccountId)) return [];
      // Only the source is certain until the key's row was read: the recipient's name may have
      // named another account in the first request with this key.
      if (recipientAccountId === null || !reach.reaches(tenantId, recipientAccountId))
        return [sourceAccountId];
      const fee = feeAccount(tenantId, amount.asset);
      return [sourceAccountId, recipientAccountId, ...(fee === undefined ? [] : [fee])];
    });
    return { ids, ownerOf: reach.ownerOf };
  },
  needs({ tenantId, memberId, sourceAccountId, recipientAccountId, amount }, at, ownerOf) {
    const recipientTenantId = recipientAccountId === null ? undefined : ownerOf(recipientAccountId);
    return [
      need(memberRoles, { accountId: sourceAccountId, memberId }),
      ...feeNeeds({ tenantId, operation: 'bonus', asset: amount.asset }),
      need(tenants, { id: recipientTenantId ?? tenantId }),
      ...limitNeeds(sourceAccountId, amount.asset, at),
      need(approvalPolicies, { accountId: sourceAccountId, asset: amount.asset }),
    ];
  },
  decide: decideBonus,
};
