import { ApiError } from './errors.js';
import type { components } from './generated/schema.js';
import type { List } from './list.js';
import { pause } from './pause.js';
import type { QueryOf, ResultOf } from './shapes.js';

export type Event = components['schemas']['Event'];
export type EventType = Event['type'];

type EventPage = ResultOf<'listEvents'>;

/** An event of the log, and the position after it. */
export interface Followed {
  readonly event: Event;
  /** Store it together with the event's effects. Given as `from`, it continues with the next event. */
  readonly position: string;
}

export interface FollowOptions {
  /** A stored position, or `headOfEvents()`; by default the log's oldest event. */
  readonly from?: string;
  /** Follows only events of this type. A position belongs to the type with which it was made. */
  readonly type?: EventType;
  /** How long to wait before the next request if a page has no events, in ms; by default 1,000. */
  readonly pollMs?: number;
  /** Stops following. */
  readonly signal?: AbortSignal;
}

export type ListEvents = (
  query: QueryOf<'listEvents'>,
  options: { readonly signal?: AbortSignal },
) => List<EventPage>;

/** A cursor to a page or to what follows it, and the last event seen. */
interface Position {
  readonly cursor: string | undefined;
  /** The lower bound on created_at with which the cursor was made. */
  readonly since: string | undefined;
  readonly sequence: number;
}

const START: Position = { cursor: undefined, since: undefined, sequence: 0 };
const PAGE = 100;
const POLL_MS = 1_000;
/** Events of several processes may be numbered in a different order than they are dated. */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * Yields every event once, in order, and then new events as they arrive, without end. Throws what a
 * call throws. The caller can continue from the last position.
 */
export async function* follow(
  list: ListEvents,
  options: FollowOptions,
): AsyncGenerator<Followed, void, undefined> {
  const { type, pollMs = POLL_MS, signal } = options;
  const calling = signal === undefined ? {} : { signal };
  const filter = { order: 'asc', limit: PAGE, ...(type === undefined ? {} : { type }) } as const;
  const start = options.from === undefined ? START : readPosition(options.from);
  const { since } = start;
  let { cursor, sequence } = start;
  while (signal?.aborted !== true) {
    const page = await list(
      { ...filter, ...(since === undefined ? {} : { 'created_at[gte]': since }) },
      calling,
    )
      .page(cursor)
      .catch((error: unknown) => {
        if (signal?.aborted !== true) throw error;
        return null;
      });
    if (page === null) return;
    if (cursor === undefined && isOvertaken(sequence, page)) throw expiredError();
    // In ascending order a cursor is never null. It leads to what follows the page's last event.
    const next = page.next_cursor ?? cursor;
    for (const event of page.items) {
      if (event.sequence <= sequence) continue;
      sequence = event.sequence;
      // After a page's last event, the position leads behind the page, which retention may remove.
      yield {
        event,
        position: writePosition({
          cursor: event === page.items.at(-1) ? next : cursor,
          since,
          sequence,
        }),
      };
    }
    cursor = next;
    if (page.items.length < PAGE) await pause(pollMs, signal);
  }
}

/**
 * Returns whether retention has removed events after this position. The service reports this only for
 * a cursor. A restore's gap does not count as a loss.
 */
function isOvertaken(sequence: number, { first_sequence: first, gaps }: EventPage): boolean {
  if (sequence === 0 || first === null || first <= sequence + 1) return false;
  return !gaps.some(({ after, before }) => after <= sequence && before >= first);
}

/** Returns the error with which the service refuses a cursor whose events retention has removed. */
function expiredError(): ApiError<'invalid_field'> {
  const problem = { code: 'invalid_field', field: 'cursor', reason: 'expired' } as const;
  const message = 'the log no longer contains the events that followed this position';
  return new ApiError('invalid_field', message, { ...problem, errors: [problem] }, 400, '', null);
}

/** Returns the position after the newest event. */
export async function head(list: ListEvents): Promise<string> {
  const [newest] = (await list({ limit: 1 }, {}).page()).items;
  if (newest === undefined) return writePosition(START);
  const since = new Date(Date.parse(newest.created_at) - CLOCKS_DIFFER_MS).toISOString();
  return writePosition({ cursor: undefined, since, sequence: newest.sequence });
}

function writePosition({ cursor = '', since = '', sequence }: Position): string {
  return `${sequence} ${since} ${cursor}`;
}

/** Throws TypeError if it is not a position. */
function readPosition(text: string): Position {
  const [sequence = '', since, cursor, ...others] = text.split(' ');
  if (
    !/^\d{1,15}$/.test(sequence) ||
    since === undefined ||
    cursor === undefined ||
    others.length > 0
  )
    throw new TypeError('this is not a position in the log');
  return {
    sequence: Number.parseInt(sequence, 10),
    since: since || undefined,
    cursor: cursor || undefined,
  };
}
