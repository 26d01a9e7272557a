import type { Amount } from '../core/amount.js';
import type { Keyed, Keyring } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import type { Reader } from '../db/database.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import { memberRoles } from '../db/entities/parties.js';
import { type Payout, PAYOUT_STATUSES, payouts } from '../db/entities/payouts.js';
import { feeNeeds, readFeeAccounts } from '../accounts/fee.js';
import { limitNeeds } from '../accounts/limits.js';
import type { OperationList } from '../accounts/operation-list.js';
import { readReach } from '../accounts/reachable.js';
import { systemAccountId } from '../funding/service.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import { type CommandResult, type CommandKind, need } from '../ledger/writer/types.js';
import type { OutboxNotifier } from '../temporal/outbox-notifier.js';
import { type CreatePayout, decidePayout } from './decide.js';
import type { BankAccount, RailRoute } from './rails/rail.js';
import { endOfNumber } from './rules.js';
import { sealSecrets } from './secrets.js';

/** How members list payouts, with any role in the source. (docs/contract.md, Roles and scopes) */
export const payoutList: OperationList<Payout> = {
  table: payouts,
  statuses: PAYOUT_STATUSES,
  resourceType: 'payout',
  seenFrom: ['source_account_id'],
};

interface PayoutRequest {
  readonly sourceAccountId: Uuid;
  readonly destination: BankAccount;
  readonly amount: Amount;
  readonly description: string | null;
}

interface PayoutDeps {
  readonly writer: LedgerWriter;
  readonly reader: Reader;
  readonly notifier: Pick<OutboxNotifier, 'notify'>;
  readonly encryptionKeys: Keyring;
  readonly routes: readonly RailRoute[];
}

export class Payouts {
  private readonly creation: CommandKind<CreatePayout, Payout>;

  constructor(private readonly deps: PayoutDeps) {
    this.creation = creation(deps.routes);
  }

  /** Creates the payout with the request's id. Returns refusals too. (docs/contract.md, Payouts) */
  async create(
    { tenantId, memberId }: Caller,
    payoutId: Uuid,
    { destination, ...request }: PayoutRequest,
    idempotency: Keyed,
  ): Promise<CommandResult<Payout>> {
    const { writer, reader, notifier, encryptionKeys } = this.deps;
    const { accountNumber, holderDocument, ...shown } = destination;
    const secrets = { accountNumber, holderDocument };
    const { id: _id, ...sealed } = sealSecrets(encryptionKeys, payoutId, secrets);
    const ids = { payoutId, outboxId: newId(), tenantId, memberId };
    const answer = await writer.submit(this.creation, {
      ...request,
      ...idempotency,
      ...ids,
      systemAccountId: await systemAccountId(reader, tenantId, 'pay_out'),
      destination: { ...shown, accountEnd: endOfNumber(accountNumber) },
      sealed,
    });
    if (!answer.replayed && answer.outcome.done)
      notifier.notify({ id: ids.outboxId, resourceType: 'payout', resourceId: payoutId });
    return answer;
  }
}

function creation(routes: readonly RailRoute[]): CommandKind<CreatePayout, Payout> {
  return {
    name: 'create payout',
    resourceType: 'payout',
    table: payouts,
    async accounts(commands, reader, isRetry) {
      const tenants = new Set(commands.map(({ tenantId }) => tenantId));
      const named = commands.map(({ tenantId, sourceAccountId: accountId }) => ({
        tenantId,
        accountId,
      }));
      const [feeAccount, reach] = await Promise.all([
        readFeeAccounts(reader, 'payout', tenants, isRetry),
        readReach(reader, named),
      ]);
      const ids = commands.map(({ tenantId, sourceAccountId, amount }) => {
        if (!reach.owns(tenantId, sourceAccountId)) return [];
        const fee = feeAccount(tenantId, amount.asset);
        return [sourceAccountId, ...(fee === undefined ? [] : [fee])];
      });
      return { ids };
    },
    needs: ({ tenantId, memberId, sourceAccountId: accountId, amount: { asset } }, at) => [
      need(memberRoles, { accountId, memberId }),
      need(approvalPolicies, { accountId, asset }),
      ...feeNeeds({ tenantId, operation: 'payout', asset }),
      ...limitNeeds(accountId, asset, at),
    ],
    decide: (command, state) => decidePayout(routes, command, state),
  };
}
