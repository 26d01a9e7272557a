import { z } from 'zod';
import type { Restore } from '../../db/entities/restores.js';
import type { RailCalls } from '../../payouts/rail-calls.js';
import { openRails } from '../../payouts/rails/registry.js';
import { type Rails, RailSilent } from '../../payouts/rails/rail.js';
import {
  auditRestored,
  moveNumbers,
  openLedger,
  raiseContradictions,
  restoreToFinish,
  stepOf,
} from '../../restores/finishing.js';
import { settleAskedPayouts } from '../../restores/holding.js';
import { beginRestore, lastRestore, unqueriedRestores } from '../../restores/opening.js';
import {
  askRails,
  findingsOf,
  findingsSince,
  railsEverSeen,
  railsInUse,
} from '../../restores/rails.js';
import { contradicts } from '../../restores/rules.js';
import { isLossy } from '../../restores/sequences.js';
import { Outbox } from '../../temporal/outbox.js';
import { WORKFLOW_RESOURCES } from '../../processes/workflow-resources.js';
import { type ActingOps, command, group, type Ops, query } from '../command.js';
import { OpsError, UsageError } from '../failures.js';
import { flag, option, optional, time, wholeNumber } from '../inputs.js';
import { railCallsOf } from '../rail-calls.js';
import { PROGRAM } from '../help.js';
import { rebuildOutbox } from '../outbox-rebuild.js';
import { counted } from '../../core/plural.js';
import { restoreFields, restoreFindingFields } from '../presenting-service.js';

const STEPS = `
  restore begin --to TIME --reason TEXT    closes the ledger: no process posts anything
  restore finish                           a second person finishes the restore, and opens the ledger again:
    1. every event log and every chain of the audit log skips the numbers that were lost
    2. everything that waits gets its workflow; workers tell running ones to look again
    3. each rail is asked for the orders that it received since then, and for the outcome of unfinished payouts
    4. the audit
  If it stops, repeat the command: it continues where it stopped. Until the ledger is open, no step can do harm.`;

const NOTHING = 'No rail contradicts what is here.';

const beginCommand = command({
  usage: 'begin',
  summary: 'close the ledger of a restored database, and state what was lost',
  explanation: STEPS,
  examples: [
    "restore begin --to 2026-11-22T14:10:00Z --until 2026-11-22T14:21:00Z --reason 'ticket 204: a table was dropped'",
    "restore begin --nothing-lost --reason 'moved to another server, ticket 118'",
  ],
  input: z.object({
    to: option(
      '<time>',
      'the moment restored to; everything committed later is lost',
      time.optional(),
    ),
    until: option('<time>', 'when the lost part ended (default: now)', time.optional()),
    skip: option(
      '<count>',
      'sequences to skip in each log (default: 10,000 for each lost second, at least 1,000,000)',
      z
        .string()
        .regex(/^[1-9][0-9]{0,14}$/, 'must be a number of at least 1')
        .transform((given) => BigInt(given))
        .optional(),
    ),
    nothingLost: flag('the copy is complete: the service was stopped before it was made'),
    reason: option('<text>', 'why, up to 140 characters'),
  }),
  needs: 'restore.begin',
  check: ({ to, until, skip, nothingLost }) => {
    if (nothingLost === (to !== undefined))
      throw new UsageError('give either --to or --nothing-lost');
    if (nothingLost && (until !== undefined || skip !== undefined))
      throw new UsageError('--until and --skip need --to');
  },
  run: async (ops, { to, until, skip, reason }) => {
    const lost =
      to === undefined ? null : { restoredTo: to, until: until ?? ops.clock(), skip: skip ?? null };
    await ops.output.confirm('Close the ledger: nothing is posted until the restore is finished');
    ops.output.one(restoreFields(await beginRestore(ops, lost, reason, ops.by())));
    ops.output.say(
      `The ledger is closed. A second person finishes it: ${PROGRAM} restore finish --as NAME`,
    );
  },
});

