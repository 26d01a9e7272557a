import { listActs, parseDetails } from '../../access/audit-log.js';
import { type Amount, formatAmount } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import { localTime } from '../../core/calendar.js';
import { type Instant, parseRfc3339 } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import type { AuditRow } from '../../db/entities/identity.js';
import type { Entry } from '../../db/entities/ledger.js';
import { members } from '../../db/entities/parties.js';
import { approvals } from '../../db/entities/approvals.js';
import { deliveriesOf, entriesOf, eventsAbout, type DeliveryHistory } from './ledger.js';
import { readNames } from './transfers.js';

/** A change or message in the timeline of a resource, in order of time. */
export interface TimelineLine {
  readonly at: Instant;
  readonly what: string;
  readonly by: string | null;
  readonly details: readonly string[];
}

interface Subject {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly timeZone: string;
  readonly accountIds: readonly Uuid[];
  /** Times of changes according to the resource's row. */
  readonly instants: readonly (Instant | null)[];
  /** Lines added by the feature. */
  readonly lines: readonly TimelineLine[];
}

const MAX_ACTIONS = 200;

export async function readTimeline(
  reader: Reader,
  subject: Subject,
): Promise<readonly TimelineLine[]> {
  const { id, tenantId, timeZone, accountIds, lines } = subject;
  const [acts, given] = await Promise.all([
    listActs(reader, { subjectId: id }, MAX_ACTIONS),
    reader.select(approvals, { resourceId: id }),
  ]);
  const known = [
    ...subject.instants,
    ...acts.map(({ at }) => at),
    ...given.map(({ createdAt }) => createdAt),
  ];
  const instants = [...known, ...lines.map(({ at }) => at)].flatMap((at) => at ?? []);
  const place = { id, tenantId, accountIds, instants };
  const [entries, events] = await Promise.all([
    entriesOf(reader, place),
    eventsAbout(reader, place),
  ]);
  const [names, people, deliveries] = await Promise.all([
    readNames(
      reader,
      entries.map(({ accountId }) => accountId),
    ),
    readPeople(reader, acts),
    deliveriesOf(reader, tenantId, events),
  ]);
  return [
    ...lines,
    ...acts.reverse().map((act) => actionLine(act, people, timeZone)),
    ...entries.map((entry) => entryLine(entry, names.get(entry.accountId) ?? entry.accountId)),
    ...events.map(({ createdAt, type, id: eventId, sequence }) => ({
      at: createdAt,
      what: `Event ${type}`,
      by: null,
      details: [`number ${sequence} of the tenant's log, ${eventId}`],
    })),
    ...deliveries.flatMap(attemptLines),
  ].sort((one, other) => one.at - other.at);
}

/** Returns only staff actions, for resources without postings and events. */
export async function readStaffActions(
  reader: Reader,
  id: Uuid,
  timeZone: string,
): Promise<readonly TimelineLine[]> {
  const acts = await listActs(reader, { subjectId: id }, MAX_ACTIONS);
  const people = await readPeople(reader, acts);
  return acts.reverse().map((act) => actionLine(act, people, timeZone));
}

async function readPeople(
  reader: Reader,
  acts: readonly AuditRow[],
): Promise<ReadonlyMap<string, string>> {
  const ids = acts.flatMap(({ actorClaimed: name }) =>
    name.startsWith('member:') ? [name.slice('member:'.length) as Uuid] : [],
  );
  const found = ids.length === 0 ? [] : await reader.select(members, { id: [...new Set(ids)] });
  return new Map(found.map(({ id, name }) => [`member:${id}`, name]));
}

/** Texts for actions in the audit log. Actions without a text are shown unchanged. */
const WORDS: Readonly<Record<string, string>> = {
  approve: 'Approved',
  reject: 'Rejected',
  cancel: 'Canceled',
  pause: 'Paused',
  resume: 'Resumed',
  retry_now: 'Retry asked for',
  propose: 'Proposed',
  resolve_propose: 'Resolution proposed',
  resolve_approve: 'Resolution applied',
  resolve_reject: 'Resolution rejected',
  void: 'Rail asked to void it',
  retry: 'Rail asked again',
};

function actionLine(
  act: AuditRow,
  people: ReadonlyMap<string, string>,
  timeZone: string,
): TimelineLine {
  const verb = act.action.slice(act.action.indexOf('.') + 1);
  const isRefused = verb.endsWith('_refused');
  const plain = isRefused ? verb.slice(0, -'_refused'.length) : verb;
  const word = WORDS[plain] ?? plain.replaceAll('_', ' ');
  const details = Object.entries(parseDetails(act))
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => {
      const at = parseRfc3339(String(value));
      return `${name.replaceAll('_', ' ')}: ${at === null ? String(value) : localTime(at, timeZone)}`;
    });
  const name = people.get(act.actorClaimed) ?? act.actorClaimed;
  const door = {
    api: "the tenant's program",
    ops: 'command line',
    temporal: 'signal',
    support: 'support desk',
  };
  const what = isRefused ? `Refused: ${word.toLowerCase()}` : word;
  return {
    at: act.at,
    what,
    by: `${name === '' ? 'nobody named' : name} (${door[act.channel]})`,
    details,
  };
}

function entryLine(
  { raw, asset, kind, seq, createdAt, totalAfter }: Entry,
  account: string,
): TimelineLine {
  const sum: Amount = { raw: raw < 0n ? -raw : raw, asset };
  return {
    at: createdAt,
    what: `Ledger: ${formatAmount(sum)} ${raw < 0n ? 'from' : 'to'} ${account}`,
    by: null,
    details: [
      `${kind.replaceAll('_', ' ')}, entry ${seq}, ${formatAmount({ raw: totalAfter, asset })} after it`,
    ],
  };
}

/** Length to which the response of a receiver is cut. */
const MAX_SHOWN = 200;

export function attemptLines({
  url,
  delivery,
  attempts,
}: DeliveryHistory): readonly TimelineLine[] {
  return attempts.map(({ at, status, failure, message, response, durationMs }, index) => ({
    at,
    what: `Webhook ${delivery.eventType}, attempt ${index + 1}: ${status ?? failure ?? 'no answer'}`,
    by: null,
    details: [
      url,
      `${durationMs} ms, now ${delivery.state}`,
      message ?? '',
      (response ?? '').slice(0, MAX_SHOWN),
    ].filter((detail) => detail !== ''),
  }));
}
