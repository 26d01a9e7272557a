import { WORKFLOW_RESOURCES } from '../../processes/workflow-resources.js';
import { rebuildOutbox } from '../../temporal/rebuild-outbox.js';
import { systemClock } from '../../core/instant.js';
import { counted } from '../../core/collections.js';
import {
  type Restore,
  type RestoreFinding,
  restoreFindings,
  restores,
} from '../../db/entities/restores.js';
import type { RailCalls } from '../../payouts/rail-calls.js';
import { RailUnresponsive } from '../../payouts/rails/rail.js';
import { openRails } from '../../payouts/rails/registry.js';
import {
  auditRestored,
  skipLostNumbers,
  openLedger,
  flagContradictions,
  restoreToFinish,
  runStep,
} from '../../restores/finish-restore.js';
import { settlePayouts } from '../../restores/hold-payouts.js';
import {
  beginRestore,
  copyMark,
  lastRestore,
  unqueriedRestores,
} from '../../restores/begin-restore.js';
import {
  queryRails,
  findingsOf,
  findingsSince,
  railsEverSeen,
  railsInUse,
} from '../../restores/rails.js';
import { contradicts, isLossy, needsAction } from '../../restores/rules.js';
import { type AuthorisedOps, command, localCommand, query } from '../command.js';
import { railCallsOf } from '../context.js';
import { OpsError, UsageError } from '../failures.js';
import { PROGRAM } from '../help.js';
import { flag, option, optional, reason, text, wholeNumber } from '../inputs.js';
import { time } from '../times.js';
import { type Fields, rowFields } from '../fields.js';
import type { Output } from '../output.js';

const STEPS = `
  restore begin --to TIME --reason TEXT    closes the ledger: no process posts anything
  restore finish                           a second person finishes the restore, and opens the ledger again:
    1. every event log and every chain of the audit log skips the numbers that were lost
    2. everything that waits gets its workflow; workers tell running ones to look again
    3. each rail is asked for the orders received since the moment restored to, and for the outcome of unfinished payouts
    4. the audit
  If it stops, repeat the command: it continues where it stopped. Until the ledger is open, no step can do harm.`;

function listFindings(output: Output, found: readonly RestoreFinding[]): void {
  const rows = found.map((one) =>
    rowFields(restoreFindings, one, 'kind:finding rail payoutId here there foundAt'),
  );
  output.list(rows, 'No rail contradicts what is here.');
}

interface FinishDeps extends AuthorisedOps {
  readonly calls: RailCalls;
  readonly leftOut: ReadonlySet<string>;
}

const finishCommand = command({
  summary: 'reconcile the restored database, then open the ledger',
  explanation: STEPS,
  examples: ['restore finish --as leo', 'restore finish --as leo --leave-out http:bank-a'],
  input: {
    leaveOut: optional(
      '<rails> rails that do not answer, separated by commas: repeat the command without this option to ask them',
    ),
    acceptFindings: option(
      '<count> open it even if the audit finds this many contradictions (default: 0)',
      wholeNumber(0, 999_999).prefault('0'),
    ),
  },
  needs: 'restore.finish',
  run: async (ops, { leaveOut, acceptFindings }) => {
    const { reader } = ops.database;
    const restore = await restoreToFinish(reader, ops.user());
    const leftOut = new Set(leaveOut?.split(',') ?? []);
    const work = { ...ops, calls: railCallsOf(ops, leftOut), leftOut };
    const earlier = await unqueriedRestores(reader, restore);
    const unasked = [...earlier, restore].filter(({ railsQueriedAt }) => railsQueriedAt === null);
    await assertRails(work, unasked);
    const wasClosed = restore.finishedAt === null;
    if (wasClosed) await openRestored(work, restore, acceptFindings);
    else await ops.by();
    for (const one of earlier) await ask(work, one, followUp);
    // The rails were asked already, by `openRestored` or in an earlier run.
    if (wasClosed || restore.railsQueriedAt !== null) await followUp(work, restore);
    else await ask(work, restore, followUp);
    const found = await findingsSince(reader, restore);
    listFindings(ops.output, found.filter(needsAction));
    ops.output.say(
      'The ledger is open. Contradictions about payouts of this database are also listed by: payouts stuck',
    );
    if (unasked.length > 0 && leftOut.size > 0)
      ops.output.say(
        `Not asked: ${[...leftOut].join(', ')}. Repeat the command without --leave-out when it answers.`,
      );
  },
});

