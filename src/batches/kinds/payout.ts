import type { Asset } from '../../core/amount.js';
import type { Keyring } from '../../core/fingerprint.js';
import { newId, type Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import type { BatchRow } from '../../db/entities/batches.js';
import { type Payout, payouts } from '../../db/entities/payouts.js';
import { fundsRefusal } from '../../accounts/rules.js';
import { systemAccountId } from '../../funding/service.js';
import { type CreatePayout, creationWrites, newPayout } from '../../payouts/decide.js';
import { chooseDestination, type PayoutRails } from '../../payouts/destination.js';
import { destinationText } from '../../payouts/rules.js';
import { sealSecrets } from '../../payouts/service.js';
import type { Column, TableRow } from '../../spreadsheets/writing/cells.js';
import type { BatchKind, OpenRow } from '../kind.js';
import { rowPayer } from '../pay-rows.js';
import { readRestoredRows } from '../restored-rows.js';
import { paymentColumns } from '../template.js';
import type { SheetKind, TemplateColumn } from '../validation/sheet-kind.js';
import { concealNumbers, recipientReader, type RowDestination } from './payout-recipient.js';

/** Batches whose rows become payouts to bank accounts. (docs/contract.md, Payout batches) */

interface PayoutBatchDeps {
  readonly rails: PayoutRails;
  readonly encryptionKeys: Keyring;
}

export function payoutBatches(deps: PayoutBatchDeps): BatchKind {
  return {
    name: 'payout',
    permissions: {
      upload: 'createPayout',
      read: 'readPayoutBatches',
      template: 'readPayoutTemplate',
      execute: 'executePayoutBatch',
      withdraw: 'withdrawPayoutBatch',
    },
    alwaysNeedsSecondPerson: true,
    sheet: { ...PAYOUT_SHEET, readRecipient: recipientReader(deps), conceal: concealNumbers },
    seal: (rowId, secrets) => sealSecrets(deps.encryptionKeys, rowId, secrets),
    payRows: rowPayer<NewPayout, Payout>({
      resourceType: 'payout',
      table: payouts,
      prepare: preparePayouts,
      recipientOf: () => null,
      pay(command, { row, tenant, fee, rule, payer, columns }, state) {
        const { documentEnd: _, ...shown } = destinationOf(row);
        const account = { ...shown, holderName: row.recipient };
        const destination = { type: 'bank_account', ...account } as const;
        const amount = { raw: columns.raw, asset: columns.asset };
        const { systemAccountId, outboxId, knownRail, isKnownToRail } = command;
        const chosen =
          knownRail === null
            ? chooseDestination(deps.rails, tenant, { destination, amount }, state.at)
            : { rail: knownRail, columns: account };
        if ('refusal' in chosen) return { refusal: chosen.refusal };
        // A rail may have paid the row already, so only missing funds may refuse it.
        const refusal = isKnownToRail
          ? fundsRefusal({ source: payer, amount, feeRaw: fee.raw })
          : rule;
        if (refusal !== null) return { refusal };
        // The rail knows the row by this id, even if the database is restored to before its creation.
        const own = { ...columns, id: row.id, systemAccountId };
        // Executing the batch was the approval.
        const approved = newPayout(own, chosen, null, state.at);
        const payment = isKnownToRail ? submitted(approved, state.at) : approved;
        return { payment, writes: creationWrites(payment, outboxId, state.at) };
      },
    }),
    result: { columns: RESULT_COLUMNS, rowsOf: resultRows },
  };
}

export const PAYOUT_SHEET: Omit<SheetKind, 'readRecipient' | 'conceal'> = {
  title: 'Payouts',
  columns: [
    column('country', 10, 'CO', 'The country of the bank: two capital letters.'),
    column('bank_code', 12, '0007', 'The code of the bank, as text, with its leading zeros.'),
    column('account_type', 14, 'savings', 'savings or checking.'),
    // No account number has hyphens, so a forgotten example is refused.
    column(
      'account_number',
      24,
      'example-delete-this-row',
      'As text, with its leading zeros: 4 to 34 digits and letters. Kept encrypted.',
    ),
    column('holder_name', 32, 'Ana María Pérez', 'Who holds the account; at most 80 characters.'),
    column(
      'holder_document',
      20,
      '1020304050',
      'The identity or tax document of the holder. Kept encrypted.',
    ),
    ...paymentColumns({
      description: 'Invoice 2041',
      readBy: 'Goes to the rail with the payment',
      reference: 'INV-2041',
    }),
  ],
  markers: ['account_number', 'amount'],
  paid: {
    file: 'payout_id',
    column: 'payout_id',
    matches: (text) => text !== '',
    message: 'has a payout_id, so its payout was created by an earlier batch',
  },
  feeOperation: 'payout',
};

function column(name: string, width: number, example: string, note: string): TemplateColumn {
  return { name, kind: 'text', width, example, note, isRequired: true };
}

interface NewPayout extends Pick<CreatePayout, 'systemAccountId' | 'outboxId'> {
  /** Whether a rail may have the row since time that a restore lost. */
  readonly isKnownToRail: boolean;
  /** The rail that has reported the row, which today's routes may not choose. Null if none has. */
  readonly knownRail: string | null;
}

/** Marks a payout as submitted, so that its workflow asks the rail first and members cannot cancel it. */
function submitted(approved: Payout, submittedAt: Instant): Payout {
  return { ...approved, status: 'in_progress', submittedAt };
}

async function preparePayouts(
  reader: Reader,
  rows: readonly OpenRow[],
): Promise<readonly (readonly [OpenRow, NewPayout])[]> {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return [];
  const { batch } = first;
  const [system, { isUnqueried, railOf }] = await Promise.all([
    systemAccountId(reader, batch.tenantId, 'pay_out'),
    readRestoredRows(reader, batch, first.row.id, last.row.id),
  ]);
  return rows.map((open) => {
    const knownRail = railOf.get(open.row.id) ?? null;
    const isKnownToRail = isUnqueried || knownRail !== null;
    return [open, { systemAccountId: system, outboxId: newId(), isKnownToRail, knownRail }];
  });
}

/** Returns the shown parts of a row's bank account. */
export function destinationOf({ destination }: Pick<BatchRow, 'destination'>): RowDestination {
  if (destination === null) throw new Error('a row of a payout batch has no bank account');
  // The text of `recipientReader`.
  return JSON.parse(destination) as RowDestination;
}

/** Returns the receiver of a row of a payout batch, as staff see it. */
export function rowDestinationText(row: BatchRow): string {
  const holder = { holderName: row.recipient, keyType: null, keyEnd: null };
  return destinationText({ ...destinationOf(row), ...holder });
}

const RESULT_COLUMNS: readonly Column[] = [
  { name: 'row', kind: 'number', width: 8 },
  { name: 'reference', kind: 'text', width: 22 },
  { name: 'country', kind: 'text', width: 10 },
  { name: 'bank_code', kind: 'text', width: 12 },
  { name: 'account_type', kind: 'text', width: 14 },
  { name: 'account_number', kind: 'text', width: 16 },
  { name: 'holder_name', kind: 'text', width: 32 },
  { name: 'amount', kind: 'text', width: 22 },
  { name: 'asset', kind: 'text', width: 8 },
  { name: 'status', kind: 'text', width: 14 },
  { name: 'payout_id', kind: 'text', width: 38 },
  { name: 'fee', kind: 'text', width: 14 },
  { name: 'code', kind: 'text', width: 26 },
  { name: 'message', kind: 'text', width: 60 },
];

/** The status is that of the payout when the file is made. A row that a rule refused has `failed`. */
async function resultRows(
  reader: Reader,
  rows: readonly BatchRow[],
  asset: Asset,
): Promise<readonly TableRow[]> {
  const ids = rows.flatMap(({ paymentId }): Uuid[] => (paymentId === null ? [] : [paymentId]));
  const found = ids.length === 0 ? [] : await reader.select(payouts, { id: ids });
  const statusOf = new Map(found.map(({ id, status }) => [id, status]));
  return rows.map((row) => {
    const { country, bankCode, accountType, accountEnd } = destinationOf(row);
    const { paymentId } = row;
    return [
      String(row.number),
      row.reference,
      country,
      bankCode,
      accountType,
      `****${accountEnd}`,
      row.recipient,
      String(row.raw),
      asset,
      paymentId === null ? 'failed' : (statusOf.get(paymentId) ?? null),
      paymentId,
      paymentId === null ? null : String(row.feeRaw),
      row.code,
      row.message,
    ];
  });
}
