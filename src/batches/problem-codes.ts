/** Codes of the errors file. (docs/contract.md, Validation) */
export const PROBLEM_CODES = [
  'missing_field',
  'invalid_field',
  'not_found',
  'ambiguous_recipient',
  'same_account',
  'below_minimum',
  'above_per_operation_limit',
  'mixed_asset',
  'duplicate_reference',
  'formula_cell',
  'missing_column',
  'duplicate_column',
  'no_rows',
  'too_many_rows',
  'too_many_columns',
  'above_approval_threshold',
  'rate_limited',
  'unreadable_file',
  'bad_encoding',
  'too_large_inflated',
] as const;

export type ProblemCode = (typeof PROBLEM_CODES)[number];
