/**
 * Values of `details.reason` of `invalid_field`, possibly before a colon: `not_one_of: COP, PTS`.
 * Reasons are added, never removed. (docs/contract.md, Errors)
 */
export const FIELD_REASONS = {
  required: 'It is absent, or null.',
  unknown: 'No such field, parameter or value is known.',
  repeated: 'It was sent more than once.',
  malformed: 'It does not have the format that the field requires.',
  unexpected: 'The request has a body, but the operation takes none.',
  not_a_string: 'It is not text.',
  not_a_boolean: 'It is neither true nor false.',
  not_a_number: 'It is not a number.',
  not_an_integer: 'It is not a whole number in plain digits.',
  not_an_integer_string:
    'It is not text of digits only, such as "150000". A JSON number, a sign, a decimal point and leading zeros are refused.',
  not_an_object: 'It is not a JSON object.',
  not_an_array: 'It is not a JSON array.',
  not_a_uuid: 'It is not a UUID.',
  not_a_date_time: 'It is not a date-time of RFC 3339.',
  not_a_country: 'It is not one of the two-letter codes of ISO 3166.',
  not_one_of: 'It is not one of the values after the colon.',
  exactly_one_of: 'None, or more than one, of the fields after the colon was sent.',
  needed_with_amount: 'A bound on amounts needs an asset.',
  too_short: 'It has fewer characters than the minimum.',
  too_long: 'It has more characters than the maximum.',
  too_few: 'The list has fewer entries than the minimum.',
  too_many: 'The list has more entries than the maximum.',
  out_of_range: 'It is below the minimum or above the maximum.',
  control_character: 'The text has control characters or lone surrogates.',
  format_character: 'The text has invisible characters, such as those that change its direction.',
  not_supported: 'No rail pays out to this country, or to this kind of destination and amount.',
  not_a_check_of_this_key: 'The holder check belongs to another key, or was altered.',
  needs_manual_capture: 'It is only allowed with `capture: manual`.',
  needs_every: 'It is only allowed with `every`.',
  not_with_ends_at: 'It is not allowed together with `ends_at`.',
  not_in_the_future: 'The first run of a schedule (starts_at) is not in the future.',
  another_asset: 'The asset is not that of the original operation.',
  same_as_source: 'Source and destination are the same account.',
  not_the_type_of_the_account: 'The account is of the other type: person or business.',
  taken: 'Another one of the tenant has it.',
  in_the_past: 'The expiry of a token (expires_at) is not in the future.',
  in_the_future: 'The time is in the future.',
  too_recent:
    'The time is less than 15 seconds ago: something dated before it may still be recorded.',
  before_opening: 'The account was not open at that time.',
  before_from: 'The end of the period lies before its beginning.',
  not_a_cursor_of_this_list: 'The cursor belongs to another list or other filters, or was altered.',
  expired: 'What the cursor points to is no longer kept, or the holder check is over an hour old.',
  https_only: 'The URL is not https.',
  credentials: 'The URL has a user name or a password in it.',
  fragment: 'The URL has a fragment.',
  forbidden_address: 'The host is not on the public internet.',
  unresolvable: 'The host name has no address.',
  not_a_spreadsheet: 'The file is neither CSV nor XLSX.',
  not_utf8: 'It is not UTF-8.',
  not_json: 'The body is not JSON.',
  too_many_values: 'The JSON has over 1,000 values.',
  nested_too_deep: 'The JSON is nested over 8 levels deep.',
  forbidden_name: 'A field is named __proto__ or constructor.',
  malformed_multipart: 'The form is not well-formed multipart/form-data.',
  transfer_encoding:
    'The part of the form has a Content-Transfer-Encoding, such as base64: send its bytes as they are.',
  malformed_encoding: 'The percent-encoding is broken.',
  malformed_http: 'The bytes are not an HTTP request.',
  headers_too_long: 'The headers are longer than 16 KiB.',
  not_received_in_time: 'The request did not arrive within its time limit.',
} as const;

/** Values of `details.reason` of `capability_cannot_send`. */
export const SENDING_REASONS = {
  not_verified: 'It has no declared verification.',
  frozen: 'The operator has frozen it. It still receives.',
  closed: 'It is closed.',
} as const;

/** `not_one_of: red, blue` reads "not one of: red, blue". */
export function reasonInWords(reason: string): string {
  const sentence = Object.entries(FIELD_REASONS).find(([code]) => code === reason)?.[1];
  if (sentence !== undefined)
    return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');
  const [code = '', ...values] = reason.split(':');
  return [code.replaceAll('_', ' '), ...values].join(':');
}
