import type { Command } from 'commander';
import { z } from 'zod';
import { instant } from '../../core/instant.js';
import { BATCH_STATUSES, type BonusBatch } from '../../db/entities/bonuses.js';
import { listTenantBatches } from '../../batches/directory.js';
import { deleteUploadedBytesAs } from '../../batches/retention.js';
import { pendingRows } from '../../batches/rules.js';
import { cancelBatch, pauseBatch, resumeBatch } from '../../batches/steering.js';
import { addCommand, group, type Ops } from '../command.js';
import { findBatch, findTenant } from '../finding.js';
import { duration, limit, text } from '../inputs.js';
import { batchFields, batchLine } from '../presenting.js';

export function addBatchCommands(program: Command): void {
  const own = group(
    program,
    'batches',
    'batches of bonuses: look at them, pause, resume and cancel those that are paid',
  );
  addReading(own);
  addSteering(own, {
    usage: 'pause <batch>',
    summary: 'pay no further row until it is resumed; the group of rows under way ends',
    steer: (ops, batch) => pauseBatch(ops, batch.id, ops.actor()),
  });
  addSteering(own, {
    usage: 'resume <batch>',
    summary: 'let a paused batch be paid again',
    steer: (ops, batch) => resumeBatch(ops, batch.id, ops.actor()),
  });
  addCancel(own);
  addRemoval(own);
}

function addReading(own: Command): void {
  addCommand(own, {
    usage: 'list',
    summary: "a tenant's batches, newest first",
    options: [
      ['--tenant <tenant>', 'id or name of the tenant'],
      ['--status <status>', `only those ${BATCH_STATUSES.join(', ')}`],
      ['--limit <count>', 'how many at most (default: 100)'],
    ],
    examples: ['batches list --tenant acme --status executing'],
    input: z.object({
      tenant: text,
      status: z.enum(BATCH_STATUSES, { error: `must be one of ${BATCH_STATUSES.join(', ')}` }).optional(),
      limit,
    }),
    run: async ({ database, output }, { tenant, status, limit: most }) => {
      const { id } = await findTenant(database.reader, tenant);
      const found = await listTenantBatches(database.reader, id, status ?? null, most);
      output.list(found.map(batchLine), 'There are none.');
      if (found.length === most) output.say(`The newest ${most}; --limit shows more.`);
    },
  });
  addCommand(own, {
    usage: 'show <batch>',
    summary: 'one batch: its state, its sums, and how far its payment is',
    options: [],
    examples: ['batches show 01930000-0000-7000-8000-000000000000'],
    input: z.object({ batch: text }),
    run: async ({ database, output }, input) => output.one(batchFields(await findBatch(database.reader, input.batch))),
  });
}

interface Steering {
  readonly usage: `${string} <batch>`;
  readonly summary: string;
  readonly steer: (ops: Ops, batch: BonusBatch) => Promise<BonusBatch>;
}

function addSteering(own: Command, { usage, summary, steer }: Steering): void {
  addCommand(own, {
    usage,
    summary,
    options: [],
    examples: [`batches ${usage.split(' ')[0] ?? ''} 01930000-0000-7000-8000-000000000000`],
    input: z.object({ batch: text }),
    run: async (ops, input) => {
      const batch = await findBatch(ops.database.reader, input.batch);
      ops.output.one(batchFields(await steer(ops, batch)));
    },
  });
}

function addCancel(own: Command): void {
  addCommand(own, {
    usage: 'cancel <batch>',
    summary: 'end a batch that is being paid: no further row is, and what was held is free at once',
    options: [['--reason <text>', 'why; the audit log keeps it']],
    explanation: '\nThe rows that were not paid are marked as failed with the code canceled by the process that pays.',
    examples: ["batches cancel 01930000-0000-7000-8000-000000000000 --reason 'paid for the wrong month'"],
    input: z.object({ batch: text, reason: text }),
    run: async (ops, input) => {
      const batch = await findBatch(ops.database.reader, input.batch);
      await ops.output.confirm(
        `Cancel the batch: ${pendingRows(batch)} of its ${batch.rowCount} rows are not paid yet`,
      );
      ops.output.one(batchFields(await cancelBatch(ops, batch.id, ops.actor(), input.reason)));
    },
  });
}

function addRemoval(own: Command): void {
  addCommand(own, {
    usage: 'remove-uploads',
    summary: 'delete the bytes of files that were validated long enough ago; their hash stays',
    options: [['--older-than <time>', 'how long ago they were validated: 7d, 24h']],
    examples: ['batches remove-uploads --older-than 7d --yes'],
    input: z.object({ olderThan: duration }),
    run: async ({ database, clock, output, actor }, { olderThan }) => {
      await output.confirm('Delete the bytes of validated files');
      const before = instant(clock() - olderThan);
      output.one({ removed: await deleteUploadedBytesAs(database, clock, before, actor()) });
    },
  });
}
