import { parseRecipient, SEVERAL } from '../../accounts/recipients.js';
import { bonusWrites } from '../../bonuses/decide.js';
import type { Asset } from '../../core/amount.js';
import { missing } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import type { BatchRow } from '../../db/entities/batches.js';
import { type Bonus, bonuses } from '../../db/entities/bonuses.js';
import { creditRefusal, findRecipient } from '../../operations/payments.js';
import type { Column, TableRow } from '../../spreadsheets/writing/cells.js';
import type { BatchKind } from '../kind.js';
import { rowPayer } from '../pay-rows.js';
import { paymentColumns } from '../template.js';
import {
  cellProblem,
  displayedText,
  type Problem,
  quote,
  type Reading,
  requireCell,
} from '../validation/cells.js';
import type { CellFinder, ReadRecipient, SheetKind } from '../validation/sheet-kind.js';

/** Batches whose rows pay accounts of the service at once. */

const SHEET: SheetKind = {
  title: 'Bonuses',
  columns: [
    {
      name: 'recipient',
      kind: 'party',
      width: 40,
      isRequired: true,
      // No account has this alias, so a forgotten example is refused.
      example: '$example-delete-this-row',
      note: 'Who gets the bonus: an alias ($ana), a phone (+573001112233) or an account id.',
    },
    ...paymentColumns({
      description: 'Bonus for November',
      readBy: 'The recipient sees it',
      reference: 'NOV-0001',
    }),
  ],
  markers: ['recipient', 'amount'],
  paid: {
    file: 'bonus_id',
    column: 'status',
    matches: (text) => text.toLowerCase() === 'paid',
    message: 'has the status "paid", so its bonus was paid by an earlier batch',
  },
  feeOperation: 'bonus',
  readRecipient: (at) => ({ recipient: readRecipient(at), faults: [] }),
  conceal: null,
};

/** Reads an alias (`$ana`), an account's id or a phone. A phone may be in a number cell. */
function readRecipient(at: CellFinder): Reading<ReadRecipient> {
  const found = requireCell('recipient', at('recipient'));
  if ('problem' in found) return found;
  const { cell } = found;
  const read = displayedText('recipient', cell);
  if ('problem' in read) return read;
  const { text } = read;
  const problem = (code: Problem['code'], message: string): Reading<never> => ({
    problem: cellProblem('recipient', code, message, cell),
  });
  // In a number, a minus sign and a decimal point do not separate groups of a phone.
  const name = cell.kind === 'number' && !/^\d+$/.test(text) ? null : parseRecipient(text);
  if (name === null)
    return problem(
      'invalid_field',
      `${quote(text)} is neither an alias ($ana), nor a phone (+57 300 111 2233, without a decimal point), nor the id of an account`,
    );
  const resolve: ReadRecipient['resolve'] = (find, { sourceAccountId }) => {
    const recipientKey = find(name);
    if (recipientKey === null)
      return problem('not_found', `no account can be paid under ${quote(text)}`);
    if (recipientKey === SEVERAL)
      return problem(
        'ambiguous_recipient',
        `${quote(text)} belongs to several accounts: use the id of one`,
      );
    if (recipientKey === sourceAccountId)
      return problem('same_account', 'this is the account that the batch is paid from');
    return { value: { recipientKey, destination: null, secrets: null } };
  };
  return { value: { text, name, resolve } };
}

const payRows = rowPayer<Pick<Bonus, 'recipientAccountId'>, Bonus>({
  resourceType: 'bonus',
  table: bonuses,
  prepare: (_, rows) =>
    Promise.resolve(rows.map((open) => [open, { recipientAccountId: open.row.recipientKey }])),
  recipientOf: ({ recipientAccountId }) => recipientAccountId,
  pay: ({ recipientAccountId }, { tenant, amount, fee, rule, columns }, state) => {
    const recipient = findRecipient(state, tenant, recipientAccountId);
    if (recipient === undefined) return { refusal: missing('recipient') };
    const refusal = rule ?? creditRefusal(state, recipient, fee, amount);
    if (refusal !== null) return { refusal };
    const refunds = { refundedRaw: 0n, refundingRaw: 0n };
    const payment: Bonus = { id: newId(), recipientAccountId, ...refunds, ...columns };
    return { payment, writes: bonusWrites(payment) };
  },
});

export const RESULT_COLUMNS: readonly Column[] = [
  { name: 'row', kind: 'number', width: 8 },
  { name: 'reference', kind: 'text', width: 22 },
  { name: 'recipient', kind: 'party', width: 38 },
  { name: 'amount', kind: 'text', width: 22 },
  { name: 'asset', kind: 'text', width: 8 },
  { name: 'status', kind: 'text', width: 10 },
  { name: 'bonus_id', kind: 'text', width: 38 },
  { name: 'fee', kind: 'text', width: 14 },
  { name: 'code', kind: 'text', width: 26 },
  { name: 'message', kind: 'text', width: 60 },
  { name: 'paid_at', kind: 'text', width: 26 },
];

/** Amount and fee are in the smallest unit. The fee of an unpaid row is empty. */
export function resultCells(row: BatchRow, asset: Asset): TableRow {
  const isPaid = row.status === 'paid';
  return [
    String(row.number),
    row.reference,
    row.recipient,
    String(row.raw),
    asset,
    isPaid ? 'paid' : 'failed',
    row.paymentId,
    isPaid ? String(row.feeRaw) : null,
    row.code,
    row.message,
    isPaid ? toRfc3339(row.settledAt) : null,
  ];
}

export const BONUS_BATCHES: BatchKind = {
  name: 'bonus',
  permissions: {
    upload: 'createBonus',
    read: 'readBatches',
    template: 'readTemplate',
    execute: 'executeBatch',
    withdraw: 'withdrawBatch',
  },
  alwaysNeedsSecondPerson: false,
  sheet: SHEET,
  seal: null,
  payRows,
  result: {
    columns: RESULT_COLUMNS,
    rowsOf: (_, rows, asset) => Promise.resolve(rows.map((row) => resultCells(row, asset))),
  },
};
