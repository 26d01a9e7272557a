import assert from 'node:assert/strict';
import { type Instant, instant, toRfc3339 } from '../../../src/core/instant.js';
import { asUuid, newId } from '../../../src/core/ids.js';
import { nullsOf } from '../../../src/db/table.js';
import { SCHEDULE_SIGNALS } from '../../../src/temporal/contracts.js';
import { type Schedule, schedules } from '../../../src/db/entities/schedules.js';
import {
  afterAction,
  afterRun,
  nextOccurrence,
  stateRefusal,
} from '../../../src/transfers/schedules/rules.js';

const NEW_YORK = 'America/New_York';
const BOGOTA = 'America/Bogota';

const at = (text: string): Instant => instant(Date.parse(text));

function scheduleOf(startsAt: string, wanted: Partial<Schedule> = {}): Schedule {
  const start = at(startsAt);
  return {
    ...nullsOf(schedules),
    id: newId(),
    tenantId: newId(),
    sourceAccountId: newId(),
    destinationAccountId: newId(),
    asset: 'COPM',
    raw: 1n,
    createdBy: asUuid('0198f2c4-6a4f-7d11-8c55-b1de3c0a9e44'),
    createdAt: instant(start - 1),
    status: 'active',
    startsAt: start,
    nextRunAt: start,
    runs: 0,
    ...wanted,
  };
}

function every(everyUnit: Schedule['everyUnit'], everyCount = 1): Partial<Schedule> {
  return { everyUnit, everyCount };
}

/** Returns the first `count` occurrences, in order. */
function occurrences(schedule: Schedule, timeZone: string, count: number): (string | null)[] {
  const found: (string | null)[] = [];
  for (let now = schedule; found.length < count;) {
    const { nextRunAt } = now;
    found.push(toRfc3339(nextRunAt));
    if (nextRunAt === null) break;
    now = afterRun(now, nextRunAt, timeZone);
  }
  return found;
}

describe('the occurrences of a schedule', () => {
  const CASES: readonly {
    readonly rule: string;
    readonly schedule: Schedule;
    readonly timeZone?: string;
    readonly expected: readonly (string | null)[];
  }[] = [
    {
      rule: 'a schedule without every runs once',
      schedule: scheduleOf('2026-12-01T14:00:00Z'),
      expected: ['2026-12-01T14:00:00.000Z', null],
    },
    {
      rule: 'days and milliseconds are kept',
      schedule: scheduleOf('2026-12-30T14:00:00.123Z', every('day')),
      expected: [
        '2026-12-30T14:00:00.123Z',
        '2026-12-31T14:00:00.123Z',
        '2027-01-01T14:00:00.123Z',
      ],
    },
    {
      rule: 'a count is of units',
      schedule: scheduleOf('2026-12-01T14:00:00Z', every('week', 2)),
      expected: [
        '2026-12-01T14:00:00.000Z',
        '2026-12-15T14:00:00.000Z',
        '2026-12-29T14:00:00.000Z',
      ],
    },
    {
      rule: 'the 31st is the last day of shorter months and returns to the 31st',
      schedule: scheduleOf('2027-01-31T10:00:00Z', every('month')),
      expected: [
        '2027-01-31T10:00:00.000Z',
        '2027-02-28T10:00:00.000Z',
        '2027-03-31T10:00:00.000Z',
        '2027-04-30T10:00:00.000Z',
        '2027-05-31T10:00:00.000Z',
      ],
    },
    {
      rule: 'the 29th of February exists in leap years',
      schedule: scheduleOf('2027-02-28T10:00:00Z', every('month', 12)),
      expected: ['2027-02-28T10:00:00.000Z', '2028-02-28T10:00:00.000Z'],
    },
    {
      rule: 'a schedule of the 29th of February is on the 28th until the next leap year',
      schedule: scheduleOf('2028-02-29T10:00:00Z', every('month', 12)),
      expected: [
        '2028-02-29T10:00:00.000Z',
        '2029-02-28T10:00:00.000Z',
        '2030-02-28T10:00:00.000Z',
        '2031-02-28T10:00:00.000Z',
        '2032-02-29T10:00:00.000Z',
      ],
    },
    {
      rule: 'the last evening of a month by the local clock is not the first of the next in UTC',
      schedule: scheduleOf('2027-02-01T03:00:00Z', every('month')),
      timeZone: BOGOTA,
      expected: [
        '2027-02-01T03:00:00.000Z',
        '2027-03-01T03:00:00.000Z',
        '2027-04-01T03:00:00.000Z',
      ],
    },
    {
      rule: 'the time of day stays the same when summer begins and ends',
      schedule: scheduleOf('2027-02-01T14:00:00Z', every('month', 3)),
      timeZone: NEW_YORK,
      expected: [
        '2027-02-01T14:00:00.000Z',
        '2027-05-01T13:00:00.000Z',
        '2027-08-01T13:00:00.000Z',
        '2027-11-01T13:00:00.000Z',
        '2028-02-01T14:00:00.000Z',
      ],
    },
    {
      rule: 'a time that the clocks skip is as long after the change, and only on that day',
      schedule: scheduleOf('2027-03-13T07:30:00Z', every('day')),
      timeZone: NEW_YORK,
      expected: [
        '2027-03-13T07:30:00.000Z',
        '2027-03-14T07:30:00.000Z',
        '2027-03-15T06:30:00.000Z',
      ],
    },
    {
      rule: 'of a time that the clocks show twice, the first counts',
      schedule: scheduleOf('2027-11-06T05:30:00Z', every('day')),
      timeZone: NEW_YORK,
      expected: [
        '2027-11-06T05:30:00.000Z',
        '2027-11-07T05:30:00.000Z',
        '2027-11-08T06:30:00.000Z',
      ],
    },
    {
      rule: 'a start in the second of two equal hours is kept',
      schedule: scheduleOf('2027-11-07T06:30:00Z', every('day')),
      timeZone: NEW_YORK,
      expected: ['2027-11-07T06:30:00.000Z', '2027-11-08T06:30:00.000Z'],
    },
    {
      rule: 'ends_at is inclusive',
      schedule: scheduleOf('2026-12-01T14:00:00Z', {
        ...every('day'),
        endsAt: at('2026-12-03T14:00:00Z'),
      }),
      expected: [
        '2026-12-01T14:00:00.000Z',
        '2026-12-02T14:00:00.000Z',
        '2026-12-03T14:00:00.000Z',
        null,
      ],
    },
    {
      rule: 'nothing is due after ends_at',
      schedule: scheduleOf('2026-12-01T14:00:00Z', {
        ...every('day'),
        endsAt: at('2026-12-02T13:59:59.999Z'),
      }),
      expected: ['2026-12-01T14:00:00.000Z', null],
    },
    {
      rule: 'max_runs counts the runs',
      schedule: scheduleOf('2026-12-01T14:00:00Z', { ...every('month'), maxRuns: 2 }),
      expected: ['2026-12-01T14:00:00.000Z', '2027-01-01T14:00:00.000Z', null],
    },
    {
      rule: 'a run beyond the last year that MySQL can store does not exist',
      schedule: scheduleOf('9990-12-01T14:00:00Z', every('month', 366)),
      expected: ['9990-12-01T14:00:00.000Z', null],
    },
  ];
  for (const { rule, schedule, timeZone = 'UTC', expected } of CASES)
    it(rule, () => {
      assert.deepEqual(occurrences(schedule, timeZone, expected.length), expected);
    });

  it('the next run after any moment is the first that follows, however far the clock jumps', () => {
    for (const unit of ['day', 'week', 'month'] as const)
      for (const count of [1, 2, 5, 366])
        for (const timeZone of ['UTC', NEW_YORK, BOGOTA, 'Australia/Lord_Howe']) {
          const schedule = scheduleOf('2027-01-31T07:30:00Z', every(unit, count));
          const all = occurrences(schedule, timeZone, 130).map((one) => at(one ?? ''));
          const [last = 0] = all.slice(-1);
          for (const [number, after] of all.slice(0, -1).entries())
            for (const moment of [after, instant(after + 1), instant((all[number + 1] ?? 0) - 1)])
              assert.equal(nextOccurrence(schedule, moment, timeZone), all[number + 1]);
          assert.ok(last > schedule.startsAt);
        }
  });

  it('happens once, though the rules of the zone have moved its time since it was dated', () => {
    // On 9 August 2022 Chile put its clock change of 4 September off to the 11th.
    const dated = at('2022-09-05T13:00:00Z');
    const schedule = scheduleOf('2022-08-05T14:00:00Z', { ...every('month'), nextRunAt: dated });
    const { nextRunAt } = afterRun({ ...schedule, runs: 1 }, dated, 'America/Santiago');
    assert.equal(toRfc3339(nextRunAt), '2022-10-05T13:00:00.000Z');
  });

  it('runs that are missed stay due in order, one after the other', () => {
    const schedule = scheduleOf('2026-12-01T14:00:00Z', every('day'));
    const late = afterRun(schedule, schedule.startsAt, 'UTC');
    assert.equal(toRfc3339(late.nextRunAt), '2026-12-02T14:00:00.000Z');
    assert.equal(late.runs, 1);
  });
});