/** Throws UsageError for an unknown rail, which would otherwise be ignored. */
async function assertRails(
  { database, config, clock, calls, leftOut }: FinishDeps,
  unasked: readonly Restore[],
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
  const missing = needed.filter((name) => !calls.deps.rails.has(name) && !leftOut.has(name));
  if (missing.length > 0)
    throw new UsageError(
      `payouts used ${missing.join(', ')}, which is not configured here: set PAYOUT_RAIL_URLS and PAYOUT_RAIL_KEYS as for the worker, or use --leave-out for a rail that no longer exists`,
    );
}

async function openRestored(work: FinishDeps, restore: Restore, accepted: number): Promise<void> {
  const { database, output: out, calls, leftOut, by } = work;
  const rails = [...calls.deps.rails.keys()].join(', ');
  await out.confirm(
    `Ask ${rails}, reconcile the restored database, and open the ledger. Check that every rail is among them: a rail first used in the lost time is unknown here`,
  );
  const progress = out.progress.bind(out);
  await skipLostNumbers(work, restore, await by(), progress);
  await runStep(work, restore, 'workflowsRebuiltAt', async () => {
    await rebuildOutbox(work, WORKFLOW_RESOURCES, (done, total) =>
      progress('Looking for what waits', done, total),
    );
  });
  await ask(work, restore);
  const { findings } = await auditRestored(work, restore, accepted, progress);
  if (findings.length > accepted) {
    out.list(findings, '');
    throw new OpsError(
      `the audit found ${counted(findings.length, 'contradiction')}, so the ledger stays closed: once you have examined them, repeat with --accept-findings ${findings.length}`,
    );
  }
  const found = await findingsOf(database.reader, restore.id);
  const contradictions = found.filter(contradicts).length;
  // If the rails were asked in an earlier run, none is left out.
  const unasked = restore.railsQueriedAt === null ? [...leftOut] : [];
  const recorded = { contradictions, accepted_findings: accepted };
  await openLedger(work, restore, await by(), unasked, recorded);
}

/** Applies the reports of the rails to their payouts, once the ledger is open. */
async function followUp(work: FinishDeps, restore: Restore): Promise<void> {
  await settlePayouts(work, restore, work.calls.deps.rails.keys());
  await flagContradictions(work, restore.id, work.calls);
}

/** Asks the rails. The step is done only if no rail is left out. */
async function ask(work: FinishDeps, restore: Restore, follow?: typeof followUp): Promise<void> {
  const { database, clock, output: out, calls, leftOut } = work;
  const onProgress = (rail: string, asked: number): void =>
    out.progress(`Asking ${rail}`, asked, asked);
  const step = async (): Promise<void> => {
    const deps = { database, clock, restore, onProgress };
    const unlisted = await queryRails(deps, calls.deps.rails).catch((failure: unknown) => {
      if (!(failure instanceof RailUnresponsive)) throw failure;
      throw new OpsError(
        `${failure.message}: repeat the command when it answers, or leave that rail out (--leave-out)`,
      );
    });
    for (const rail of unlisted)
      out.say(
        `${rail} does not list its payments: take its statements since the moment restored to (payouts reconcile --help)`,
      );
    await follow?.(work, restore);
  };
  if (leftOut.size === 0) await runStep(work, restore, 'railsQueriedAt', step);
  else if (restore.railsQueriedAt === null) await step();
}

