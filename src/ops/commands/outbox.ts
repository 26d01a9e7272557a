import type { AuditAction } from '../../access/audit-actions.js';
import { recordAction } from '../../access/audit-log.js';
import { parseUuid } from '../../core/ids.js';
import { instant, toRfc3339 } from '../../core/instant.js';
import { counted } from '../../core/collections.js';
import { integer, nullable, string, time } from '../../db/columns.js';
import { outbox } from '../../db/entities/outbox.js';
import type { Tenant } from '../../db/entities/parties.js';
import { transact } from '../../db/reader.js';
import { WORKFLOW_RESOURCES } from '../../processes/workflow-resources.js';
import { Outbox, type OutboxFilter } from '../../temporal/outbox.js';
import { rebuildOutbox } from '../../temporal/rebuild-outbox.js';
import { type AuthorisedOps, managerCommand, query } from '../command.js';
import { UsageError } from '../failures.js';
import { flag, limit, optionalTenant, onlyTenant, optional, optionalText } from '../inputs.js';
import { rowFields } from '../fields.js';

const OUTBOX = `
An entry notifies a workflow of a decision. It is written with the decision and removed when Temporal has received it,
usually within milliseconds. Entries remain if Temporal refuses them or cannot be reached. An entry that keeps failing for
twenty minutes by a fault of its own becomes a dead letter, which waits until an operator releases it.`;

const MAX_ERRORS = 5;

function filterOf(tenant: Tenant | undefined, resource: string | undefined): OutboxFilter {
  const resourceId = resource === undefined ? undefined : parseUuid(resource);
  if (resourceId === null) throw new UsageError(`${resource ?? ''} is not the id of a resource`);
  return { tenantId: tenant?.id, resourceId };
}

/** Recorded afterwards, unlike actions that move money: retrying entries never does harm. */
async function record(
  { database, clock, actor }: AuthorisedOps,
  action: AuditAction,
  { tenantId, resourceId }: OutboxFilter,
  entries: number,
): Promise<void> {
  const subject = { subjectType: 'outbox', subjectId: resourceId ?? 'all' };
  const entry = { tenantId: tenantId ?? null, ...subject, action, details: { entries } };
  await transact(database, (transaction) => recordAction(transaction, actor(), clock(), entry));
}

