import { type Amount, disjunction } from '../../core/amount.js';
import { isCountry } from '../../core/checked-text.js';
import { hmac, type Keyring } from '../../core/fingerprint.js';
import { idFromDigest } from '../../core/ids.js';
import { BANK_ACCOUNT_TYPES } from '../../db/entities/payouts.js';
import type { PayoutRails } from '../../payouts/destination.js';
import { type BankAccount, takesPayment } from '../../payouts/rails/destinations.js';
import { chooseRail, termsOf } from '../../payouts/rails/rail.js';
import { BANK_ACCOUNT_FORMS, endOfNumber, MAX_HOLDER_NAME } from '../../payouts/rules.js';
import {
  cellProblem,
  displayedText,
  type Problem,
  quote,
  type Reading,
  readText,
  requireCell,
} from '../validation/cells.js';
import { EXAMPLE_AMOUNTS, EXAMPLE_RAW } from '../rules.js';
import type {
  CellFinder,
  Payee,
  Payer,
  ReadRecipient,
  SheetKind,
} from '../validation/sheet-kind.js';

/** The bank accounts in files. Messages and values show secrets only by their ends. */

interface RecipientDeps {
  readonly rails: PayoutRails;
  readonly encryptionKeys: Keyring;
}

/** The shown parts of a row's bank account, besides the name of its holder. */
export interface RowDestination extends Pick<BankAccount, 'country' | 'bankCode' | 'accountType'> {
  readonly accountEnd: string;
  readonly documentEnd: string;
}

export function recipientReader(deps: RecipientDeps): SheetKind['readRecipient'] {
  return (at) => {
    const read = readBankAccount(at);
    if ('problems' in read) {
      // Reported in the order of the columns, because the checker adds `problem` to `faults`.
      const problem = read.problems.at(-1);
      if (problem === undefined) throw new TypeError('a wrong bank account has no problem');
      return { recipient: { problem }, faults: read.problems.slice(0, -1) };
    }
    const resolve: ReadRecipient['resolve'] = (_, { tenant }, amount) =>
      payeeOf(deps, read.account, tenant, amount, at);
    return {
      recipient: { value: { text: read.account.holderName, name: null, resolve } },
      faults: [],
    };
  };
}

function payeeOf(
  { rails, encryptionKeys }: RecipientDeps,
  account: Omit<BankAccount, 'type'>,
  tenant: Payer['tenant'],
  amount: Amount | null,
  at: CellFinder,
): Reading<Payee> {
  const { country, bankCode, accountType, accountNumber, holderDocument } = account;
  const problem = (field: string, message: string): Reading<never> => ({
    problem: cellProblem(field, 'invalid_field', message, at(field)),
  });
  const rail = chooseRail(rails.routes, tenant, country);
  if (rail === null) return problem('country', `no rail pays out to ${country}`);
  if (amount !== null && !takesPayment(termsOf(rails.terms, rail), 'bank_account', amount))
    return problem('amount', `the rail to ${country} does not take this amount`);
  const destination: RowDestination = {
    country,
    bankCode,
    accountType,
    accountEnd: endOfNumber(accountNumber),
    documentEnd: endOfNumber(holderDocument),
  };
  const named = JSON.stringify(['batch recipient', tenant.id, country, bankCode, accountNumber]);
  return {
    value: {
      recipientKey: idFromDigest(0, hmac(encryptionKeys[0], named)),
      destination: JSON.stringify(destination),
      secrets: { accountNumber, holderDocument },
    },
  };
}

interface Column<T extends string> {
  readonly name: string;
  readonly form: string;
  readonly isValid: (text: string) => text is T;
  /** The cell's text is never repeated. */
  readonly isSecret?: true;
  /** A number cell is refused, because spreadsheets remove zeros at the beginning. */
  readonly keepsZeros?: true;
}

const ofForm =
  (form: RegExp) =>
  (text: string): text is string =>
    form.test(text);