function restoreFields(restore: Restore): Fields {
  return {
    id: restore.id,
    ledger: restore.finishedAt === null ? 'closed' : 'open',
    ...rowFields(restores, restore, 'noticedBy reason beganAt beganBy restoredTo lostUntil skip'),
    ...rowFields(restores, restore, 'sequencesMovedAt workflowsRebuiltAt'),
    ...rowFields(restores, restore, 'railsQueriedAt auditedAt finishedAt finishedBy'),
    ...rowFields(restores, restore, 'workflowsNotifiedAt'),
  };
}

export const restoreCommands = {
  begin: command({
    summary: 'close the ledger of a restored database, and state what was lost',
    explanation: STEPS,
    examples: [
      "restore begin --to 2026-11-22T14:10:00Z --until 2026-11-22T14:21:00Z --reason 'ticket 204: a table was dropped'",
      "restore begin --nothing-lost --reason 'moved to another server, ticket 118'",
    ],
    input: {
      to: option(
        '<time> the moment restored to; everything committed later is lost',
        time.optional(),
      ),
      until: option('<time> when the lost part ended (default: now)', time.optional()),
      skip: option(
        '<count> sequences to skip in each log (default: 10,000 for each lost second, at least 1,000,000)',
        text
          .regex(/^[1-9][0-9]{0,14}$/, 'must be a number of at least 1')
          .transform((given) => BigInt(given))
          .optional(),
      ),
      nothingLost: flag('the copy is complete: the service was stopped before it was made'),
      reason: reason(),
    },
    needs: 'restore.begin',
    check: ({ to, until, skip, nothingLost }) => {
      if (nothingLost === (to !== undefined))
        throw new UsageError('give either --to or --nothing-lost');
      if (nothingLost && (until !== undefined || skip !== undefined))
        throw new UsageError('--until and --skip need --to');
    },
    run: async (ops, { to, until, skip, reason }) => {
      const lost =
        to === undefined
          ? null
          : { restoredTo: to, until: until ?? ops.clock(), skip: skip ?? null };
      await ops.output.confirm('Close the ledger: nothing is posted until the restore is finished');
      ops.output.one(restoreFields(await beginRestore(ops, lost, reason, await ops.by())));
      ops.output.say(
        `The ledger is closed. A second person finishes it: ${PROGRAM} restore finish --as NAME`,
      );
    },
  }),
  finish: finishCommand,
  status: query({
    summary:
      'the last restore: whether its ledger is open, its progress, and earlier restores that left out a rail',
    examples: ['restore status', 'restore status --json'],
    run: async ({ database, output }) => {
      const last = await lastRestore(database.reader);
      if (last === undefined) return output.list([], 'This database was never restored.');
      const earlier = await unqueriedRestores(database.reader, last);
      output.one({ ...restoreFields(last), earlier_not_asked: earlier.map(({ id }) => id) });
    },
  }),
  findings: query({
    summary:
      'contradictions found by the last restore; unknown_here: a payment that this database does not know',
    examples: ['restore findings', 'restore findings --all --json'],
    input: { all: flag('include those that need no action') },
    run: async ({ database, output }, { all }) => {
      const last = await lastRestore(database.reader);
      const found = last === undefined ? [] : await findingsSince(database.reader, last);
      listFindings(output, all ? found : found.filter(needsAction));
    },
  }),
};

export const backupCommands = {
  mark: localCommand({
    summary:
      'print the SQL that closes a copy of the database: append it to each dump, or start a physical copy with it (--init-file)',
    explanation: `
A copy that is loaded with the mark posts nothing until its restore is finished (restore --help). The mark changes nothing
if a restore is already unfinished.`,
    examples: ['backup mark', 'backup mark --database money_drill'],
    input: {
      database: option(
        '<name> of the copy (default: money)',
        text.regex(/^[A-Za-z0-9_]{1,64}$/, 'must be a plain name').default('money'),
      ),
    },
    run: (output, { database }) => output.verbatim(copyMark(systemClock, database)),
  }),
};