export const outboxCommands = {
  status: query({
    summary: 'the number of entries, the age of the oldest, and why they are stuck',
    explanation: OUTBOX,
    examples: ['outbox status', 'outbox status --json'],
    run: async ({ database, clock, output }) => {
      const [types, errors] = await Promise.all([
        database.reader.query(
          `SELECT resource_type, COUNT(*)-COUNT(dead_at) AS entries, MIN(IF(dead_at IS NULL, created_at, NULL)) AS oldest,
           COUNT(CASE WHEN attempts>0 THEN 1 END) AS refused, COUNT(dead_at) AS dead FROM outbox GROUP BY resource_type ORDER BY resource_type`,
        ),
        database.reader.query(
          `SELECT last_error, COUNT(*) AS entries FROM outbox WHERE last_error IS NOT NULL
           GROUP BY last_error ORDER BY entries DESC, last_error LIMIT ${MAX_ERRORS}`,
        ),
      ]);
      const sumOf = (column: string): number =>
        types.reduce((sum, row) => sum + integer.parse(row[column]), 0);
      const oldest = types.flatMap((row) => nullable(time).parse(row.oldest) ?? []);
      const oldestAt = oldest.length === 0 ? null : instant(Math.min(...oldest));
      output.one({
        entries: sumOf('entries'),
        by_type: Object.fromEntries(
          types.map((row) => [string.parse(row.resource_type), integer.parse(row.entries)]),
        ),
        oldest_at: toRfc3339(oldestAt),
        oldest_age_s: oldestAt === null ? 0 : Math.max(0, Math.round((clock() - oldestAt) / 1000)),
        refused: sumOf('refused'),
        dead_letters: sumOf('dead'),
        last_errors: errors.map(
          (row) => `${integer.parse(row.entries)} × ${string.parse(row.last_error)}`,
        ),
      });
    },
  }),
  list: query({
    summary: 'the entries, oldest first, with the last error of each',
    examples: ['outbox list', 'outbox list --tenant acme --json', 'outbox list --dead'],
    input: {
      tenant: onlyTenant,
      resource: optional('<id> only entries of this resource, such as a transfer'),
      dead: flag('only dead letters: entries that failed too often'),
      limit,
    },
    run: async ({ database, clock, output }, { tenant, resource, dead: onlyDead, limit: most }) => {
      const filter = { ...filterOf(tenant, resource), onlyDead };
      const found = await new Outbox(database, clock).list(filter, most);
      const rows = found.map((entry) => ({
        ...rowFields(outbox, entry, 'resourceType resourceId tenantId createdAt'),
        due_at: entry.deadAt === null ? toRfc3339(entry.dueAt) : null,
        ...rowFields(outbox, entry, 'attempts lastError'),
        dead_since: toRfc3339(entry.deadAt),
      }));
      const none = 'No entries: Temporal has received everything.';
      output.list(rows, none, { detailsOnly: ['tenant_id', 'due_at'] });
      if (found.length === most) output.more(`The oldest ${most}; --limit shows more.`);
    },
  }),
  'release [resource-id]': managerCommand({
    summary:
      'try entries again at once, as if they had never failed: one resource, one tenant, the dead letters, or all',
    explanation: OUTBOX,
    examples: [
      'outbox release 01a1feef-38a9-7169-8296-3070b51f3af4',
      'outbox release --tenant acme',
      'outbox release --dead',
      'outbox release --all',
    ],
    input: {
      resourceId: optionalText,
      tenant: optionalTenant('what belongs to'),
      dead: flag('dead letters, of the tenant if one is named'),
      all: flag('every entry'),
    },
    run: async (ops, { resourceId, tenant, dead: onlyDead, all }) => {
      if (all === (onlyDead || resourceId !== undefined || tenant !== undefined))
        throw new UsageError('give a resource id, --tenant or --dead, or --all alone');
      const { database, clock, output } = ops;
      const filter = { ...filterOf(tenant, resourceId), onlyDead };
      const released = await new Outbox(database, clock).release(filter);
      await record(ops, 'outbox.release', filter, released);
      output.one({ released });
      if (released === 0) output.say('Nothing was changed: no entry matches.');
    },
  }),
  rebuild: managerCommand({
    summary:
      'write the missing entries of everything that waits, as after a restore; repeating it is safe',
    explanation: OUTBOX,
    examples: ['outbox rebuild'],
    run: async (ops) => {
      const { output } = ops;
      const rebuilt = await rebuildOutbox(
        ops,
        WORKFLOW_RESOURCES,
        output.progress.bind(output, 'Looking'),
      );
      const written = rebuilt.reduce((sum, one) => sum + one.entries_written, 0);
      await record(ops, 'outbox.rebuild', {}, written);
      output.list(rebuilt, '');
    },
  }),
};

export const sweepCommands = {
  list: query({
    summary: 'every sweep, and the worker process that runs it',
    explanation: `
A sweep finds due or unfinished work in MySQL, and does it. One worker process at a time runs each sweep. If that process
dies, another takes over within 5 seconds.`,
    examples: ['sweeps list', 'sweeps list --json'],
    run: async ({ database, output }) => {
      const leases = await database.reader.query(
        `SELECT name, IF(lease_until>UTC_TIMESTAMP(3), worker, NULL) AS worker, acquired_at
         FROM sweep_leases ORDER BY name`,
      );
      const rows = leases.map((lease) => {
        const worker = nullable(string).parse(lease.worker);
        const since = worker === null ? null : toRfc3339(time.parse(lease.acquired_at));
        return { sweep: string.parse(lease.name), worker, since };
      });
      output.list(rows, 'No sweep has run yet: start a worker.');
      const unattended = rows.filter(({ worker }) => worker === null).length;
      if (unattended > 0)
        output.say(
          `No worker runs ${counted(unattended, 'sweep')}. Check that a worker process is running.`,
        );
    },
  }),
};