const COUNTRY: Column<string> = {
  name: 'country',
  form: 'a country in two capital letters',
  isValid: (text): text is string => isCountry(text),
};
const BANK_CODE: Column<string> = {
  name: 'bank_code',
  form: '2 to 11 digits and capital letters',
  isValid: ofForm(BANK_ACCOUNT_FORMS.bankCode),
  keepsZeros: true,
};
const ACCOUNT_TYPE: Column<BankAccount['accountType']> = {
  name: 'account_type',
  form: disjunction(BANK_ACCOUNT_TYPES),
  isValid: (text): text is BankAccount['accountType'] =>
    BANK_ACCOUNT_TYPES.some((type) => type === text),
};
const ACCOUNT_NUMBER: Column<string> = {
  name: 'account_number',
  form: '4 to 34 digits and letters, without spaces',
  isValid: ofForm(BANK_ACCOUNT_FORMS.accountNumber),
  isSecret: true,
  keepsZeros: true,
};
const HOLDER_DOCUMENT: Column<string> = {
  name: 'holder_document',
  form: '4 to 20 digits, capital letters, points and hyphens',
  isValid: ofForm(BANK_ACCOUNT_FORMS.holderDocument),
  isSecret: true,
};

function readBankAccount(
  at: CellFinder,
): { readonly account: Omit<BankAccount, 'type'> } | { readonly problems: readonly Problem[] } {
  const country = readCode(COUNTRY, at);
  const bankCode = readCode(BANK_CODE, at);
  const accountType = readCode(ACCOUNT_TYPE, at);
  const accountNumber = readCode(ACCOUNT_NUMBER, at);
  const holderName = readHolderName(at);
  const holderDocument = readCode(HOLDER_DOCUMENT, at);
  if (
    'value' in country &&
    'value' in bankCode &&
    'value' in accountType &&
    'value' in accountNumber &&
    'value' in holderName &&
    'value' in holderDocument
  )
    return {
      account: {
        country: country.value,
        bankCode: bankCode.value,
        accountType: accountType.value,
        accountNumber: accountNumber.value,
        holderName: holderName.value,
        holderDocument: holderDocument.value,
      },
    };
  const readings = [country, bankCode, accountType, accountNumber, holderName, holderDocument];
  const problems = readings.flatMap((one) => ('problem' in one ? [one.problem] : []));
  return { problems };
}

/** Reads a text of a fixed form. */
function readCode<T extends string>(
  { name, form, isValid, isSecret, keepsZeros }: Column<T>,
  at: CellFinder,
): Reading<T> {
  const cell = at(name);
  const found = requireCell(name, cell);
  const read = 'problem' in found ? found : displayedText(name, found.cell);
  const isNumber = cell?.kind === 'number';
  const isWhole = !isNumber || (keepsZeros !== true && 'text' in read && /^\d+$/.test(read.text));
  if ('text' in read && isWhole && isValid(read.text)) return { value: read.text };
  if (isSecret === true) {
    const code = 'problem' in read ? read.problem.code : 'invalid_field';
    const fault = code === 'missing_field' ? 'is empty' : `is not ${form}, ${AS_TEXT}`;
    const end = endOfNumber(cell?.text.trim() ?? '');
    const value = end === '' ? null : ({ kind: 'text', text: `****${end}` } as const);
    return { problem: cellProblem(name, code, `${name} ${fault}`, value) };
  }
  if ('problem' in read) return read;
  const message = `${quote(read.text)} is not ${form}${isNumber ? `, ${AS_TEXT}` : ''}`;
  return { problem: cellProblem(name, 'invalid_field', message, cell) };
}

/** Besides formulas and converted cells, a number in a column that keeps zeros is refused. */
const AS_TEXT = 'as text: format the column as text and enter the value itself';

function readHolderName(at: CellFinder): Reading<string> {
  const found = requireCell('holder_name', at('holder_name'));
  if ('problem' in found) return found;
  const read = readText('holder_name', found.cell, MAX_HOLDER_NAME);
  if ('problem' in read) return read;
  return { value: read.value ?? '' };
}

const NUMBER_LIKE = /(?<![*\p{L}\p{Nd}.-])[\p{L}\p{Nd}.-]+(?:[ \u00a0]\p{Nd}[\p{Nd}.-]*)*/gu;
const EXAMPLES = new Set(`${EXAMPLE_RAW} is ${EXAMPLE_AMOUNTS}`.match(NUMBER_LIKE));

/** Masks what may be an account number or a document in a cell whose column is not known. */
export function concealNumbers(text: string): string {
  return text.replace(NUMBER_LIKE, (word) =>
    EXAMPLES.has(word) || word.replace(/\P{Nd}/gu, '').length < 4
      ? word
      : `****${endOfNumber(word)}`,
  );
}