const finishCommand = command({
  usage: 'finish',
  summary: 'reconcile the restored database, then open the ledger',
  explanation: STEPS,
  examples: ['restore finish --as leo', 'restore finish --as leo --leave-out http:bank-a'],
  input: z.object({
    leaveOut: optional(
      '<rails>',
      'rails that do not answer, separated by commas: repeat the command without this option to ask them',
    ),
    acceptFindings: option(
      '<count>',
      'open it even if the audit finds this many contradictions (default: 0)',
      wholeNumber(0, 999_999).prefault('0'),
    ),
  }),
  needs: 'restore.finish',
  run: async (ops, { leaveOut, acceptFindings }) => {
    const by = ops.by();
    const restore = await restoreToFinish(ops.database.reader, by);
    const leftOut = new Set(leaveOut?.split(',') ?? []);
    const calls = railCallsOf(ops, leftOut);
    const earlier = await unqueriedRestores(ops.database.reader, restore);
    const unasked = [...earlier, restore].filter(({ askedAt }) => askedAt === null);
    const asking = { calls, isWhole: leftOut.size === 0 };
    await assertRails(ops, unasked, calls.deps.rails, leftOut);
    const isClosed = restore.finishedAt === null;
    if (isClosed) await openRestored(ops, restore, asking, acceptFindings, [...leftOut]);
    for (const one of earlier) await followUp(ops, one, asking, false);
    await followUp(ops, restore, asking, isClosed || restore.askedAt !== null);
    const found = await findingsSince(ops.database.reader, restore);
    ops.output.list(found.filter(contradicts).map(restoreFindingFields), NOTHING);
    ops.output.say(
      'The ledger is open. Contradictions about payouts of this database are also listed by: payouts stuck',
    );
    if (unasked.length > 0 && leftOut.size > 0)
      ops.output.say(
        `Not asked: ${[...leftOut].join(', ')}. Repeat the command without --leave-out when it answers.`,
      );
  },
});

/** Throws UsageError for an unknown rail, which would be left out without notice. */
async function assertRails(
  { database, config, clock }: Ops,
  unasked: readonly Restore[],
  rails: Rails,
  leftOut: ReadonlySet<string>,
): Promise<void> {
  const seen = await railsEverSeen(database.reader);
  const known = [...new Set([...openRails({ database, clock }, config).keys(), ...seen])];
  const unknown = [...leftOut].filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new UsageError(
      `there is no rail ${unknown.join(', ')}; the rails are ${known.join(', ')}`,
    );
  if (unasked.length === 0) return;
  const needed = unasked.some(isLossy) ? seen : await railsInUse(database.reader);
  const missing = needed.filter((name) => !rails.has(name) && !leftOut.has(name));
  if (missing.length > 0)
    throw new UsageError(
      `payouts used ${missing.join(', ')}, which is not configured here: set PAYOUT_RAIL_URLS and PAYOUT_RAIL_KEYS as for the worker, or use --leave-out for a rail that no longer exists`,
    );
}

interface Asking {
  readonly calls: RailCalls;
  readonly isWhole: boolean;
}

async function openRestored(
  ops: ActingOps,
  restore: Restore,
  asking: Asking,
  accepted: number,
  leftOut: readonly string[],
): Promise<void> {
  const asked = [...asking.calls.deps.rails.keys()].join(', ');
  await ops.output.confirm(
    `Ask ${asked}, reconcile the restored database, and open the ledger. Check that every rail is among them: a rail first used in the lost time is unknown here`,
  );
  await makeGood(ops, restore, asking, accepted);
  const contradictions = (await findingsOf(ops.database.reader, restore.id)).filter(
    contradicts,
  ).length;
  // Rails that were asked before are not left out now.
  const unasked = restore.askedAt === null ? leftOut : [];
  await openLedger(ops, restore, ops.by(), unasked, {
    contradictions,
    accepted_findings: accepted,
  });
}

