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
import type { BankAccount, Destination } from './rails/destinations.js';
import { destinationColumns, endOfNumber, UNFINISHED } from './rules.js';

/** How members list payouts, with any role in the source. (docs/contract.md, Roles and scopes) */
export const payoutList: OperationList<Payout> = {
  table: payouts,
  statuses: PAYOUT_STATUSES,
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
    return { shown: destination, clear: { ...NOTHING_SEALED, recipientKey: key, holder } };
  }
  const { accountNumber, holderDocument, ...shown } = destination;
  const clear = { ...NOTHING_SEALED, accountNumber, holderDocument };
  return { shown: { ...shown, accountEnd: endOfNumber(accountNumber) }, clear };
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

const SEALED = {
  accountNumber: 'account_number',
  holderDocument: 'holder_document',
  recipientKey: 'recipient_key',
  holder: 'holder',
} as const;
type SealedColumn = keyof typeof SEALED;

/**
 * The parts that only the rail reads in clear text; null if the destination does not have them.
 * (docs/contract.md, Secrets and personal data)
 */
type ClearSecrets = Readonly<Record<SealedColumn, string | null>>;

const COLUMNS = Object.keys(SEALED) as readonly SealedColumn[];

/** Returns the result of `make` for each column. */
function forEachColumn<T>(make: (column: SealedColumn) => T): Record<SealedColumn, T> {
  return Object.fromEntries(COLUMNS.map((name) => [name, make(name)])) as Record<SealedColumn, T>;
}

const NOTHING_SEALED: ClearSecrets = forEachColumn(() => null);

/** Seals secrets for one payout. They cannot be opened with another id. */
function sealSecrets(keys: Keyring, id: Uuid, clear: ClearSecrets): PayoutSecrets {
  const sealed = forEachColumn((name) => {
    const text = clear[name];
    return text === null ? null : seal(keys, text, contextOf(id, name)).bytes;
  });
  return { id, ...sealed, keyId: keys[0].id };
}

/** Throws UnknownKey, or another error if the bytes belong to another payout. */
export function openSecrets(keys: Keyring, sealed: PayoutSecrets): ClearSecrets {
  const { id, keyId } = sealed;
  return forEachColumn((name) => {
    const bytes = sealed[name];
    return bytes === null ? null : unseal(keys, { keyId, bytes }, contextOf(id, name));
  });
}

/** Returns the destination of an order. Throws as `openSecrets` does. */
export function openDestination(keys: Keyring, payout: Payout, sealed: PayoutSecrets): Destination {
  const shown = destinationColumns(payout);
  const { accountNumber, holderDocument, recipientKey: key, holder } = openSecrets(keys, sealed);
  if ('keyType' in shown && key !== null)
    return { type: 'bre_b_key', keyType: shown.keyType, key, holder };
  if ('keyType' in shown || accountNumber === null || holderDocument === null)
    throw new Error('a payout has no sealed destination');
  const { accountEnd: _end, ...account } = shown;
  return { type: 'bank_account', ...account, accountNumber, holderDocument };
}

export const SEALED_DESTINATIONS = new SealedSecrets({
  label: 'destinations of payouts',
  auditName: 'payouts',
  table: payoutSecrets,
  id: 'id',
  keyIds: ['keyId'],
  reseal: (keys, row) => sealSecrets(keys, row.id, openSecrets(keys, row)),
});

function contextOf(id: Uuid, column: SealedColumn): string {
  return `payouts/${id}/${SEALED[column]}`;
}