describe('the states of a schedule', () => {
  const daily = scheduleOf('2026-12-01T14:00:00Z', every('day'));
  const paused: Schedule = { ...daily, status: 'paused', nextRunAt: null };

  it('only active schedules are paused, only paused ones resumed, and both canceled', () => {
    const allowed = Object.fromEntries(
      (['active', 'paused', 'canceled', 'completed'] as const).map((status) => [
        status,
        SCHEDULE_SIGNALS.filter((action) => stateRefusal({ ...daily, status }, action) === null),
      ]),
    );
    assert.deepEqual(allowed, {
      active: ['pause', 'cancel'],
      paused: ['resume', 'cancel'],
      canceled: [],
      completed: [],
    });
    assert.deepEqual(stateRefusal(paused, 'pause')?.details, {
      current: 'paused',
      allowed: ['active'],
    });
  });

  it('a pause and a cancellation leave no next run', () => {
    for (const [action, status] of [
      ['pause', 'paused'],
      ['cancel', 'canceled'],
    ] as const) {
      const after = afterAction(daily, action, daily.startsAt, 'UTC');
      assert.deepEqual([after.status, after.nextRunAt], [status, null]);
    }
  });

  it('what became due during a pause is skipped, also at the very moment of the resumption', () => {
    const after = afterAction(paused, 'resume', at('2026-12-04T14:00:00Z'), 'UTC');
    assert.equal(after.status, 'active');
    assert.equal(toRfc3339(after.nextRunAt), '2026-12-05T14:00:00.000Z');
    assert.equal(after.runs, 0);
  });

  it('a schedule that is resumed before its start keeps it', () => {
    const after = afterAction(paused, 'resume', at('2026-11-30T00:00:00Z'), 'UTC');
    assert.equal(after.nextRunAt, daily.startsAt);
  });

  it('a schedule without further runs is completed when it is resumed', () => {
    const ended = { ...paused, endsAt: at('2026-12-03T14:00:00Z') };
    for (const one of [ended, { ...paused, ...every(null), everyCount: null }]) {
      const after = afterAction(one, 'resume', at('2026-12-04T14:00:00Z'), 'UTC');
      assert.deepEqual([after.status, after.nextRunAt, after.runs], ['completed', null, 0]);
    }
  });
});
