import { z } from 'zod';
import { ASSETS, formatAmount } from '../../core/amount.js';
import { compareText } from '../../core/collections.js';
import { asUuid, parseUuid, type Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { eventCounters, type EventType } from '../../db/entities/events.js';
import { readEvents, readFirstSequenceSince, readNewestEvents } from '../../events/log.js';
import { MIN_RETENTION_DAYS, readRetention, setRetention } from '../../events/retention.js';
import { namesOf } from '../../support/reading/transfers.js';
import { group, managerCommand, type Ops, query } from '../command.js';
import { UsageError } from '../failures.js';
import { Described } from '../fields.js';
import { eventTypes, flag, limit, onlyTenant, option, optional } from '../inputs.js';
import { named } from '../lookups.js';
import { boundsOf, timeInput } from '../pages.js';
import { SHORT_ID } from '../table-text.js';
import { EXAMPLE_ID } from './approvals.js';

const days = z.string().transform((given, context) => {
  if (given === 'forever') return null;
  if (/^[1-9][0-9]{0,4}$/.test(given)) return Number.parseInt(given, 10);
  context.addIssue(`${given} is neither a number of days nor the word forever`);
  return z.NEVER;
});

async function showRetention({ database, output }: Ops): Promise<void> {
  const days = await readRetention(database.reader);
  output.one({ kept_days: days, kept: days === null ? 'forever' : `${days} days` });
}

const money = z.object({ raw: z.string(), asset: z.enum(ASSETS) }).nullish();
const eventLine = z.object({
  sequence: z.int(),
  created_at: z.string(),
  type: z.string(),
  data: z.object({
    object: z.object({
      // A verification has no id of its own.
      id: z.string().optional(),
      account_id: z.string().optional(),
      amount: money,
      captured: money,
      total: money,
      source_account: z.string().optional(),
      destination: z
        .object({
          account_id: z.string().optional(),
          account_number: z.string().optional(),
          key: z.string().optional(),
        })
        .optional(),
    }),
  }),
  id: z.string(),
});

interface Found {
  readonly tenantId: Uuid;
  readonly body: string;
}

/** Returns the fields of events, or those of these types, with the names of their tenants and accounts. */
async function readFields(reader: Reader, found: readonly Found[], types?: readonly EventType[]) {
  const events = found.flatMap(({ tenantId, body }) => {
    const event = eventLine.parse(JSON.parse(body));
    if (types?.every((type) => type !== event.type)) return [];
    const { source_account: from, destination } = event.data.object;
    const [fromId = null, toId = null] = [from, destination?.account_id].map((id) =>
      id === undefined ? null : asUuid(id),
    );
    return [{ tenantId, event, fromId, toId }];
  });
  const parties = events.flatMap(({ tenantId, fromId, toId }) =>
    [fromId, toId].flatMap((id) => (id === null ? [] : [{ tenantId, accountId: id }])),
  );
  const names = await namesOf(reader, [...found, ...parties]);
  return events.map(({ tenantId, event, fromId, toId }) => {
    const { data, id, sequence, ...fields } = event;
    const { id: resourceId, account_id: account, destination, ...object } = data.object;
    // What a capture moved may be less than the amount.
    const amount = object.captured ?? object.amount ?? object.total ?? null;
    const nameOf = (one: Uuid | null) => one && names.account(one, tenantId);
    return {
      sequence: String(sequence),
      ...fields,
      resource_id: resourceId ?? account ?? null,
      amount: amount && { raw: BigInt(amount.raw), asset: amount.asset },
      from: nameOf(fromId),
      to: nameOf(toId) ?? destination?.account_number ?? destination?.key ?? null,
      tenant: names.tenant(tenantId),
      id,
      from_account_id: fromId,
      to_account_id: toId,
    };
  });
}
type EventFields = Awaited<ReturnType<typeof readFields>>[number];

/** Shows an event on one line, whose cells are aligned below those of the heading as far as they fit. */
function lineOf(fields: EventFields, isShort: boolean): string {
  const { created_at: at, type, resource_id: id, amount, tenant, from, to } = fields;
  return aligned([
    `${at.slice(0, 19).replace('T', ' ')}Z`,
    type,
    (isShort ? id?.slice(0, SHORT_ID) : id) ?? '',
    amount === null ? '' : formatAmount(amount),
    tenant,
    [from, to].filter((one) => one !== null).join(' to '),
  ]);
}

function aligned([at = '', type = '', id = '', amount = '', ...names]: readonly string[]): string {
  const cells = [at.padEnd(20), type.padEnd(18), id.padEnd(SHORT_ID), amount.padStart(18)];
  return [...cells, ...names].join('  ').trimEnd();
}
const HEADING = aligned(['created at', 'type', 'resource id', 'amount', 'tenant', 'from and to']);

interface Followed {
  readonly tenantId: Uuid | undefined;
  readonly types: readonly EventType[] | undefined;
  readonly since: Instant | undefined;
}

/** Adds a line for each event from now on, or from `since` on, until the output is closed. */
async function follow(ops: Ops, { tenantId, types, since }: Followed): Promise<void> {
  const { database, output } = ops;
  const { reader } = database;
  const readLogs = () => reader.select(eventCounters, tenantId === undefined ? {} : { tenantId });
  const shown = new Map<Uuid, bigint>();
  for (const { tenantId: id, lastSequence } of await readLogs()) {
    const first = since === undefined ? null : await readFirstSequenceSince(reader, id, since);
    shown.set(id, first === null ? lastSequence : first - 1n);
  }
  const shownOf = (id: Uuid): bigint => shown.get(id) ?? 0n;
  output.picture(HEADING);
  await output.repeat(async () => {
    const found: Found[] = [];
    const logs = (await readLogs()).filter((log) => log.lastSequence > shownOf(log.tenantId));
    if (logs.length === 0) return;
    for (const { tenantId: id, lastSequence } of logs)
      for (let after = shownOf(id); after < lastSequence; after = shownOf(id)) {
        const page = await readEvents(reader, id, {}, 'asc', after, FOLLOWED_AT_ONCE);
        // A replica may not have received the last events yet: the next round reads them.
        if (page.position <= after) break;
        found.push(...page.bodies.map((body) => ({ tenantId: id, body })));
        shown.set(id, page.position);
      }
    if (found.length === 0) return;
    const lines = await readFields(reader, found, types);
    lines.sort((a, b) => compareText(a.created_at, b.created_at));
    for (const line of lines) output.each(line, lineOf(line, output.isOnTerminal));
  });
}
const FOLLOWED_AT_ONCE = 500;

const listCommand = query({
  summary: 'events of all tenants or of one, newest first, or new ones as they come',
  explanation: `
With --follow, a line is added for each new event, and before them for those from --since on, oldest first, until you press
Ctrl-C; with --json, a line of JSON.`,
  examples: [
    'events list --tenant acme --since 1h',
    'events list --type payout.failed --since 7d --json',
    'events list --follow',
  ],
  input: {
    tenant: onlyTenant,
    type: option(
      "<type> only this, such as payout.failed, or of a kind: 'payout.*'",
      eventTypes.optional(),
    ),
    ...timeInput,
    cursor: optional(
      '<number> only what came before the event with this sequence, or of all tenants with this id, the last of a list',
    ),
    limit,
    follow: flag('add new events as they come, until you press Ctrl-C'),
  },
  run: async (ops, { tenant, follow: isFollowing, limit: most, cursor, type: types, ...page }) => {
    const { reader } = ops.database;
    const { from, to } = boundsOf(page);
    if (isFollowing) {
      if (page.until !== undefined || cursor !== undefined)
        throw new UsageError('--follow goes with neither --until nor --cursor');
      return follow(ops, { tenantId: tenant?.id, types, since: from });
    }
    // Each type is read by the index.
    const filters = (types ?? [undefined]).map((type) => ({ type, from, to }));
    const whenChosen = ['from_account_id', 'to_account_id'];
    const options = { hasSeconds: true, whenChosen };
    if (tenant !== undefined) {
      if (cursor !== undefined && !/^[0-9]{1,9}$/.test(cursor))
        throw new UsageError(`--cursor: ${cursor} is not the sequence of an event`);
      const before = cursor === undefined ? null : BigInt(cursor);
      const pages = await Promise.all(
        filters.map((one) => readEvents(reader, tenant.id, one, 'desc', before, most + 1)),
      );
      const bodies = pages.flatMap((page) => page.bodies);
      const found = bodies.map((body) => ({ tenantId: tenant.id, body }));
      const rows = await readFields(reader, found);
      rows.sort((a, b) => Number(b.sequence) - Number(a.sequence));
      const detailsOnly = ['sequence', 'tenant'];
      const own = { ...options, detailsOnly, position: 'sequence' };
      return ops.output.newest(rows, most, 'No results.', own);
    }
    if (types !== undefined && from === undefined)
      throw new UsageError(
        'of all tenants --type needs --since, because only the events of one tenant have an index by type: add --since 1d or --tenant',
      );
    const before = cursor === undefined ? null : parseUuid(cursor);
    if (cursor !== undefined && before === null)
      throw new UsageError(
        `--cursor: ${cursor} is not the id of an event; a sequence needs --tenant`,
      );
    const pages = filters.map((one) => readNewestEvents(reader, one, before, most + 1));
    const rows = await readFields(reader, (await Promise.all(pages)).flat());
    rows.sort((a, b) => compareText(b.id, a.id));
    ops.output.newest(rows, most, 'No results.', { ...options, detailsOnly: ['sequence'] });
  },
});

const showCommand = query({
  summary: 'one event, as the API and webhooks have it',
  examples: [`events show ${EXAMPLE_ID}`],
  input: { id: named.event },
  run: async ({ database: { reader }, output }, { id: event }) => {
    const { data, ...fields } = wholeEvent.parse(JSON.parse(event.body));
    const tenant = (await namesOf(reader, [event])).tenant(event.tenantId);
    output.one({ tenant, ...fields, data: Described.nested(data) });
  },
});
const wholeEvent = z
  .object({ data: z.record(z.string(), z.unknown()) })
  .catchall(z.union([z.string(), z.number()]));

export const eventCommands = {
  list: listCommand,
  'show <id>': showCommand,
  retention: group('how long the log keeps events', {
    show: query({
      summary: 'how long events are kept',
      examples: ['events retention show'],
      run: (ops) => showRetention(ops),
    }),
    'set <days>': managerCommand({
      summary: `keep events for this many days, at least ${MIN_RETENTION_DAYS}, or forever; the oldest are removed gradually`,
      examples: ['events retention set 400', 'events retention set forever'],
      input: { days },
      run: async (ops, input) => {
        if (input.days !== null)
          await ops.output.confirm(
            `Remove the events of every tenant that are older than ${input.days} days`,
          );
        await setRetention(ops.database, ops.clock, input.days, ops.actor());
        await showRetention(ops);
      },
    }),
  }),
};
