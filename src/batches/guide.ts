import type { Guide } from '../core/guide.js';
import { TEMPLATE_COLUMNS } from './files/writing/template.js';
import { PROBLEM_CODES } from './problem-codes.js';
import { MOST_ROWS } from './rules.js';
import { REQUIRED_COLUMNS } from './validation/header.js';

/** The page for whoever pays many from a file. `baseUrl` is where tenants reach the API. */
export function batchGuide(baseUrl: string): Guide {
  return {
    path: '/batches',
    title: 'Batches of bonuses',
    sections: [
      {
        title: 'Three steps',
        paragraphs: [
          'Upload a file. The answer is 201 with a batch that is `validating`; nothing is paid. Within seconds it is `ready`, or `rejected` with an errors file. One wrong row rejects the whole file, so that nobody is paid from half of it: correct it and upload it anew, with a new `Idempotency-Key`.',
          'Review what `GET` shows of the `ready` batch: `total`, `fees`, `total_debit`, whether the account covers it (`funding`, `can_send`), and `duplicates`: rows that pay somebody again, and an earlier batch with the same file.',
          'Execute it. The answer is 202, and money leaves from now on. If the funds cover the whole debit they are held at once; if not, each row is tried in the order of the file. Each row is paid once at most. At the end the batch is `completed`, or `partially_failed` where at least one row was not paid, and the result file says what became of each.',
        ],
        commands: commands(baseUrl),
      },
      {
        title: 'What is not executed',
        paragraphs: [
          'A `ready` batch is withdrawn by `POST /v1/bonus_batches/{batch_id}/cancel`: by whoever uploaded it, or an admin or owner of the source. One that nobody executes lapses, 30 days after it became `ready` unless the operator of the service says otherwise. Both end it as `rejected` with the event `bonus_batch.rejected`, and `rejection` says which: {code: `withdrawn`} or {code: `lapsed`}. It pays nobody and has no errors file; its rows can still be read. What is `executing` can no longer be withdrawn: only support can stop it.',
        ],
      },
      {
        title: 'The file',
        paragraphs: [
          `XLSX (its first sheet) or CSV in UTF-8 with \`,\` or \`;\`, at most 10 MiB and ${MOST_ROWS.toLocaleString('en-US')} rows. \`GET /v1/bonus_batches/template?format=xlsx\` (or \`csv\`) gives an empty one: replace its example row. Columns are known by the names in the first row, in any order; other columns are ignored, and so are empty rows.`,
          'Whom you name by alias or phone for the first time counts against the budget that lookups and single bonuses have too; whom you have named before, in a rejected file as well, does not. By default 100,000 new people fit at once. A file with more than are left is `rejected` with `rate_limited`, and tells nothing of them.',
          'The file is the one file part of a multipart form, whatever its name, beside `source_account` and, if you like, `description`. Sent again with the same key, source, description and bytes it gives the same batch.',
        ],
        table: {
          head: ['Column', 'Required', 'What stands in it'],
          rows: TEMPLATE_COLUMNS.map(({ name, note }) => [
            `\`${name}\``,
            REQUIRED_COLUMNS.some((one) => one === name) ? 'yes' : 'no',
            note,
          ]),
        },
      },
      {
        title: 'The errors file',
        paragraphs: [
          'A line for each problem: `row` as the spreadsheet numbers it (the header is 1; empty for the file as a whole), `column`, `code`, `message` and the `value` of the cell. CSV, or XLSX with `?format=xlsx`. In a CSV what could run as a formula has an apostrophe before it.',
        ],
        table: {
          head: ['Code', 'Meaning, and what to do'],
          rows: Object.entries(PROBLEM_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
        },
      },
      {
        title: 'The result file',
        paragraphs: [
          'A line for each row: `row`, `reference`, `recipient`, `amount`, `asset`, `status` (`paid` or `failed`), `bonus_id`, `fee`, `code`, `message`, `paid_at`. Why a row failed is a code of the API, such as `insufficient_funds`, `monthly_limit_exceeded`, `capability_cannot_send` or `not_found` (the recipient was closed meanwhile), or `canceled` where support has canceled the batch.',
        ],
      },
    ],
  };
}

function commands(baseUrl: string): string {
  return `curl -i ${baseUrl}/v1/bonus_batches \\
  -H 'Authorization: Bearer YOUR_TOKEN' -H 'Idempotency-Key: A_NEW_UUID' \\
  -F source_account=UUID -F description=November -F file=@payroll.xlsx
curl ${baseUrl}/v1/bonus_batches/BATCH_ID -H 'Authorization: Bearer YOUR_TOKEN'
curl -X POST ${baseUrl}/v1/bonus_batches/BATCH_ID/execute \\
  -H 'Authorization: Bearer YOUR_TOKEN' -H 'Idempotency-Key: A_NEW_UUID'
curl ${baseUrl}/v1/bonus_batches/BATCH_ID/files/result -H 'Authorization: Bearer YOUR_TOKEN' -o result.csv`;
}
