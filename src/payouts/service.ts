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
import type { NewDestination, PayoutRails, RequestedKey } from './destination.js';
import type { BankAccount, Destination, KeyDestination } from './rails/destinations.js';
import { destinationColumns, endOfNumber, PAYOUT_IDS_OLDER_BY_MS, UNFINISHED } from './rules.js';

/** How members list payouts, with any role in the source. (docs/contract.md, Roles and scopes) */
export const payoutList: OperationList<Payout> = {
  table: payouts,
  statuses: PAYOUT_STATUSES,
  idsOlderByMs: PAYOUT_IDS_OLDER_BY_MS,
  resourceType: 'payout',
  visibleToRolesIn: ['source_account_id'],
};

export interface PayoutRequest extends PaymentRequest {
  readonly destination: BankAccount | RequestedKey;
}

export interface PayoutDeps extends ApprovalDeps {
  readonly encryptionKeys: Keyring;
  readonly rails: PayoutRails;
}

export class Payouts {
  private readonly createPayout: CommandKind<CreatePayout, Payout>;

  constructor(private readonly deps: PayoutDeps) {
    this.createPayout = createPayoutKind(deps.rails);
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
    const { shown, clear } = splitDestination(destination);
    const { id: _id, ...sealed } = sealSecrets(encryptionKeys, payoutId, clear);
    const ids = { payoutId, outboxId: newId(), tenantId, memberId };
    const command = {
      ...request,
      ...idempotency,
      ...ids,
      systemAccountId: await systemAccountId(database.readerFor(caller), tenantId, 'pay_out'),
      destination: shown,
      sealed,
    };
    const result = await writer.submit(this.createPayout, command, deadline);
    if (!result.replayed && result.outcome.done)
      notifier.notify({ id: ids.outboxId, resourceType: 'payout', resourceId: payoutId });
    return result;
  }
}

/** Separates what a payout shows from what is sealed. */
function splitDestination(destination: BankAccount | RequestedKey): {
  readonly shown: NewDestination;
  readonly clear: ClearSecrets;
} {
  if (destination.type === 'bre_b_key') {
    const { key, check } = destination;
    const holder = check !== null && typeof check === 'object' ? check.holder : null;
    return { shown: destination, clear: { key, holder } };
  }
  const { accountNumber, holderDocument, ...shown } = destination;
  const accountEnd = endOfNumber(accountNumber);
  return { shown: { ...shown, accountEnd }, clear: { accountNumber, holderDocument } };
}

function createPayoutKind(rails: PayoutRails): CommandKind<CreatePayout, Payout> {
  return {
    name: 'create payout',
    resourceType: 'payout',
    table: payouts,
    ...paymentKind('payout', () => undefined),
    decide: (command, state) => decidePayout(rails, command, state),
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
export type ClearSecrets =
  Pick<BankAccount, 'accountNumber' | 'holderDocument'> | Pick<KeyDestination, 'key' | 'holder'>;

/** Seals secrets for one payout. They cannot be opened with another id. */
export function sealSecrets(keys: Keyring, id: Uuid, clear: ClearSecrets): PayoutSecrets {
  const { bytes, keyId } = seal(keys, JSON.stringify(clear), contextOf(id));
  return { id, destination: bytes, keyId };
}

/** Throws UnknownKey, or another error if the bytes belong to another payout. */
export function openSecrets(keys: Keyring, sealed: PayoutSecrets): ClearSecrets {
  const { id, keyId, destination: bytes } = sealed;
  // The seal proves that `sealSecrets` wrote this text.
  return JSON.parse(unseal(keys, { keyId, bytes }, contextOf(id))) as ClearSecrets;
}

/** Returns the destination of an order. Throws as `openSecrets` does. */
export function openDestination(keys: Keyring, payout: Payout, sealed: PayoutSecrets): Destination {
  const shown = destinationColumns(payout);
  const clear = openSecrets(keys, sealed);
  if ('keyType' in shown && 'key' in clear)
    return { type: 'bre_b_key', keyType: shown.keyType, ...clear };
  if ('keyType' in shown || 'key' in clear) throw new Error('a payout has another destination');
  const { accountEnd: _end, ...account } = shown;
  return { type: 'bank_account', ...account, ...clear };
}

export const SEALED_DESTINATIONS = new SealedSecrets({
  label: 'destinations of payouts',
  auditName: 'payouts',
  table: payoutSecrets,
  id: 'id',
  keyIds: ['keyId'],
  reseal: (keys, row) => sealSecrets(keys, row.id, openSecrets(keys, row)),
});

function contextOf(id: Uuid): string {
  return `payouts/${id}/destination`;
}
