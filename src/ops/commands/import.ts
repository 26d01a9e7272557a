import { openSync, statSync, writeSync } from 'node:fs';
import { parseAlias, parsePhone } from '../../accounts/recipients.js';
import { importAccounts, type ImportDeps, type NewAccount } from '../../accounts/open-accounts.js';
import type { FieldProblem, Refusal } from '../../core/errors.js';
import type { Uuid } from '../../core/ids.js';
import { type Member, members as memberTable } from '../../db/entities/parties.js';
import { csvLines } from '../../spreadsheets/writing/cells.js';
import { managerCommand } from '../command.js';
import { OpsError, UsageError } from '../failures.js';
import { type CsvLine, readCsv } from '../csv-lines.js';
import { flag, grants, optional, tenant, text } from '../inputs.js';

const MISSING_IDENTIFIER =
  'an alias or a phone is required: by it a second run knows the account again';
const MAX_SHOWN = 20;
/** How many accounts are opened in one transaction. */
const GROUP = 500;

export const importCommand = managerCommand({
  summary: 'open the accounts of a CSV file; importing it again opens nothing twice',
  explanation: `
The file is CSV in UTF-8, at most 64 MiB, with commas or semicolons, and a header of these columns in any order.
Put a value that contains the separator in quotation marks:

  type    person or business
  name    a person's full name or a business's trade name
  alias   begins with $
  phone   in any format; Colombian without a country code
  grant   member=role; several in quotation marks with commas between (may be left out)

Each line needs an alias or a phone. An account of the same type and name with that phone (for a line without a
phone: with that alias) already is the account of the line, so you may import the same file repeatedly: existing accounts
stay as they are. Good lines are opened; each bad line is reported with its line, column, code and value.
The command exits with 1 if there was a bad line.`,
  examples: [
    'accounts import people.csv --tenant acme --dry-run',
    'accounts import people.csv --tenant acme --report bad-lines.csv',
  ],
  input: {
    file: text,
    tenant,
    dryRun: flag('report what would happen, and open nothing'),
    report: optional('<csv> write every bad line into this file'),
  },
  run: async ({ database, clock, actor, output }, { file, tenant, dryRun, report: reportPath }) => {
    const tenantId = tenant.id;
    const members = await database.reader.select(memberTable, { tenantId, isActive: true });
    const lines = readAccountLines(readCsv(file, COLUMNS), tenantId, members);
    const report = reportPath === undefined ? null : openReport(reportPath, file);
    const counts = { lines: 0, opened: 0, known: 0, bad: 0 };
    const shown: LineProblem[] = [];
    const deps = { database, clock, actor: actor(), dryRun };
    for (let at = 0; at < lines.length; at += GROUP) {
      const group = lines.slice(at, at + GROUP);
      counts.lines += group.length;
      for (const outcome of await importLines(deps, tenantId, group)) {
        counts[typeof outcome === 'string' ? outcome : 'bad'] += 1;
        if (typeof outcome === 'string') continue;
        shown.push(...outcome.slice(0, MAX_SHOWN - shown.length));
        const rows = outcome.map((one) => REPORTED.map((name) => String(one[name])));
        if (report !== null) writeSync(report, csvLines(rows, [], '\n'));
      }
      output.progress(dryRun ? 'Checking' : 'Importing', counts.lines, lines.length);
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

/**
 * Creates or overwrites the file for bad lines, readable only by its owner because it has personal
 * data. The process closes it when it ends.
 */
function openReport(path: string, imported: string): number {
  try {
    const [known, given] = [statSync(imported), statSync(path, { throwIfNoEntry: false })];
    // The report would overwrite the file, which may be the only copy.
    if (given !== undefined && known.dev === given.dev && known.ino === given.ino)
      throw new UsageError('--report must not name the imported file');
    const report = openSync(path, 'w', 0o600);
    writeSync(report, `${REPORTED.join(',')}\n`);
    return report;
  } catch (failure) {
    if (failure instanceof UsageError) throw failure;
    throw new OpsError(
      `${path} cannot be written: ${failure instanceof Error ? failure.message : String(failure)}`,
    );
  }
}

const COLUMNS = { required: ['type', 'name'], optional: ['alias', 'phone', 'grant'] };

const REPORTED = ['line', 'column', 'code', 'value', 'message'] as const;

/**
 * A problem of a line. `code` is a code of the API, or duplicate_line, missing_identifier,
 * wrong_column_count, unknown_member.
 */
type LineProblem = Readonly<Record<(typeof REPORTED)[number], string | number>>;

type AccountLine =
  | { readonly line: CsvLine; readonly account: NewAccount }
  | { readonly problems: readonly LineProblem[] };

type AddProblem = (column: string, code: string, message: string) => void;

/** Checks the lines of one file. No line may name the alias or phone of an earlier line. */
function readAccountLines(
  lines: readonly CsvLine[],
  tenantId: Uuid,
  members: readonly Member[],
): readonly AccountLine[] {
  const memberIds = new Map(members.map(({ id, name }) => [name, id]));
  const named = new Map<string, number>();
  return lines.map((line) => {
    const { type = '', name = '', alias = '', phone = '', grant = '' } = line.values;
    const problems: LineProblem[] = [];
    const addProblem: AddProblem = (column, code, message) => {
      problems.push({ line: line.number, column, code, value: line.values[column] ?? '', message });
    };
    /** `stored` is the canonical value, or null if absent or malformed, which opening reports. */
    const nameOnce = (column: 'alias' | 'phone', stored: string | null): void => {
      if (stored === null) return;
      const earlier = named.get(stored);
      if (earlier === undefined) named.set(stored, line.number);
      else addProblem(column, 'duplicate_line', `line ${earlier} has this ${column} too`);
    };
    if (line.fault !== null) addProblem('', 'wrong_column_count', line.fault);
    if (type !== 'person' && type !== 'business')
      addProblem('type', 'invalid_field', 'must be person or business');
    if (name === '') addProblem('name', 'missing_field', 'is required');
    if (alias === '' && phone === '') addProblem('', 'missing_identifier', MISSING_IDENTIFIER);
    nameOnce('alias', parseAlias(alias));
    nameOnce('phone', parsePhone(phone));
    const granted = readGrants(grant, memberIds, addProblem);
    if (problems.length > 0 || (type !== 'person' && type !== 'business')) return { problems };
    const names = { alias: alias || null, phone: phone || null };
    return { line, account: { tenantId, type, name, ...names, grants: granted } };
  });
}

function readGrants(text: string, memberIds: ReadonlyMap<string, Uuid>, addProblem: AddProblem) {
  const parsed = grants.safeParse(text);
  if (!parsed.success) {
    addProblem('grant', 'invalid_field', parsed.error.issues[0]?.message ?? 'malformed');
    return [];
  }
  return parsed.data.flatMap(({ name, role }) => {
    const memberId = memberIds.get(name);
    if (memberId !== undefined) return [{ memberId, role }];
    addProblem('grant', 'unknown_member', `the tenant has no member ${name}`);
    return [];
  });
}

/** Opens the accounts of valid lines; returns whether each was opened or known, or its problems. */
async function importLines(
  deps: ImportDeps,
  tenantId: Uuid,
  group: readonly AccountLine[],
): Promise<readonly ('opened' | 'known' | readonly LineProblem[])[]> {
  const accounts = group.flatMap((line) => ('account' in line ? line.account : []));
  const outcomes = (await importAccounts(deps, tenantId, accounts)).values();
  return group.map((line) => {
    if ('problems' in line) return line.problems;
    const outcome = outcomes.next().value;
    if (outcome === undefined) throw new Error('a line has no outcome');
    return typeof outcome === 'string' ? outcome : problemsOf(line.line, outcome);
  });
}

/** Returns why a line's account was refused, as a problem for each column concerned. */
function problemsOf(line: CsvLine, { code, message, details }: Refusal): readonly LineProblem[] {
  const fields = (details?.errors ?? [
    { code, field: code === 'phone_taken' ? 'phone' : 'alias', reason: message },
  ]) as readonly FieldProblem[];
  return fields.map(({ code: own, field, reason }) => {
    const column = field === 'grants' ? 'grant' : field;
    const value = line.values[column] ?? '';
    return { line: line.number, column, code: own, value, message: reason };
  });
}
