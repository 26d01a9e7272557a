#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { EVENT_TYPES } from '../generated/constants.js';
import { DemoTenant } from './demo-tenant.js';
import { plain, program, UsageError } from './program.js';
import { TRIGGERS } from './triggers.js';

const USAGE = `money-trigger transfer.completed

Makes an event really happen in the demo world of npm start: money moves, an approval is refused, a batch is paid. It waits until the
event is in the log, and prints it.

  --world FILE    the demo world's file; by default .run/demo.json
  --tenant NAME   by default acme

Events: ${EVENT_TYPES.join(', ')}`;

const LONGEST_MS = 120_000;

await program(USAGE, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      world: { type: 'string', default: '.run/demo.json' },
      tenant: { type: 'string', default: 'acme' },
    },
  });
  const type = EVENT_TYPES.find((known) => known === positionals[0]);
  if (type === undefined || positionals.length > 1)
    throw new UsageError(`one of these events is needed: ${EVENT_TYPES.join(', ')}`);
  const tenant = DemoTenant.from(worldIn(values.world), values.tenant);
  const from = await tenant.owner.headOfEvents();
  const { resource, note } = await TRIGGERS[type](tenant);
  if (note !== undefined) process.stderr.write(`${note}\n`);
  const signal = AbortSignal.timeout(LONGEST_MS);
  for await (const { event } of tenant.owner.followEvents({ from, type, pollMs: 250, signal })) {
    const { object } = event.data;
    if (('id' in object ? object.id : object.account_id) !== resource) continue;
    process.stdout.write(`${event.type}  #${event.sequence}  ${event.id}  of ${resource}\n`);
    return;
  }
  throw new UsageError(
    `${type} of ${resource} was not in the log after ${LONGEST_MS / 1_000} s: is the worker running?`,
  );
});

function worldIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    throw new UsageError(`there is no demo world in ${plain(file)}: npm start makes one`);
  }
}
