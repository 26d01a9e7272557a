import type { Command } from 'commander';
import { z } from 'zod';
import { csvCell } from '../../batches/files/writing/cells.js';
import { isAsset, parseRaw } from '../../core/amount.js';
import { parseUuid } from '../../core/ids.js';
import { parseRfc3339 } from '../../core/instant.js';
import { type Difference, reconcile, type StatementLine } from '../../payouts/reconcile.js';
import { addCommand } from '../command.js';
import { OpsError } from '../failures.js';
import { type CsvLine, readCsv } from '../import/csv-lines.js';
import { text } from '../inputs.js';

const COLUMNS = { required: ['key', 'status', 'raw', 'asset'], optional: ['reference', 'at'] } as const;
const STATUSES = ['completed', 'failed', 'returned'] as const;

const EXPLANATION = `
The statement is CSV in UTF-8 with the columns key (the payout's id), status (completed, failed, returned), raw and asset;
reference and at may be there. It has what happened on the day (UTC), a line for each outcome.

  missing_here    the rail paid what we do not have, or have on another rail
  missing_there   it was settled here on the day, and the statement does not have it
  amount          both have it, with another amount or asset
  state           both have it, in another state
  twice           the statement has it a second time

Nothing is changed. The command ends with 1 when there is a difference.`;

export const day = z.string().transform((given, context) => {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(given) ? parseRfc3339(`${given}T00:00:00Z`) : null;
  if (at !== null) return at;
  context.addIssue(`${given} is no day: write it as 2026-11-21`);
  return z.NEVER;
});

export function addReconcile(own: Command): void {
  addCommand(own, {
    usage: 'reconcile',
    summary: "compare a day's payouts over a rail with the rail's own statement",
    explanation: EXPLANATION,
    options: [
      ['--rail <rail>', 'as payouts name it: simulated, or http:NAME'],
      ['--date <day>', 'the day of the statement, UTC: 2026-11-21'],
      ['--statement <csv>', "the rail's statement"],
      ['--csv', 'print the differences as CSV'],
    ],
    examples: [
      'payouts reconcile --rail http:bank-a --date 2026-11-21 --statement bank-a-2026-11-21.csv',
      'payouts reconcile --rail http:bank-a --date 2026-11-21 --statement bank-a-2026-11-21.csv --csv',
    ],
    input: z.object({ rail: text, date: day, statement: text, csv: z.boolean().default(false) }),
    run: async ({ database, output }, { rail, date, statement, csv }) => {
      const lines: StatementLine[] = [];
      for await (const line of readCsv(statement, COLUMNS)) lines.push(readLine(line));
      const differences = await reconcile(database.reader, rail, date, lines);
      if (csv) process.stdout.write(csvOf(differences));
      else output.list(differences, 'There are none: the statement and the payouts agree.');
      output.say(`${lines.length} line(s), ${differences.length} difference(s).`);
      if (differences.length > 0) process.exitCode = 1;
    },
  });
}

/** A statement that cannot be read is not compared: half of it would look like differences. */
function readLine({ number, values, isWhole }: CsvLine): StatementLine {
  const key = parseUuid(values.key ?? '');
  const status = STATUSES.find((one) => one === values.status);
  const raw = parseRaw(values.raw ?? '');
  const asset = values.asset ?? '';
  if (!isWhole || key === null || status === undefined || raw === null || !isAsset(asset))
    throw new OpsError(`line ${number} of the statement is not one of a payout: key, status, raw, asset`);
  return { number, key, status, raw, asset };
}

const HEADER = ['difference', 'payout_id', 'line', 'there', 'here'] as const;

function csvOf(differences: readonly Difference[]): string {
  const rows = differences.map((one) => HEADER.map((name) => csvCell(String(one[name] ?? ''), 'text')).join(','));
  return `${[HEADER.join(','), ...rows].join('\n')}\n`;
}
