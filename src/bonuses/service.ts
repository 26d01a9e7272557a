import type { CommandResult } from '../core/errors.js';
import { readAccount } from '../accounts/access.js';
import { paymentKind } from '../operations/payments.js';
import type { PaymentRequest } from '../accounts/rules.js';
import type { OperationList } from '../operations/operation-list.js';
import type { RecipientBudget } from '../accounts/recipient-budget.js';
import {
  resultsToCharge,
  uniqueRecipient,
  type RecipientName,
  resolveRecipients,
} from '../accounts/recipients.js';
import type { RequestKey } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import type { DatabaseDeps } from '../db/database.js';
import { type Bonus, bonuses } from '../db/entities/bonuses.js';
import { findKeys } from '../ledger/idempotency.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import type { CommandKind } from '../ledger/writer/types.js';
import { type CreateBonus, decideBonus } from './decide.js';

interface BonusRequest extends PaymentRequest {
  readonly recipient: RecipientName;
  readonly reference: string | null;
}

export interface BonusDeps extends DatabaseDeps {
  readonly writer: LedgerWriter;
  readonly recipientBudget: RecipientBudget;
}

export class Bonuses {
  constructor(private readonly deps: BonusDeps) {}

  /**
   * Pays one person. `id` is the id of the request and of the bonus. Refusals and unknown results
   * are returned as responses. Throws not_found, authority_insufficient, rate_limited, and
   * DatabaseUnavailable or DeadlinePassed if nothing has happened. (docs/contract.md, Bonuses)
   */
  async create(
    caller: Caller,
    id: Uuid,
    { recipient, ...request }: BonusRequest,
    idempotency: RequestKey,
  ): Promise<CommandResult<Bonus>> {
    const { database, writer, recipientBudget } = this.deps;
    const { tenantId, memberId, deadline } = caller;
    const reader = database.readerFor(caller);
    // An unknown recipient throws nothing yet: if the key is bound, the earlier result is returned.
    const [found, keys] = await recipientBudget.whileAdmitted(tenantId, () =>
      Promise.all([
        resolveRecipients(reader, tenantId, [recipient]),
        findKeys(reader, [{ tenantId, key: idempotency.key }]),
      ]),
    );
    // The response of a used key reveals nothing about this request's recipient.
    if (keys.size === 0 && recipient.by !== 'account_id') {
      // A member who may not pay discovers no recipients and uses up no budget.
      await readAccount(reader, caller, request.sourceAccountId, 'createBonus', 'source_account');
      await recipientBudget.charge(caller, resultsToCharge([recipient], found));
    }
    const recipientAccountId = uniqueRecipient(found(recipient));
    const command = {
      ...request,
      ...idempotency,
      tenantId,
      memberId,
      recipientAccountId,
      bonusId: id,
    };
    return writer.submit(createBonusKind, command, deadline);
  }
}

/** Bonuses are read with any role in the source, or in a recipient account of the tenant. */
export const bonusList: OperationList<Bonus> = {
  table: bonuses,
  statuses: [],
  resourceType: 'bonus',
  visibleToRolesIn: ['source_account_id', 'recipient_account_id'],
};

const createBonusKind: CommandKind<CreateBonus, Bonus> = {
  name: 'create bonus',
  resourceType: 'bonus',
  table: bonuses,
  ...paymentKind('bonus', ({ recipientAccountId }) => recipientAccountId),
  decide: decideBonus,
};
