import { groupBy } from '../../core/collections.js';
import { failpoint, isArmed } from '../../core/failpoints.js';
import type { Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import type { Traceparent } from '../../core/trace.js';
import type { Reader, Transaction } from '../../db/database.js';
import type { Deadline } from '../../core/timers.js';
import { outbox } from '../../db/entities/outbox.js';
import { CommitUnknown } from '../../db/failures.js';
import { resultsOf, TransactionKeys, RESULT_UNKNOWN, UnknownResults } from '../idempotency.js';
import { type LoadDeps, lockAndLoad, type LockedGroup } from './locked-rows.js';
import { AccountNotLocked, type GroupState } from './group-state.js';
import type { CommandResults, AnyRow, GroupAccounts, PendingCommand } from './pending-command.js';
import { type Decision, NO_OWNERS, type OwnerFinder, type Writes } from './types.js';
import { writeGroup } from './group-writes.js';

interface RollbackChecks {
  /** Runs in each group's transaction, before any lock. */
  checkConnection(transaction: Transaction): Promise<void>;
  /** Called after COMMIT with the id of the group's last ledger transaction. */
  remember(id: Uuid): void;
}

export interface GroupDeps extends LoadDeps {
  readonly rollbackGuard: RollbackChecks;
  /** Commands were refused because an account is dated too far ahead of the database's clock. */
  readonly onAccountAhead: (accountId: Uuid, aheadMs: number) => void;
}

/**
 * Decides the group in one transaction and commits it. Once this returns, every result is durable.
 * Calls `onCommitting` when COMMIT has been sent. Throws `AccountNotLocked`, `TransactionRetryable`,
 * `UnknownResults`, `DatabaseUnavailable` or the error of a statement.
 */
export async function postGroup(
  deps: GroupDeps,
  group: readonly PendingCommand[],
  groupAccounts: GroupAccounts,
  deadline: Deadline,
  onCommitting: () => void = () => undefined,
): Promise<CommandResults> {
  failpoint('before_lock');
  const bound = new TransactionKeys();
  let newest: Uuid | undefined;
  let results: CommandResults = new Map();
  try {
    await deps.database.withPosting(
      async (transaction) => {
        await deps.rollbackGuard.checkConnection(transaction);
        const loaded = await lockAndLoad(deps, transaction, group, groupAccounts);
        failpoint('after_lock');
        const input = { ...loaded, groupAccounts, bound, deadline };
        results = await decideGroup(deps, transaction, group, input);
        newest = loaded.state.writes.transactions.at(-1)?.id;
        // By then, COMMIT has been sent.
        setImmediate(() => {
          failpoint('while_committing');
          onCommitting();
        });
      },
      deadline,
      isArmed('before_commit') ? () => failpoint('before_commit') : null,
    );
  } catch (failure) {
    throw failure instanceof CommitUnknown
      ? new UnknownResults(results, bound.commitId, failure)
      : failure;
  }
  if (newest !== undefined) deps.rollbackGuard.remember(newest);
  failpoint('after_commit');
  return results;
}

interface DecisionInput extends LockedGroup {
  readonly groupAccounts: GroupAccounts;
  readonly bound: TransactionKeys;
  readonly deadline: Deadline;
}

/** Decides the commands and sends all writes except COMMIT. The accounts are already locked. */
async function decideGroup(
  deps: GroupDeps,
  transaction: Transaction,
  group: readonly PendingCommand[],
  { groupAccounts, state, keys, lockedAt, now, bound, deadline }: DecisionInput,
): Promise<CommandResults> {
  const replayed = await resultsOf(transaction, group, keys);
  const open = group.filter((pending) => !replayed.has(pending));
  const decided = decideAll(deps, state, open, groupAccounts, now, bound);
  // The time was read before it arrived, so this is not later than the deadline.
  const until = instant(lockedAt + deadline.leftMs());
  await writeGroup(transaction, bound, state.writes, now, until);
  return new Map([...replayed, ...decided]);
}

export async function determineAccounts(
  reader: Reader,
  group: readonly PendingCommand[],
  isRetry: boolean,
): Promise<GroupAccounts> {
  const byKind = groupBy(group, (pending) => pending.kind);
  const ids = new Map<PendingCommand, readonly Uuid[]>();
  const owners = new Map<PendingCommand['kind'], OwnerFinder>();
  await Promise.all(
    Array.from(byKind, async ([kind, own]) => {
      const { ids: ofEach, ownerOf = NO_OWNERS } = await kind.accounts(
        own.map((pending) => pending.command),
        reader,
        isRetry,
      );
      own.forEach((pending, index) => ids.set(pending, ofEach[index] ?? []));
      owners.set(kind, ownerOf);
    }),
  );
  return { ids, owners };
}

/**
 * Decides the commands in order. A key that occurs twice in the group is decided once. If an
 * account is dated too far ahead, its commands are refused, because a posting would give this date
 * to every account that it touches.
 */
function decideAll(
  deps: GroupDeps,
  state: GroupState,
  group: readonly PendingCommand[],
  groupAccounts: GroupAccounts,
  now: Instant,
  bound: TransactionKeys,
): CommandResults {
  const decided: CommandResults = new Map();
  const ahead = new Map<Uuid, number>();
  for (const pending of group) {
    const earlier = bound.resultFor<AnyRow>(pending);
    if (earlier !== undefined) {
      decided.set(pending, earlier);
      continue;
    }
    const accountIds = groupAccounts.ids.get(pending) ?? [];
    const latest = state.latestPosted(accountIds);
    if (latest !== undefined && deps.databaseClock.isTooFarAhead(latest.lastPostedAt, now)) {
      ahead.set(latest.id, latest.lastPostedAt - now);
      decided.set(pending, RESULT_UNKNOWN);
      continue;
    }
    const at = state.instantOf(accountIds, now, deps.databaseClock);
    const decision = decideOne(deps, state, pending, accountIds, at);
    const answer =
      decision === null ? RESULT_UNKNOWN : { outcome: decision.outcome, replayed: false };
    decided.set(pending, answer);
    if (decision?.bindsKey === true) bound.bind(pending, decision.outcome, at);
  }
  for (const [accountId, aheadMs] of ahead) deps.onAccountAhead(accountId, aheadMs);
  return decided;
}

/** Returns null after a bug in the decision, so that only this command fails. */
function decideOne(
  deps: GroupDeps,
  state: GroupState,
  { kind, command, span }: PendingCommand,
  accountIds: readonly Uuid[],
  at: Instant,
): Decision<AnyRow> | null {
  try {
    const decision = kind.decide(command, state.lockedState(at, accountIds));
    state.apply(
      span === null ? decision.writes : addTrace(decision.writes, span.traceparent),
      command.tenantId,
      at,
    );
    return decision;
  } catch (fault) {
    if (fault instanceof AccountNotLocked) throw fault;
    deps.onFault(kind.name, fault);
    return null;
  }
}

function addTrace(writes: Writes, traceparent: Traceparent): Writes {
  const { events = [], rows = [] } = writes;
  return {
    ...writes,
    events: events.map((event) => ({ ...event, traceparent })),
    rows: rows.map((write) =>
      write.table === outbox ? { ...write, row: { ...write.row, traceparent } } : write,
    ),
  };
}
