import { newId, type Uuid } from '../../src/core/ids.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { uuid } from '../../src/db/columns.js';
import { type Schedule, schedules } from '../../src/db/entities/schedules.js';
import { insertSql } from '../../src/db/statements.js';
import { nullsOf } from '../../src/db/table.js';
import { runIfDue } from '../../src/transfers/schedules/run.js';
import type { TestDatabase } from '../helpers/database.js';
import { LEAST } from '../helpers/bank.js';
import { makeAccount, makeTenant, NOBODY, openWriter } from '../helpers/world.js';
import { type Damages, damageTests } from './damages.js';

const DAY_MS = 86_400_000;

/** A daily schedule with two runs, and another's transfer without one. */
interface Victims {
  readonly tenantId: Uuid;
  readonly schedule: Schedule;
}

const own = ({ schedule }: Victims): string => uuid.literal(schedule.id);
const ofRun = (victims: Victims, run: number): string =>
  `schedule_id=${own(victims)} AND schedule_run=${run}`;

const DAMAGES: Damages<Victims> = {
  'a run that is counted, but has no transfer': [
    (victims) => `UPDATE schedules SET runs=3 WHERE id=${own(victims)}`,
    ['schedule_runs'],
  ],
  'a run that is not counted': [
    (victims) => `UPDATE schedules SET runs=1 WHERE id=${own(victims)}`,
    ['schedule_runs'],
  ],
  'a transfer that has lost its schedule': [
    (victims) =>
      `UPDATE transfers SET schedule_id=NULL, schedule_run=NULL, schedule_due_at=NULL WHERE ${ofRun(victims, 2)}`,
    ['operation_metadata', 'schedule_runs'],
  ],
  'a gap in the runs': [
    (victims) => [
      `UPDATE schedules SET runs=3 WHERE id=${own(victims)}`,
      `UPDATE transfers SET schedule_run=3 WHERE ${ofRun(victims, 2)}`,
    ],
    ['schedule_runs', 'schedule_transfers'],
  ],
  'a run that was due before the one before it': [
    (victims) =>
      `UPDATE transfers SET schedule_due_at=schedule_due_at-INTERVAL 2 DAY WHERE ${ofRun(victims, 2)}`,
    ['schedule_transfers'],
  ],
  'a run by another member': [
    (victims) =>
      `UPDATE transfers SET created_by=${uuid.literal(newId())} WHERE ${ofRun(victims, 1)}`,
    ['schedule_transfers'],
  ],
  'a schedule that is deleted': [
    (victims) => `DELETE FROM schedules WHERE id=${own(victims)}`,
    ['schedule_of_transfer', 'schedule_of_transfer'],
  ],
  'a next run that was due already': [
    (victims) =>
      `UPDATE schedules SET next_run_at=next_run_at-INTERVAL 1 DAY WHERE id=${own(victims)}`,
    ['schedule_next'],
  ],
  'a next run after the end': [
    (victims) =>
      `UPDATE schedules SET ends_at=next_run_at-INTERVAL 1 SECOND WHERE id=${own(victims)}`,
    ['schedule_next'],
  ],
  'a next run beyond the number of runs': [
    (victims) => `UPDATE schedules SET max_runs=2 WHERE id=${own(victims)}`,
    ['schedule_next'],
  ],
};

async function makeVictims({ database }: TestDatabase): Promise<Victims> {
  const parts = openWriter(database);
  const tenant = await makeTenant(database);
  const from = await makeAccount({ database, writer: parts.writer }, tenant, {
    funds: { COPM: 10n * LEAST },
  });
  const to = await makeAccount({ database, writer: parts.writer }, tenant);
  const startsAt = instant(Date.now() - 1.5 * DAY_MS);
  const schedule: Schedule = {
    ...nullsOf(schedules),
    ...{ id: newId(), tenantId: tenant.tenant.id, createdBy: tenant.owner.id },
    ...{ sourceAccountId: from.id, destinationAccountId: to.id, asset: 'COPM', raw: LEAST },
    ...{ createdAt: startsAt, startsAt, nextRunAt: startsAt, status: 'active', runs: 0 },
    ...{ everyUnit: 'day', everyCount: 1 },
  };
  await database.withTransaction((transaction) =>
    transaction.execute(insertSql(schedules, [schedule])),
  );
  const deps = { database, clock: systemClock, writer: parts.writer, notifier: NOBODY };
  while ((await runIfDue(deps, schedule.id)).dueInMs === 0);
  return { tenantId: tenant.tenant.id, schedule };
}

describe('the auditor, where a schedule is damaged:', () => {
  damageTests(DAMAGES, { name: 'schedules', makeVictims, ofNoTenant: [] });
});
