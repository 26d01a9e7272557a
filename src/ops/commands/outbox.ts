import { z } from 'zod';
import { recordAction } from '../../access/audit-log.js';
import { parseUuid } from '../../core/ids.js';
import { transact } from '../../db/transact.js';
import { Outbox, type OutboxFilter } from '../../temporal/outbox.js';
import { WORKFLOW_RESOURCES } from '../../processes/workflow-resources.js';
import { type ActingOps, command, group, type Ops, query } from '../command.js';
import { UsageError } from '../failures.js';
import { findTenant } from '../finding.js';
import { flag, limit, onlyTenant, optional, optionalText } from '../inputs.js';
import { readOutboxState, rebuildOutbox } from '../outbox-rebuild.js';
import { outboxFields, outboxStateFields } from '../presenting-service.js';

const EXPLANATION = `
An entry notifies a workflow of a decision. It is written with the decision and removed when Temporal has received it,
usually within milliseconds. Entries remain if Temporal refuses them or cannot be reached. An entry that keeps failing for
twenty minutes by a fault of its own becomes a dead letter, which waits until an operator releases it.`;

const readingCommands = [
  query({
    usage: 'status',
    summary: 'the number of entries, the age of the oldest, and why they are stuck',
    explanation: EXPLANATION,
    examples: ['outbox status', 'outbox status --json'],
    run: async ({ database, clock, output }) => {
      output.one(outboxStateFields(await readOutboxState(database.reader), clock()));
    },
  }),
  query({
    usage: 'list',
    summary: 'the entries, oldest first, with the last error of each',
    examples: ['outbox list', 'outbox list --tenant acme --json', 'outbox list --dead'],
    input: z.object({
      tenant: onlyTenant,
      resource: optional('<id>', 'only entries of this resource, such as a transfer'),
      dead: flag('only dead letters: entries that failed too often'),
      limit,
    }),
    run: async (ops, { tenant, resource, dead: isDead, limit: most }) => {
      const { database, clock, output } = ops;
      const filter = { ...(await filterOf(ops, tenant, resource)), isDead };
      const found = await new Outbox(database, clock).list(filter, most);
      const none = 'No entries: Temporal has received everything.';
      output.list(found.map(outboxFields), none, ['tenant_id', 'due_at']);
      if (found.length === most) output.say(`The oldest ${most}; --limit shows more.`);
    },
  }),
];

const releaseCommand = command({
  usage: 'release [resource-id]',
  summary:
    'try entries again at once, as if they had never failed: one resource, one tenant, the dead letters, or all',
  explanation: EXPLANATION,
  examples: [
    'outbox release 01a1feef-38a9-7169-8296-3070b51f3af4',
    'outbox release --tenant acme',
    'outbox release --dead',
    'outbox release --all',
  ],
  input: z.object({
    resourceId: optionalText,
    tenant: optional('<tenant>', 'what belongs to this tenant (id or name)'),
    dead: flag('dead letters, of the tenant if one is named'),
    all: flag('every entry'),
  }),
  needs: 'manage',
  run: async (ops, { resourceId, tenant, dead: isDead, all }) => {
    if (all === (isDead || resourceId !== undefined || tenant !== undefined))
      throw new UsageError('give a resource id, --tenant or --dead, or --all alone');
    const { database, clock, output } = ops;
    const filter = { ...(await filterOf(ops, tenant, resourceId)), isDead };
    const released = await new Outbox(database, clock).release(filter);
    await record(ops, 'outbox.release', filter, released);
    output.one({ released });
    if (released === 0) output.say('Nothing was changed: no entry matches.');
  },
});

async function filterOf(
  { database }: Ops,
  tenant: string | undefined,
  resource: string | undefined,
): Promise<OutboxFilter> {
  const resourceId = resource === undefined ? undefined : parseUuid(resource);
  if (resourceId === null) throw new UsageError(`${resource ?? ''} is not the id of a resource`);
  const tenantId =
    tenant === undefined ? undefined : (await findTenant(database.reader, tenant)).id;
  return { tenantId, resourceId };
}

/** Recorded afterwards, unlike actions that move money: retrying entries never does harm. */
async function record(
  { database, clock, actor }: ActingOps,
  action: string,
  { tenantId, resourceId }: OutboxFilter,
  entries: number,
): Promise<void> {
  const subject = { subjectType: 'outbox', subjectId: resourceId ?? 'all' };
  const act = { tenantId: tenantId ?? null, ...subject, action, details: { entries } };
  await transact(database, (transaction) => recordAction(transaction, actor(), clock(), act));
}

export const outboxCommands = group('outbox', 'entries that Temporal has not received yet', [
  ...readingCommands,
  releaseCommand,
  command({
    usage: 'rebuild',
    summary:
      'write the missing entries of everything that waits, as after a restore; repeating it is safe',
    explanation: EXPLANATION,
    examples: ['outbox rebuild'],
    needs: 'manage',
    run: async (ops) => {
      const { database, clock, output } = ops;
      const onProgress = (done: number, total: number): void =>
        output.progress('Looking', done, total);
      const deps = { database, clock, outbox: new Outbox(database, clock), onProgress };
      const rebuilt = await rebuildOutbox(deps, WORKFLOW_RESOURCES);
      const written = rebuilt.reduce((sum, one) => sum + one.written, 0);
      await record(ops, 'outbox.rebuild', {}, written);
      output.list(
        rebuilt.map(({ resourceType, waiting, written: entries }) => ({
          resource_type: resourceType,
          waiting,
          entries_written: entries,
        })),
        'Nothing can wait.',
      );
    },
  }),
]);
