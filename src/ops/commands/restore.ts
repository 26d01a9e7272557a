import { systemClock, toRfc3339 } from '../../core/instant.js';
import { type Restore, restores } from '../../db/entities/restores.js';
import {
  beginRestore,
  copyMark,
  lastRestore,
  unqueriedRestores,
} from '../../restores/begin-restore.js';
import { findingsSince } from '../../restores/rails.js';
import { contradicts } from '../../restores/rules.js';
import { command, group, localCommand, query } from '../command.js';
import { UsageError } from '../failures.js';
import { PROGRAM } from '../help.js';
import { flag, option, text, time } from '../inputs.js';
import { type Fields, rowFields } from '../output.js';
import { finishCommand, listFindings, STEPS } from './restore-finish.js';

function restoreFields(restore: Restore): Fields {
  return {
    id: restore.id,
    ledger: restore.finishedAt === null ? 'closed' : 'open',
    ...rowFields(restores, restore, 'noticedBy reason beganAt beganBy restoredTo lostUntil skip'),
    sequences_moved_at: toRfc3339(restore.movedAt),
    workflows_rebuilt_at: toRfc3339(restore.rebuiltAt),
    rails_asked_at: toRfc3339(restore.askedAt),
    audited_at: toRfc3339(restore.auditedAt),
    ...rowFields(restores, restore, 'finishedAt finishedBy'),
    workflows_told_at: toRfc3339(restore.toldAt),
  };
}

export const restoreCommands = group('reconcile a database restored to an earlier moment', {
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
      reason: option('<text> why, up to 140 characters'),
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
      ops.output.one(restoreFields(await beginRestore(ops, lost, reason, ops.by())));
      ops.output.say(
        `The ledger is closed. A second person finishes it: ${PROGRAM} restore finish --as NAME`,
      );
    },
  }),
  finish: finishCommand,
  status: query({
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
  findings: query({
    summary:
      'contradictions found by the last restore; unknown_here: a payment that this database does not know',
    examples: ['restore findings', 'restore findings --all --json'],
    input: { all: flag('include those that need no action') },
    run: async ({ database, output }, { all }) => {
      const last = await lastRestore(database.reader);
      const found = last === undefined ? [] : await findingsSince(database.reader, last);
      listFindings(output, all ? found : found.filter(contradicts));
    },
  }),
});

export const backupCommands = group('the mark that closes a copy of the database', {
  mark: localCommand({
    summary:
      'print the SQL that closes a copy of the database: put it behind each dump, or start a physical copy with it',
    explanation: `
A copy that is loaded with the mark posts nothing until its restore is finished (restore --help). The mark changes nothing
if a restore is already open.`,
    examples: ['backup mark', 'backup mark --database money_drill'],
    input: {
      database: option(
        '<name> of the copy (default: money)',
        text.regex(/^[A-Za-z0-9_]{1,64}$/, 'must be a plain name').default('money'),
      ),
    },
    run: (output, { database }) => output.verbatim(copyMark(systemClock, database)),
  }),
});
