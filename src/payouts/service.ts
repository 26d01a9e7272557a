import type { Amount } from '../core/amount.js';
import type { Keyed, Keyring } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import type { Reader } from '../db/database.js';
import type { Payout } from '../db/entities/payouts.js';
import { systemAccountId } from '../funding/reference.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import type { Answer, CommandKind } from '../ledger/writer/types.js';
import type { OutboxNotifier } from '../temporal/outbox-notifier.js';
import { createPayout } from './commands.js';
import type { RailRoute } from './rails/rules.js';
import { type CreatePayout, endOfNumber, type PayoutDestination } from './rules.js';
import { type ClearSecrets, sealSecrets } from './secrets.js';

interface PayoutRequest {
  readonly sourceAccountId: Uuid;
  readonly destination: Omit<PayoutDestination, 'accountEnd'> & ClearSecrets;
  readonly amount: Amount;
  readonly description: string | null;
}

interface PayoutDeps {
  readonly desk: LedgerWriter;
  readonly reader: Reader;
  /** Told of new payouts, so that their workflow starts at once. */
  readonly notifier: Pick<OutboxNotifier, 'notify'>;
  readonly encryptionKeys: Keyring;
  readonly routes: readonly RailRoute[];
}

export class Payouts {
  private readonly creating: CommandKind<CreatePayout, Payout>;

  constructor(private readonly deps: PayoutDeps) {
    this.creating = createPayout(deps.routes);
  }

  /**
   * `id`, the payout's, is the request's own, so the request can be traced to it. Refusals and unknown results are
   * returned as answers. Throws DatabaseUnavailable. (docs/contract.md, Payouts)
   */
  async create(
    { tenantId, memberId }: Caller,
    id: Uuid,
    { destination, ...request }: PayoutRequest,
    idempotency: Keyed,
  ): Promise<Answer<Payout>> {
    const { desk, reader, notifier, encryptionKeys } = this.deps;
    const { accountNumber, holderDocument, ...shown } = destination;
    const ids = { payoutId: id, outboxId: newId() };
    const { id: _payoutId, ...sealed } = sealSecrets(encryptionKeys, ids.payoutId, {
      accountNumber,
      holderDocument,
    });
    const answer = await desk.submit(this.creating, {
      ...request,
      ...idempotency,
      ...ids,
      tenantId,
      memberId,
      systemAccountId: await systemAccountId(reader, tenantId, 'pay_out'),
      destination: { ...shown, accountEnd: endOfNumber(accountNumber) },
      sealed,
    });
    if (!answer.replayed && answer.outcome.done)
      notifier.notify({ id: ids.outboxId, resourceType: 'payout', resourceId: ids.payoutId });
    return answer;
  }
}
