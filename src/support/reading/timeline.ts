import { type AuditDetails, listAuditRows, parseDetails } from '../../access/audit-log.js';
import { type Amount, formatAmount, isAsset } from '../../core/amount.js';
import { parseUuid, type Uuid } from '../../core/ids.js';
import { type Instant, localTime, parseRfc3339 } from '../../core/instant.js';
import { counted } from '../../core/collections.js';
import type { Reader } from '../../db/database.js';
import { auditLog, type AuditRow } from '../../db/entities/identity.js';
import { holds } from '../../db/entities/ledger.js';
import { isAboutChange, REMARKS, takerOf } from '../../staff/remarks.js';
import { deliveriesOf, entriesOf, eventsAbout } from './ledger.js';
import { type Names, namesOf } from './transfers.js';

/** A name, and where the person belongs or acted. */
interface Actor {
  readonly name: string;
  readonly as: string;
}

export interface TimelineLine {
  readonly at: Instant;
  readonly what: string;
  readonly by: Actor | null;
  readonly details: string;
}

export type History = Awaited<ReturnType<typeof readHistory>>;

/** Accounts and times with which the postings and events of a resource are found. */
export interface HistorySource {
  readonly accountIds: readonly Uuid[];
  /** Times of changes according to the resource's row. */
  readonly instants: readonly (Instant | null)[];
  readonly lines: readonly TimelineLine[];
}

const NO_SOURCE: HistorySource = { accountIds: [], instants: [], lines: [] };
const MAX_ACTIONS = 200;

/** Reads the history of a resource. Without `source`, its timeline has only staff actions. */
export async function readHistory(
  reader: Reader,
  { id, tenantId }: { readonly id: Uuid; readonly tenantId: Uuid },
  { timeZone, now }: { readonly timeZone: string; readonly now: Instant },
  source: HistorySource | undefined,
) {
  const { accountIds, lines, instants: known } = source ?? NO_SOURCE;
  const [rows, hold] = await Promise.all([
    listAuditRows(reader, { subjectId: id }, MAX_ACTIONS),
    reader.find(holds, { resourceId: id }),
  ]);
  const auditRows = rows.filter(isAboutChange);
  const instants = [...known, ...[...auditRows, ...lines].map(({ at }) => at)].flatMap(
    (at) => at ?? [],
  );
  const changed = { id, tenantId, accountIds, instants: source === undefined ? [] : instants };
  const members = auditRows.flatMap(({ actorClaimed }) => memberOf(actorClaimed) ?? []);
  const [entries, events, names] = await Promise.all([
    entriesOf(reader, changed),
    eventsAbout(reader, changed),
    namesOf(reader, [
      ...accountIds.map((accountId) => ({ tenantId, accountId })),
      ...members.map((createdBy) => ({ tenantId, createdBy })),
    ]),
  ]);
  const eventIds = events.map((event) => event.id);
  const [resent, deliveries] = await Promise.all([
    eventIds.length === 0 ? [] : reader.select(auditLog, { subjectId: eventIds }),
    deliveriesOf(reader, tenantId, events),
  ]);
  const actions = [
    ...lines,
    ...[...auditRows.reverse(), ...resent].map((row) => actionLine(row, names, timeZone)),
  ];
  // An event that an action caused has the same word as the action, except that of a canceled transfer.
  const words = actions.flatMap(({ what }) => (what === 'Canceled' ? [what, 'Rejected'] : [what]));
  const otherEvents = events
    .map(({ createdAt, type }) => line(createdAt, sentenceCase(type.replace(/^.*\./, ''))))
    .filter(({ what }) => !words.includes(what));
  const timeline = [...actions, ...otherEvents].sort((one, other) => one.at - other.at);
  const notes = rows.filter(({ action }) => action === REMARKS.note);
  const taker = takerOf(rows, now);
  return { timeline, notes, taker, entries, hold, events, deliveries, names };
}

export function line(
  at: Instant,
  what: string,
  by: Actor | null = null,
  details = '',
): TimelineLine {
  return { at, what, by, details };
}

export function memberLine(at: Instant, what: string, name: string): TimelineLine {
  return line(at, what, { name, as: 'member of the tenant' });
}

