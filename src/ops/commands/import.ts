import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { members } from '../../db/entities/parties.js';
import { command } from '../command.js';
import { OpsError, UsageError } from '../failures.js';
import { findTenant } from '../finding.js';
import { AccountLines, COLUMNS, type LineProblem } from '../import/account-lines.js';
import { readCsv } from '../import/csv-lines.js';
import { importLines, ReportFile } from '../import/import-job.js';
import { flag, optional, tenant, text } from '../inputs.js';

/** How many bad lines are shown; the report file contains all. */
const MAX_SHOWN = 20;

const EXPLANATION = `
The file is CSV in UTF-8, with commas or semicolons, and a header of these columns in any order. Put a value that
contains the separator in quotation marks:

  type    person or business
  name    a person's full name or a business's trade name
  alias   begins with $
  phone   in any format; Colombian without a country code
  grant   member=role; several in quotation marks with commas between (may be left out)

Each line needs an alias or a phone. An account of the same type and name with that phone (for a line without a
phone: with that alias) already is the account of the line, so you may import the same file repeatedly: existing accounts
stay as they are. Good lines are opened; each bad line is reported with its line, column, code and value.
The command exits with 1 if there was a bad line.`;

export const importCommand = command({
  usage: 'import <file>',
  summary: 'open the accounts of a CSV file; importing it again opens nothing twice',
  explanation: EXPLANATION,
  examples: [
    'accounts import people.csv --tenant acme --dry-run',
    'accounts import people.csv --tenant acme --report bad-lines.csv',
  ],
  input: z.object({
    file: text,
    tenant,
    dryRun: flag('report what would happen, and open nothing'),
    report: optional('<csv>', 'write every bad line into this file'),
  }),
  needs: 'manage',
  run: async ({ database, clock, actor, output }, { file, tenant, dryRun, report: reportPath }) => {
    const { id: tenantId } = await findTenant(database.reader, tenant);
    const lines = new AccountLines(tenantId, await database.reader.select(members, { tenantId }));
    const total = await countLines(file);
    // The report would overwrite the file, which may be the only copy.
    if (reportPath !== undefined && (await isSameFile(file, reportPath)))
      throw new UsageError('--report must not name the imported file');
    const report = reportPath === undefined ? null : await ReportFile.create(reportPath);
    const counts = { lines: 0, opened: 0, known: 0, bad: 0 };
    const shown: LineProblem[] = [];
    const deps = { database, clock, actor: actor(), dryRun };
    try {
      for await (const group of importLines(deps, tenantId, readCsv(file, COLUMNS), lines)) {
        counts.lines += group.length;
        for (const outcome of group) {
          counts[typeof outcome === 'string' ? outcome : 'bad'] += 1;
          if (typeof outcome === 'string') continue;
          shown.push(...outcome.slice(0, MAX_SHOWN - shown.length));
          await report?.write(outcome);
        }
        output.progress(dryRun ? 'Checking' : 'Importing', counts.lines, total);
      }
    } finally {
      await report?.close();
    }
    output.one({ ...counts, dry_run: dryRun });
    if (counts.bad === 0) return;
    for (const { line, column, code, value, message } of shown)
      output.say(
        `line ${line}${column === '' ? '' : `, ${column} ${JSON.stringify(value)}`}: ${message} (${code})`,
      );
    if (reportPath === undefined && counts.bad > MAX_SHOWN)
      output.say('More: --report bad-lines.csv writes all of them.');
    const where = reportPath === undefined ? '' : `; they are in ${reportPath}`;
    throw new OpsError(
      `${counts.bad} of ${counts.lines} lines ${dryRun ? 'would be' : 'were'} refused${where}`,
    );
  },
});

async function isSameFile(known: string, other: string): Promise<boolean> {
  const [one = null, another = null] = await Promise.all(
    [known, other].map((path) => stat(path).catch(() => null)),
  );
  return one !== null && another !== null && one.dev === another.dev && one.ino === another.ino;
}

/**
 * Reads the whole file before the first account is opened, so that an unreadable file opens none.
 */
async function countLines(file: string): Promise<number> {
  let count = 0;
  for await (const _ of readCsv(file, COLUMNS)) count += 1;
  return count;
}
