/**
 * Every code that an errors file can hold, and what to do about it: the API's own, and those that only a file can have. The
 * docs page reads this table. (docs/contract.md, Validation)
 */
export const PROBLEM_CODES = {
  missing_field: 'A cell is empty that must be filled in: recipient, amount or asset.',
  invalid_field:
    'A cell cannot be read: an amount that is no whole number in the smallest unit, a malformed alias, phone or id, an unknown asset, a text that is too long. The message says which.',
  not_found:
    'No one account that can be paid has this alias, phone or id. Where you are sure of a phone, use an account id.',
  same_account: 'The recipient is the account that the batch is paid from.',
  below_minimum: 'The amount is under the minimum of one operation.',
  above_per_operation_limit: 'The amount is over the maximum of one operation: split it.',
  mixed_asset: 'The row is in another asset than the first valid row: make a file for each asset.',
  duplicate_reference: 'An earlier row has the same reference.',
  formula_cell:
    'The cell is a formula (in a CSV: it begins with `=`). Put in the value itself: copy, then paste values only.',
  missing_column: 'The first row lacks the column recipient, amount or asset.',
  duplicate_column: 'The first row has a column twice.',
  no_rows: 'There is nothing below the header.',
  too_many_rows: 'There are more than 100,000 rows: split the file.',
  too_many_columns: 'A row has more than 100 columns.',
  rate_limited:
    'The file names more people by alias or phone whom you have never named before than you may look for now. Send those whom you know in a file of their own, and the others after the time that the message says.',
  unreadable_file: 'The file is damaged, has a password or is no plain spreadsheet: open it and save it anew.',
  bad_encoding: 'The CSV is not UTF-8: save it as "CSV UTF-8".',
  too_large_inflated: 'Unpacked, the workbook is too large: copy the rows into a new one.',
} as const satisfies Readonly<Record<string, string>>;

export type ProblemCode = keyof typeof PROBLEM_CODES;
