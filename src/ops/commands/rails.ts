import { disjunction, isAsset, parseRaw } from '../../core/amount.js';
import { parsedTextSchema } from '../../core/checked-text.js';
import { openPayoutBatches } from '../../batches/row-storage.js';
import { parseUuid, type Uuid } from '../../core/ids.js';
import { parseRfc3339, toRfc3339 } from '../../core/instant.js';
import { counted } from '../../core/collections.js';
import { integer, string } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import type { Batch } from '../../db/entities/batches.js';
import { LINE_STATUSES, railBreakers } from '../../db/entities/rails.js';
import { httpRail, OWN_RAILS } from '../../payouts/rails/rail.js';
import { RAIL_REFERENCE } from '../../payouts/rails/wire.js';
import { type Difference, DIFFERENCES } from '../../payouts/statements/compare.js';
import { DEFAULT_DELAY_MS, reconcile } from '../../payouts/statements/reconcile.js';
import { dayText, type LineInput } from '../../payouts/statements/store.js';
import { describeRow } from '../../restores/rules.js';
import { csvLines } from '../../spreadsheets/writing/cells.js';
import { command, query } from '../command.js';
import { type CsvLine, readCsv } from '../csv-lines.js';
import { OpsError } from '../failures.js';
import { PROGRAM } from '../help.js';
import { flag, option } from '../inputs.js';
import type { Fields } from '../fields.js';

export const railCommands = {
  list: query({
    isDefault: true,
    summary: 'each rail: whether it answers, and how many payouts wait for it',
    explanation: `
A rail is open if several calls in a row, about different payouts, had no answer: no payout is submitted to it, and nothing is
lost. A worker tries it again by itself with one payout (half_open); when it answers it is closed, and waiting payouts
continue.`,
    examples: ['rails list', 'rails list --json'],
    run: async ({ database: { reader }, config, output }) => {
      const configured = [...OWN_RAILS, ...Array.from(config.PAYOUT_RAIL_URLS.keys(), httpRail)];
      const rows = await listRails(reader, configured);
      output.list(rows, 'No results.', { detailsOnly: ['last_failure_at', 'probes'] });
    },
  }),
};

/** Returns the rails that are configured, have pending payouts or have not responded, by name. */
async function listRails(reader: Reader, configured: readonly string[]): Promise<Fields[]> {
  const [breakers, rows] = await Promise.all([
    reader.select(railBreakers, {}),
    reader.query(
      `SELECT rail, COUNT(IF(status='approved',1,NULL)) AS approved,
         COUNT(IF(status='in_progress',1,NULL)) AS in_progress
       FROM payouts FORCE INDEX (expiring) WHERE status IN ('approved','in_progress') GROUP BY rail`,
    ),
  ]);
  const breakerOf = new Map(breakers.map((breaker) => [breaker.rail, breaker]));
  const countsOf = new Map(rows.map((row) => [string.parse(row.rail), row]));
  const rails = new Set([...configured, ...breakerOf.keys(), ...countsOf.keys()]);
  return [...rails].toSorted().map((rail) => {
    const breaker = breakerOf.get(rail);
    const { approved = 0, in_progress: inProgress = 0 } = countsOf.get(rail) ?? {};
    return {
      rail,
      state: breaker?.state ?? 'closed',
      since: toRfc3339(breaker?.since ?? null),
      failures: breaker?.failures ?? 0,
      last_failure: breaker?.lastFailure ?? null,
      last_failure_at: toRfc3339(breaker?.lastFailureAt ?? null),
      probes: breaker?.probes ?? 0,
      next_probe_at: toRfc3339(breaker?.probeAt ?? null),
      approved: integer.parse(approved),
      in_progress: integer.parse(inProgress),
    };
  });
}

const COLUMNS = {
  required: ['key', 'status', 'raw', 'asset'],
  optional: ['reference', 'at'],
} as const;

const EXPLANATION = `
The statement is CSV in UTF-8 with the columns key (the payout's id), status (completed, failed, returned), raw and asset;
reference and at are optional. It has a line for each outcome of the day (UTC); a day without outcomes has only the
header.

${Object.entries(DIFFERENCES)
  .map(([name, meaning]) => `  ${name.padEnd(15)} ${meaning}`)
  .join('\n')}

Every line is kept and compared with those of all other days. Loading the same file again changes nothing; a corrected file
replaces the day's earlier one, and clears the flags that only its lines raised. A file whose lines are all loaded for another
day, or are all dated more than two days from --date, is refused. No money moves: a line that contradicts a payout (amount, state, paid_twice,
reference) flags it, and payouts stuck shows it. docs/payouts.md explains each difference.
PAYOUT_RAIL_STATEMENT_DELAY_S sets how late a rail may date its lines. The command exits with 1 if there is a difference.`;

