import type { Uuid } from '../../core/ids.js';
import { integer, time, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { type Schedule, schedules } from '../../db/entities/schedules.js';
import { literals } from '../../db/statements.js';
import { rowParser } from '../../db/table.js';
import type { Expectation } from '../operation-source.js';
import { type AuditRun, byId, type Check, ROWS_PER_SLICE, scanTable } from '../scan.js';

const parseRuns = rowParser({
  id: uuid,
  runs: integer,
  lastRun: integer,
  lastDue: time,
  wrong: integer,
});

/** Checks that each run of a schedule has created one transfer, and that the next one is later. */
export const scheduleChecks: Check = {
  tables: ['schedules'],
  run: (audit) =>
    scanTable(
      audit,
      schedules,
      ROWS_PER_SLICE,
      async (reader, slice) => {
        audit.countRows('schedules', slice.length);
        const ids = slice.map(({ id }) => id);
        const created = await readRuns(reader, ids);
        for (const schedule of slice) checkSchedule(audit, schedule, created.get(schedule.id));
      },
      audit.tenantConditions('tenant_id'),
    ),
};

type Runs = ReturnType<typeof parseRuns>;

/** The id of a schedule as text, by whose hash the index of pairs finds its runs. */
const ID_TEXT = `LOWER(CONCAT_WS('-', SUBSTR(HEX(s.id),1,8), SUBSTR(HEX(s.id),9,4), SUBSTR(HEX(s.id),13,4), SUBSTR(HEX(s.id),17,4), SUBSTR(HEX(s.id),21)))`;

/** Reads the runs of schedules. `wrong` counts those that contradict the schedule or the run before. */
async function readRuns(reader: Reader, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, Runs>> {
  const rows = await reader.query(
    `SELECT id, COUNT(*) AS runs, MAX(run) AS last_run, MAX(due) AS last_due, CAST(SUM(is_wrong) AS SIGNED) AS wrong FROM (
       SELECT s.id, t.schedule_run AS run, t.schedule_due_at AS due, t.schedule_id<>s.id OR t.tenant_id<>s.tenant_id OR t.asset<>s.asset
         OR t.source_account_id<>s.source_account_id OR t.destination_account_id<>s.destination_account_id OR t.raw<>s.raw
         OR t.created_by<>s.created_by OR t.schedule_run<>ROW_NUMBER() OVER before_it
         OR COALESCE(t.schedule_due_at<=LAG(t.schedule_due_at) OVER before_it, FALSE) AS is_wrong
       FROM schedules s STRAIGHT_JOIN metadata_pairs p FORCE INDEX (PRIMARY) ON p.tenant_id=s.tenant_id AND p.resource_type='transfer'
         AND p.value_hash=UNHEX(LEFT(SHA2(${ID_TEXT}, 256), 32)) AND p.name='run of'
       STRAIGHT_JOIN transfers t ON t.id=p.id AND t.schedule_id IS NOT NULL
       WHERE s.id IN (${literals(schedules, 'id', ids)})
       WINDOW before_it AS (PARTITION BY s.id ORDER BY t.schedule_run, t.id)) r GROUP BY id`,
  );
  return new Map(rows.map((row) => parseRuns(row)).map((one) => [one.id, one]));
}

/** Checks that the schedules of scheduled transfers exist. */
export async function checkSchedulesExist(
  audit: AuditRun,
  reader: Reader,
  operations: readonly Expectation[],
): Promise<void> {
  const ids = operations.flatMap(({ scheduleId }) => scheduleId ?? []);
  const known = await byId(reader, schedules, ids);
  for (const { id, scheduleId } of operations)
    if (scheduleId !== null && !known.has(scheduleId))
      audit.report('schedule_of_transfer', `transfer ${id}`, 'its schedule does not exist');
}

function checkSchedule(audit: AuditRun, schedule: Schedule, created: Runs | undefined): void {
  const { id, status, runs, nextRunAt, startsAt, endsAt, maxRuns } = schedule;
  const { runs: found = 0, lastRun = 0, lastDue = null, wrong = 0 } = created ?? {};
  const isLate = nextRunAt !== null && lastDue !== null && nextRunAt <= lastDue;
  const isOutside =
    nextRunAt !== null && (nextRunAt < startsAt || (endsAt !== null && nextRunAt > endsAt));
  audit.reportAll(`schedule ${id}`, {
    schedule_runs:
      (found !== runs || lastRun !== runs) &&
      `it has ${runs} runs, but ${found} transfers, the last of run ${lastRun}`,
    schedule_transfers: wrong > 0 && `${wrong} of its transfers contradict it or are out of order`,
    schedule_next:
      ((status === 'active') !== (nextRunAt !== null) ||
        isLate ||
        isOutside ||
        (maxRuns !== null && runs + (nextRunAt === null ? 0 : 1) > maxRuns)) &&
      'its next run contradicts its state, its end or its last run',
  });
}
