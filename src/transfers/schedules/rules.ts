import { invalidState, type Refusal } from '../../core/errors.js';
import { instant, type Instant, LATEST, momentOf, wallClockOf } from '../../core/instant.js';
import type { Schedule, ScheduleStatus } from '../../db/entities/schedules.js';
import type { ScheduleActionSignal } from '../../temporal/contracts.js';

const DAY_MS = 86_400_000;
/** A schedule starts at most this long after its creation. */
export const MAX_AHEAD_MS = 366 * DAY_MS;
export const MAX_RUNS = 1_000;
export const MAX_EVERY = 366;

type Recurrence = Pick<
  Schedule,
  'startsAt' | 'everyUnit' | 'everyCount' | 'endsAt' | 'maxRuns' | 'runs'
>;

/**
 * Returns the first occurrence after `after`, or null if the schedule has ended. Occurrences keep the
 * wall-clock time of the first; one on a day that its month lacks is on the month's last day.
 * (docs/contract.md, Schedules)
 */
export function nextOccurrence(
  { startsAt, everyUnit: unit, everyCount: count, endsAt, maxRuns, runs }: Recurrence,
  after: Instant,
  timeZone: string,
): Instant | null {
  if (maxRuns !== null && runs >= maxRuns) return null;
  if (startsAt > after) return startsAt;
  if (unit === null || count === null) return null;
  const start = wallClockOf(startsAt, timeZone);
  const elapsed = wallClockOf(after, timeZone).diff(start, unit).as(unit);
  // A clock change, or a short month, may shift the number by one.
  for (let number = Math.max(1, Math.floor(elapsed / count) - 1); ; number += 1) {
    const next = momentOf(start.plus({ [unit]: number * count }).toMillis(), timeZone);
    const isWithin = next <= (endsAt ?? LATEST);
    if (!isWithin || next > after) return isWithin ? next : null;
  }
}

export type ScheduleAction = ScheduleActionSignal['action'];

const ALLOWED: Readonly<Record<ScheduleAction, readonly ScheduleStatus[]>> = {
  pause: ['active'],
  resume: ['paused'],
  cancel: ['active', 'paused'],
};

export function stateRefusal({ status }: Schedule, action: ScheduleAction): Refusal | null {
  const allowed = ALLOWED[action];
  if (allowed.includes(status)) return null;
  const message = `it is ${status}; this is possible only while it is ${allowed.join(' or ')}`;
  return invalidState(message, status, allowed);
}

/** Returns the schedule after the action. What became due before a resumption is skipped. */
export function afterAction(
  schedule: Schedule,
  action: ScheduleAction,
  now: Instant,
  timeZone: string,
): Schedule {
  if (action === 'resume') return withNext(schedule, now, timeZone);
  return { ...schedule, status: action === 'pause' ? 'paused' : 'canceled', nextRunAt: null };
}

/** Returns the schedule after the run that was due at `nextRunAt`. */
export function afterRun(schedule: Schedule, dueAt: Instant, timeZone: string): Schedule {
  return withNext({ ...schedule, runs: schedule.runs + 1 }, pastRun(dueAt), timeZone);
}

/**
 * Returns a moment after the run, however a change of the zone's rules has moved its time since it was
 * dated, and before the next one, which is at least 22 hours later.
 */
export function pastRun(dueAt: Instant): Instant {
  return instant(dueAt + DAY_MS / 2);
}

function withNext(schedule: Schedule, after: Instant, timeZone: string): Schedule {
  const nextRunAt = nextOccurrence(schedule, after, timeZone);
  return { ...schedule, nextRunAt, status: nextRunAt === null ? 'completed' : 'active' };
}