export const day = parsedTextSchema(
  (given) => (/^\d{4}-\d{2}-\d{2}$/.test(given) ? parseRfc3339(`${given}T00:00:00Z`) : null),
  (given) => `${given} is not a day: write it as 2026-11-21`,
);

export const reconcileCommand = command({
  summary: "load a rail's statement of a day, and compare it with the payouts",
  explanation: EXPLANATION,
  examples: [
    'payouts reconcile --rail http:bank-a --date 2026-11-21 --statement bank-a-2026-11-21.csv',
    'payouts reconcile --rail http:bank-a --date 2026-11-21 --statement bank-a-2026-11-21.csv --csv',
  ],
  input: {
    rail: option(`<rail> as payouts name it: ${disjunction([...OWN_RAILS, httpRail('NAME')])}`),
    date: option('<day> the day of the statement, UTC: 2026-11-21', day),
    statement: option("<csv> the rail's statement"),
    csv: flag('print the differences as CSV'),
  },
  needs: 'resolve',
  run: async (ops, { rail, date, statement, csv }) => {
    const { output, clock } = ops;
    if (date > clock()) throw new OpsError(`${dayText(date)} is in the future`);
    const lines = readCsv(statement, COLUMNS).map(readLine);
    const delayMs = ops.config.PAYOUT_RAIL_STATEMENT_DELAY_S.get(rail) ?? DEFAULT_DELAY_MS;
    const deps = { database: ops.database, writer: ops.writer, delayMs };
    const found = await reconcile(deps, { rail, day: date, lines }, ops.actor(), clock());
    const batchOf = await openPayoutBatches(ops.database.reader);
    const rows = found.differences.map((one) => differenceFields(one, batchOf));
    if (csv) {
      const cells = rows.map((row) => Object.values(row).map((value) => String(value ?? '')));
      output.verbatim(csvLines([HEADER, ...cells], [], '\n'));
    } else output.list(rows, 'No differences: the statement and the payouts agree.');
    const { version } = found.statement;
    const repetition = found.isUnchanged ? ' before' : ` as version ${version} of the day`;
    const taken = `${counted(lines.length, 'line')} taken${found.isUnchanged || version > 1 ? repetition : ''}`;
    output.say(`${taken}, ${counted(rows.length, 'difference')}.`);
    if (found.flagged > 0)
      output.say(`${found.flagged} of them flagged a payout as stuck: ${PROGRAM} payouts stuck`);
    if (found.cleared > 0)
      output.say(
        `${counted(found.cleared, 'payout')} no longer flagged, because the line was withdrawn.`,
      );
    if (rows.length > 0) process.exitCode = 1;
  },
});

/** Throws OpsError for an invalid line, because a missing line would look like a difference. */
function readLine({ number, values, fault }: CsvLine): LineInput {
  const wrong = (what: string) => new OpsError(`line ${number} of the statement ${what}`);
  if (fault !== null) throw wrong(`is wrong: ${fault}`);
  const { asset = '', reference = '' } = values;
  const payoutKey = parseUuid(values.key ?? '');
  const status = LINE_STATUSES.find((one) => one === values.status);
  const raw = parseRaw(values.raw ?? '');
  if (payoutKey === null || status === undefined || raw === null || !isAsset(asset))
    throw wrong('has an invalid key, status, raw or asset');
  if (reference !== '' && !RAIL_REFERENCE.test(reference))
    throw wrong(`has an invalid reference: it must match ${RAIL_REFERENCE.source}`);
  const at = parseRfc3339(values.at ?? '');
  if (at === null && (values.at ?? '') !== '')
    throw wrong('has an invalid time in "at": write it as 2026-11-21T09:30:00Z');
  return { number, payoutKey, status, raw, asset, reference: reference || null, at };
}

const HEADER = ['difference', 'payout_id', 'day', 'line', 'there', 'here'];

/** Names a row of a batch that has no payout yet, as after a restore: it is debited when the batch is executed. */
function differenceFields(
  { difference, payoutId, day: of, line, there, here }: Difference,
  batchOf: (rowId: Uuid) => Batch | undefined,
) {
  const batch = difference === 'missing_here' && payoutId !== null ? batchOf(payoutId) : undefined;
  const known = batch === undefined ? here : describeRow(batch);
  return { difference, payout_id: payoutId, day: dayText(of), line, there, here: known };
}