/**
 * Updates the payouts of an open ledger by the reports of their rails, which are asked first if
 * necessary.
 */
async function followUp(
  ops: Ops,
  restore: Restore,
  asking: Asking,
  isAsked: boolean,
): Promise<void> {
  const { calls } = asking;
  const follow = async (): Promise<void> => {
    await settleAskedPayouts(ops, restore, calls.deps.rails.keys());
    await raiseContradictions(ops, restore.id, calls);
  };
  await (isAsked ? follow() : askAll(ops, restore, asking, follow));
}

async function makeGood(
  ops: ActingOps,
  restore: Restore,
  asking: Asking,
  accepted: number,
): Promise<void> {
  const { database, clock, output: out } = ops;
  const progress = (what: string, done: number, total: number): void =>
    out.progress(what, done, total);
  await moveNumbers(ops, restore, ops.by(), progress);
  await stepOf(ops, restore, 'rebuiltAt', async () => {
    const onProgress = (done: number, total: number): void =>
      out.progress('Looking for what waits', done, total);
    await rebuildOutbox(
      { database, clock, outbox: new Outbox(database, clock), onProgress },
      WORKFLOW_RESOURCES,
    );
  });
  await askAll(ops, restore, asking);
  const { findings } = await auditRestored(ops, restore, accepted, progress);
  if (findings.length <= accepted) return;
  out.list(findings, '');
  throw new OpsError(
    `the audit found ${counted(findings.length, 'contradiction')}, so the ledger stays closed: once you have examined them, repeat with --accept-findings ${findings.length}`,
  );
}

/**
 * While a rail is left out the step is not done: repeating the command without that option asks it.
 */
async function askAll(
  ops: Ops,
  restore: Restore,
  { calls, isWhole }: Asking,
  follow?: () => Promise<void>,
): Promise<void> {
  const work = async (): Promise<void> => {
    await ask(ops, restore, calls.deps.rails);
    await follow?.();
  };
  if (isWhole) await stepOf(ops, restore, 'askedAt', work);
  else if (restore.askedAt === null) await work();
}

async function ask(ops: Ops, restore: Restore, rails: Rails): Promise<void> {
  const { database, clock, output: out } = ops;
  const onProgress = (rail: string, asked: number): void =>
    out.progress(`Asking ${rail}`, asked, asked);
  try {
    for (const rail of await askRails({ database, clock, restore, onProgress }, rails))
      out.say(
        `${rail} does not list its payments: take its statements since then (payouts reconcile --help)`,
      );
  } catch (failure) {
    if (!(failure instanceof RailSilent)) throw failure;
    throw new OpsError(
      `${failure.message}: repeat the command when it answers, or leave that rail out (--leave-out)`,
    );
  }
}

export const restoreCommands = group(
  'restore',
  'reconcile a database restored to an earlier moment',
  [
    beginCommand,
    finishCommand,
    query({
      usage: 'status',
      summary:
        'the last restore: whether it is open, its progress, and earlier restores that left out a rail',
      examples: ['restore status', 'restore status --json'],
      run: async ({ database, output }) => {
        const last = await lastRestore(database.reader);
        if (last === undefined) return output.list([], 'This database was never restored.');
        const earlier = await unqueriedRestores(database.reader, last);
        output.one({ ...restoreFields(last), earlier_not_asked: earlier.map(({ id }) => id) });
      },
    }),
    query({
      usage: 'findings',
      summary:
        'contradictions found by the last restore; unknown_here: a payment that this database does not know',
      examples: ['restore findings', 'restore findings --all --json'],
      input: z.object({ all: flag('include those that need no action') }),
      run: async ({ database, output }, { all }) => {
        const last = await lastRestore(database.reader);
        const found = last === undefined ? [] : await findingsSince(database.reader, last);
        output.list(
          found.filter((one) => all || contradicts(one)).map(restoreFindingFields),
          NOTHING,
        );
      },
    }),
  ],
);