export function sentenceCase(code: string): string {
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Returns the id of a tenant's member who acted. Null for the staff. */
function memberOf(actor: string): Uuid | null {
  return actor.startsWith('member:') ? parseUuid(actor.slice('member:'.length)) : null;
}

const ACTION_WORDS: Readonly<Record<string, string>> = {
  approve: 'approved',
  post: 'posted',
  reject: 'rejected',
  cancel: 'canceled',
  pause: 'paused',
  resume: 'resumed',
  propose: 'proposed',
  open: 'opened',
  close: 'closed',
  add: 'added',
  register: 'registered',
  change: 'changed',
  remove: 'removed',
  release: 'released',
  retry_now: 'retry requested',
  redeliver: 'sent again',
  freeze: 'frozen',
  unfreeze: 'released',
  verify: 'verified',
  verification_replace: 'verification replaced',
  reset_clock: 'clock reset',
  recover: 'resending of missed events requested',
  clear: 'set back to those of its type',
  request: 'change requested',
  withdraw: 'change withdrawn',
  take_effect: 'change in effect',
  set_fee_account: 'fee account set',
  set_policy_delay: 'delay of weaker approval policies set',
  set_quotas: 'quotas set',
  resolve_propose: 'resolution proposed',
  resolve_approve: 'resolution applied',
  resolve_reject: 'resolution rejected',
  void: 'rail asked to cancel the payment',
  retry: 'rail asked again',
};

/** Words for the names of recorded details. Other names are shown with spaces. */
const DETAIL_NAMES: Readonly<Record<string, string>> = {
  threshold: 'needs approval from',
  approvals: 'approvals needed',
  expires_in_s: 'expires after',
  refuses_batches: 'refuses batches that need approval',
  effective_at: 'takes effect',
  minimum: 'smallest amount',
  maximum: 'largest amount',
  month: 'most in a month',
  flat: 'fixed fee',
  floor: 'smallest fee',
  cap: 'largest fee',
  raw: 'amount',
};
/** Details that the timeline quotes, or that the page shows as its status or under "Needs". */
const SHOWN_ELSEWHERE = ['reason', 'why', 'status', 'received'];
const AMOUNTS = ['threshold', 'minimum', 'maximum', 'month', 'flat', 'floor', 'cap', 'raw'];

/** Returns the amount that a recorded detail has as digits of the smallest unit. Null for others. */
export function detailAmount(
  details: Readonly<Record<string, unknown>>,
  name: string,
): Amount | null {
  const { [name]: value, asset } = details;
  const isDigits = typeof value === 'string' && /^[0-9]+$/.test(value);
  if (!isDigits || !AMOUNTS.includes(name) || typeof asset !== 'string' || !isAsset(asset))
    return null;
  return { raw: BigInt(value), asset };
}

/** Returns recorded details in words: amounts with their asset, and times in the time zone. */
export function detailLines(details: AuditDetails, timeZone: string): readonly string[] {
  const textOf = (name: string, value: string): string => {
    const at = parseRfc3339(value);
    if (at !== null) return localTime(at, timeZone);
    const amount = detailAmount(details, name);
    if (amount !== null) return formatAmount(amount);
    if (name.startsWith('expires_in_s')) return secondsText(Number(value));
    return { true: 'yes', false: 'no' }[value] ?? value;
  };
  return Object.entries(details)
    .filter(([name, value]) => value !== null && value !== '' && !SHOWN_ELSEWHERE.includes(name))
    .map(([name, value]) => `${labelOf(name)}: ${textOf(name, String(value))}`);
}

function labelOf(name: string): string {
  const present = name.replace(/_before$/, '');
  const label = DETAIL_NAMES[present] ?? present.replaceAll('_', ' ');
  return present === name ? label : `${label} (before)`;
}

/** Returns the time in its largest whole unit, such as "90 minutes" or "7 days". */
export function secondsText(seconds: number): string {
  const units = [
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
  ] as const;
  const [unit, size] = units.find(([, size]) => seconds % size === 0) ?? ['second', 1];
  return counted(seconds / size, unit);
}

const UNITS = [
  ['days', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** Formats an instant as seen from `now`, in the largest unit of which it is two or more: "in 90 min". */
export function relative(at: Instant, now: Instant): string {
  const ms = Math.abs(at - now);
  const [unit, size] = UNITS.find(([, least]) => ms >= 2 * least) ?? ['s', 1_000];
  const text = `${Math.floor(ms / size)} ${unit}`;
  return at > now ? `in ${text}` : `${text} ago`;
}

const CHANNELS: Readonly<Record<AuditRow['channel'], string>> = {
  api: 'API',
  ops: 'command line',
  temporal: 'signal',
  support: 'support desk',
};

/** Returns an action in words, with what files say. */
export function actionLine(row: AuditRow, names: Names, timeZone: string) {
  const verb = row.action.slice(row.action.indexOf('.') + 1);
  const isRefused = verb.endsWith('_refused');
  const given = isRefused ? verb.slice(0, -'_refused'.length) : verb;
  // The button that approves an adjustment says that it posts.
  const plain = row.action.startsWith('adjustment.approve') ? 'post' : given;
  // An action may concern a part of its subject, such as the limits of an account.
  const noun = row.action.slice(0, -verb.length - 1);
  const isOwn = row.subjectType.startsWith(noun);
  const words = `${isOwn ? '' : `${noun} `}${ACTION_WORDS[plain] ?? plain}`;
  const member = memberOf(row.actorClaimed);
  const name = member === null ? row.actorClaimed : names.person(member);
  const details = parseDetails(row);
  // In a decision on a proposal, `reason` repeats that of the proposal.
  const reason = String(details.why ?? details.reason ?? '');
  // The page of an adjustment shows all other details as facts.
  const isShort = row.subjectType === 'adjustment' && !isRefused;
  const others = isShort ? [] : detailLines(details, timeZone);
  const shown = line(
    row.at,
    sentenceCase(isRefused ? `refused attempt: ${plain}` : words),
    { name: name === '' ? 'no name given' : name, as: CHANNELS[row.channel] },
    [reason === '' ? [] : `“${reason}”`, others].flat().join(' · '),
  );
  return { ...shown, said: { '': reason || null, Details: others.join('; ') || null } };
}
