import { formatAmount } from '../core/amount.js';
import type { CommandResult } from '../core/errors.js';
import type { RequestKey, Keyring } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import {
  type Payout,
  PAYOUT_STATUSES,
  payouts,
  type PayoutSecrets,
  payoutSecrets,
} from '../db/entities/payouts.js';
import { paymentKind } from '../operations/payments.js';
import type { PaymentRequest } from '../accounts/rules.js';
import type { OperationList } from '../operations/operation-list.js';
import type { ApprovalDeps } from '../approvals/service.js';
import { systemAccountId } from '../funding/service.js';
import type { CommandKind } from '../ledger/writer/types.js';
import { literals } from '../db/statements.js';
import {
  payoutWorkflowId,
  type PayoutWorkflowInput,
  type ResourceInput,
} from '../temporal/contracts.js';
import { workflowResource } from '../temporal/workflow-resources.js';
import { SealedSecrets } from '../access/sealed-secrets.js';
import { seal, unseal } from '../core/secret-box.js';
import { type CreatePayout, decidePayout } from './decide.js';
import type { BankAccount, RailRoute } from './rails/rail.js';
import { endOfNumber, UNFINISHED } from './rules.js';

/** How members list payouts, with any role in the source. (docs/contract.md, Roles and scopes) */
export const payoutList: OperationList<Payout> = {
  table: payouts,
  statuses: PAYOUT_STATUSES,
  resourceType: 'payout',
  visibleToRolesIn: ['source_account_id'],
};

interface PayoutRequest extends PaymentRequest {
  readonly destination: BankAccount;
}

export interface PayoutDeps extends ApprovalDeps {
  readonly encryptionKeys: Keyring;
  readonly routes: readonly RailRoute[];
}

export class Payouts {
  private readonly createPayout: CommandKind<CreatePayout, Payout>;

  constructor(private readonly deps: PayoutDeps) {
    this.createPayout = createPayoutKind(deps.routes);
  }

  /** Creates the payout with the request's id. Returns refusals too. (docs/contract.md, Payouts) */
  async create(
    caller: Caller,
    payoutId: Uuid,
    { destination, ...request }: PayoutRequest,
    idempotency: RequestKey,
  ): Promise<CommandResult<Payout>> {
    const { writer, database, notifier, encryptionKeys } = this.deps;
    const { tenantId, memberId, deadline } = caller;
    const { accountNumber, holderDocument, ...shown } = destination;
    const secrets = { accountNumber, holderDocument };
    const { id: _id, ...sealed } = sealSecrets(encryptionKeys, payoutId, secrets);
    const ids = { payoutId, outboxId: newId(), tenantId, memberId };
    const command = {
      ...request,
      ...idempotency,
      ...ids,
      systemAccountId: await systemAccountId(database.readerFor(caller), tenantId, 'pay_out'),
      destination: { ...shown, accountEnd: endOfNumber(accountNumber) },
      sealed,
    };
    const result = await writer.submit(this.createPayout, command, deadline);
    if (!result.replayed && result.outcome.done)
      notifier.notify({ id: ids.outboxId, resourceType: 'payout', resourceId: payoutId });
    return result;
  }
}

function createPayoutKind(routes: readonly RailRoute[]): CommandKind<CreatePayout, Payout> {
  return {
    name: 'create payout',
    resourceType: 'payout',
    table: payouts,
    ...paymentKind('payout', () => undefined),
    decide: (command, state) => decidePayout(routes, command, state),
  };
}

/** The pauses between polls: short at first, because most rails respond within seconds. */
const POLLING = { firstMs: 1_000, longestMs: 600_000 } as const;

export const payoutWorkflowResource = workflowResource({
  resourceType: 'payout',
  workflowType: 'payout',
  taskQueue: 'payouts',
  workflowIdOf: payoutWorkflowId,
  table: payouts,
  states: UNFINISHED,
  from: `payouts t FORCE INDEX (expiring) WHERE t.status IN (${literals(payouts, 'status', UNFINISHED)})`,
  describe: (payout) => ({
    amount: formatAmount(payout),
    summary: `Payout of ${formatAmount(payout)} over the rail ${payout.rail}`,
    input: {
      resourceId: payout.id,
      tenantId: payout.tenantId,
      polling: POLLING,
    } satisfies ResourceInput<PayoutWorkflowInput>,
  }),
});

/**
 * The parts that only the rail reads in clear text. (docs/contract.md, Secrets and personal data)
 */
type ClearSecrets = Pick<BankAccount, 'accountNumber' | 'holderDocument'>;

/** Seals secrets for one payout. They cannot be opened with another id. */
function sealSecrets(keys: Keyring, id: Uuid, clear: ClearSecrets): PayoutSecrets {
  const number = seal(keys, clear.accountNumber, contextOf(id, 'account_number'));
  const document = seal(keys, clear.holderDocument, contextOf(id, 'holder_document'));
  return { id, accountNumber: number.bytes, holderDocument: document.bytes, keyId: number.keyId };
}

/** Throws UnknownKey, or another error if the bytes belong to another payout. */
export function openSecrets(keys: Keyring, sealed: PayoutSecrets): ClearSecrets {
  const { id, keyId, accountNumber, holderDocument } = sealed;
  const open = (bytes: Buffer, what: Parameters<typeof contextOf>[1]): string =>
    unseal(keys, { keyId, bytes }, contextOf(id, what));
  return {
    accountNumber: open(accountNumber, 'account_number'),
    holderDocument: open(holderDocument, 'holder_document'),
  };
}

export const SEALED_BANK_ACCOUNTS = new SealedSecrets({
  label: 'bank accounts of payouts',
  auditName: 'payouts',
  table: payoutSecrets,
  id: 'id',
  keyIds: ['keyId'],
  reseal: (keys, row) => sealSecrets(keys, row.id, openSecrets(keys, row)),
});

function contextOf(id: Uuid, what: 'account_number' | 'holder_document'): string {
  return `payouts/${id}/${what}`;
}
