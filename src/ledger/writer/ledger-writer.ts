import type { CommandResult } from '../../core/errors.js';
import { ConcurrencyLimit } from '../../core/concurrency-limit.js';
import type { Uuid } from '../../core/ids.js';
import { Deadline } from '../../core/timers.js';
import {
  DatabaseUnavailable,
  errnoOf,
  isDataFault,
  isDuplicateKey,
  isLockWait,
  isUnavailable,
  TransactionRetryable,
} from '../../db/failures.js';
import {
  findResults,
  resolveUnknown,
  RESULT_UNKNOWN,
  FINGERPRINT_KEY_UNKNOWN,
  UnknownResults,
} from '../idempotency.js';
import { determineAccounts, type GroupDeps, postGroup } from './group.js';
import { GroupScheduler, LockWaitQueue, type SchedulerOptions } from './group-scheduler.js';
import { LedgerClosed } from './locked-rows.js';
import type { WriterObserver } from './metrics.js';
import {
  type CommandResults,
  type GroupAccounts,
  type PendingCommand,
  newPendingCommand,
} from './pending-command.js';
import { AccountNotLocked } from './group-state.js';
import type { Command, CommandKind } from './types.js';

export interface WriterOptions extends SchedulerOptions {
  /** Commands in progress, in queues or groups. One tenant may have at most half of them. */
  readonly maxQueue: number;
  /** Time of commands without a deadline, including the time in the queue. */
  readonly commandTimeoutMs: number;
}

/** After a group with this share of replays, the next group's keys are read before locking. */
const REPLAYS_SHARE = 0.25;
const RETRY_PAUSE_MS = 5;
/** A second failure means that the server is down. */
const UNAVAILABLE_TRIES = 2;
/** How long after the first deadline of a group its COMMIT may still be sent. */
const GRACE_MS = 250;

/*
 * The path of a command:
 *
 *   submit ─ GroupScheduler ─ run   queued commands become a group
 *     determineAccounts             determines the accounts of each command (kind.accounts)
 *     findResults                   returns the results of commands with a bound key
 *                                   (../idempotency.ts): before locking only if replays are likely
 *                                   or the accounts are locked elsewhere, and after failures
 *     postGroup                     one transaction (group.ts):
 *       lockAndLoad                   locks the accounts in sorted order, then reads the clock, the
 *                                     keys and the rows of kind.rowKeys (locked-rows.ts,
 *                                     loaded-table.ts)
 *       decideAll                     decides each command in turn, and applies the decision to the
 *                                     group's state (kind.decide, group-state.ts)
 *       writeGroup                    writes the rows, then events under their counters' locks
 *                                     (group-writes.ts, ../event-log.ts)
 *     settle                        answers the commands, after COMMIT
 *
 * If another session holds a lock, the commands move to LockWaitQueue.
 */

/**
 * Writes all changes of money. Commands that arrive while groups are in flight share the next
 * transaction. A command is answered only after its COMMIT.
 */
export class LedgerWriter {
  private readonly scheduler: GroupScheduler;
  private readonly lockWaits: LockWaitQueue;
  private readonly inProgress: ConcurrencyLimit;
  private whenIdle: (() => void)[] = [];
  private expectsReplays = false;

  constructor(
    private readonly deps: GroupDeps,
    private readonly options: WriterOptions,
    private readonly observer: WriterObserver,
  ) {
    this.inProgress = new ConcurrencyLimit(Math.ceil(options.maxQueue / 2), options.maxQueue);
    const onIdle = (): void => {
      if (this.isIdle()) this.whenIdle.splice(0).forEach((resolve) => resolve());
    };
    this.lockWaits = new LockWaitQueue(deps.database, {
      maxGroup: options.maxGroup,
      post: (group) => this.runOrGiveUp(group, () => this.post(group)),
      onFault: (fault) => deps.onFault('lock waits', fault),
      onIdle,
    });
    this.scheduler = new GroupScheduler(options, (...args) => this.run(...args), {
      groupTaken: (queued) => observer.queued(queued),
      idle: onIdle,
    });
  }

  /**
   * Decides the command, or returns the earlier result of its key. Never rejects: without a result
   * by the deadline, resolves to the refusal `ledger_unavailable`.
   */
  submit<C extends Command, Row extends { readonly id: Uuid }>(
    kind: CommandKind<C, Row>,
    command: C,
    deadline = Deadline.afterMs(this.options.commandTimeoutMs),
  ): Promise<CommandResult<Row>> {
    return this.enqueue(kind, command, { submission: Symbol(), deadline });
  }

  /**
   * Decides the commands in this order, in one transaction unless a lock or an error moves some to
   * a later one.
   */
  submitTogether<C extends Command, Row extends { readonly id: Uuid }>(
    kind: CommandKind<C, Row>,
    commands: readonly C[],
  ): Promise<readonly CommandResult<Row>[]> {
    const deadline = Deadline.afterMs(this.options.commandTimeoutMs);
    const together = { submission: Symbol(), deadline };
    return Promise.all(commands.map((command) => this.enqueue(kind, command, together)));
  }

  private enqueue<C extends Command, Row extends { readonly id: Uuid }>(
    kind: CommandKind<C, Row>,
    command: C,
    submitted: Pick<PendingCommand, 'submission' | 'deadline'>,
  ): Promise<CommandResult<Row>> {
    const release = submitted.deadline.passed() ? null : this.admit(command.tenantId);
    if (release === null) return Promise.resolve(RESULT_UNKNOWN);
    return new Promise((resolve) => {
      const answer = (result: CommandResult<Row>): void => {
        release();
        resolve(result);
      };
      this.scheduler.add(newPendingCommand(kind, command, submitted, answer));
    });
  }

  /** Counts work of a tenant as in progress until its end. Returns null if there is too much. */
  admit(tenantId: Uuid): (() => void) | null {
    const release = this.inProgress.tryTake(tenantId);
    if (release === null) this.observer.shed();
    return release;
  }

  async idle(): Promise<void> {
    if (!this.isIdle()) await new Promise<void>((resolve) => this.whenIdle.push(resolve));
  }

  private isIdle(): boolean {
    return this.scheduler.isIdle && this.lockWaits.isIdle;
  }

  private async run(group: readonly PendingCommand[], onCommitting: () => void): Promise<void> {
    const began = performance.now();
    for (const { span } of group) span?.setAttributes({ 'ledger.group.commands': group.length });
    await this.runOrGiveUp(group, async () => {
      const [groupAccounts] = await Promise.all([
        determineAccounts(this.deps.database.lookup, group, false).catch(() => null),
        this.expectsReplays ? this.answerBoundIfReadable(group) : null,
      ]);
      // `post` tries it again, and handles the failure.
      if (groupAccounts === null) return this.post(group);
      const isBlocked = (pending: PendingCommand): boolean =>
        this.lockWaits.isBlocked(groupAccounts.ids.get(pending) ?? []);
      const blocked = new Set(group.filter((pending) => isOpen(pending) && isBlocked(pending)));
      if (blocked.size > 0) await this.waitForLocks([...blocked], groupAccounts);
      await this.post(
        group.filter((pending) => isOpen(pending) && !blocked.has(pending)),
        groupAccounts,
        onCommitting,
      );
    });
    this.observer.groupPosted(group.length, (performance.now() - began) / 1000);
  }

  /** Answers the group with `ledger_unavailable` if `work` fails. Clients repeat the requests. */
  private async runOrGiveUp(
    group: readonly PendingCommand[],
    work: () => Promise<void>,
  ): Promise<void> {
    try {
      await work();
    } catch (fault) {
      if (!(fault instanceof DatabaseUnavailable)) this.deps.onFault('group', fault);
      await this.giveUp(group);
    }
  }

  /** Retries while time remains and the failure means that nothing was committed. */
  private async post(
    group: readonly PendingCommand[],
    known?: GroupAccounts,
    onCommitting?: () => void,
  ): Promise<void> {
    let [unavailable, duplicates] = [0, 0];
    let groupAccounts = known;
    for (let open = group; ;) {
      open = open.filter((pending) => isOpen(pending) && !pending.deadline.passed());
      if (open.length === 0) return;
      const deadline = Deadline.earliestOf(open.map((pending) => pending.deadline)).plus(GRACE_MS);
      try {
        groupAccounts ??= await determineAccounts(this.deps.database.lookup, open, true);
        return this.settle(await postGroup(this.deps, open, groupAccounts, deadline, onCommitting));
      } catch (failure) {
        if (failure instanceof LedgerClosed) return this.giveUp(open);
        if (failure instanceof UnknownResults) return this.resolveUnknown(open, failure);
        // Another session took a unique value after the rows were read: the decision reads it now.
        const mayRefuse = open.length === 1 && isDuplicateKey(failure) && ++duplicates < 2;
        if (mayBeOfOne(failure) && !mayRefuse) return this.postOneByOne(open, failure);
        if (groupAccounts !== undefined && isLockWait(failure)) {
          this.observer.groupRetried('lock_wait');
          return this.waitForLocks(open, groupAccounts);
        }
        if (mayRefuse) this.observer.groupRetried('data_fault');
        else if (failure instanceof AccountNotLocked) this.observer.groupRetried('unlocked');
        else if (failure instanceof TransactionRetryable) this.observer.groupRetried('rolled_back');
        else if (
          failure instanceof DatabaseUnavailable &&
          (deadline.passed() || ++unavailable < UNAVAILABLE_TRIES)
        )
          this.observer.groupRetried('unavailable');
        else throw failure;
        groupAccounts = undefined;
        await this.answerBoundIfReadable(open);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * RETRY_PAUSE_MS));
      }
    }
  }

  /** Moves the commands to the queue for lock waits, except those whose key is bound. */
  private async waitForLocks(
    group: readonly PendingCommand[],
    groupAccounts: GroupAccounts,
  ): Promise<void> {
    await this.answerBoundIfReadable(group);
    this.lockWaits.add(group.filter(isOpen), groupAccounts);
  }

  /** Answers the commands whose key is bound. Ignores a failure to read the keys. */
  private async answerBoundIfReadable(group: readonly PendingCommand[]): Promise<void> {
    const open = group.filter(isOpen);
    if (open.length === 0) return;
    this.settle(await findResults(this.deps.database.lookup, open).catch(() => new Map()));
  }

  private async giveUp(group: readonly PendingCommand[]): Promise<void> {
    await this.answerBoundIfReadable(group);
    for (const pending of group) pending.answer(RESULT_UNKNOWN);
  }

  private settle(results: CommandResults): void {
    let replays = 0;
    for (const [pending, result] of results) {
      if (result === FINGERPRINT_KEY_UNKNOWN) this.observer.fingerprintKeyUnknown();
      if (result.replayed) replays += 1;
      pending.answer(result);
    }
    if (results.size > 0) this.expectsReplays = replays >= results.size * REPLAYS_SHARE;
  }

  /** Posts each command alone, so that only the command at fault fails. */
  private async postOneByOne(group: readonly PendingCommand[], failure: unknown): Promise<void> {
    this.observer.groupRetried('data_fault');
    await this.answerBoundIfReadable(group);
    const open = group.filter(isOpen);
    if (open.length === 1 && group.length === 1) throw failure;
    for (const pending of open)
      await this.post([pending]).catch((fault: unknown) => {
        this.deps.onFault(pending.kind.name, fault);
        pending.answer(RESULT_UNKNOWN);
      });
  }

  private resolveUnknown(
    group: readonly PendingCommand[],
    unknown: UnknownResults<PendingCommand>,
  ): Promise<void> {
    this.observer.commitUnknown();
    const open = (): readonly PendingCommand[] => group.filter(isOpen);
    return resolveUnknown(this.deps.database.current, unknown, open, (found) => this.settle(found));
  }
}

/** Returns whether one command may be the cause: its data, or a row that this release cannot read. */
function mayBeOfOne(failure: unknown): boolean {
  const isOwnFault = errnoOf(failure) === null && !isUnavailable(failure);
  return isDataFault(failure) || (isOwnFault && !(failure instanceof AccountNotLocked));
}

function isOpen({ isAnswered }: PendingCommand): boolean {
  return !isAnswered;
}

/** Ledger writers of a process, each with its own queue, so that a backlog delays no other. */
export class LedgerWriters {
  private readonly writers: LedgerWriter[] = [];

  constructor(private readonly make: (name: string) => LedgerWriter) {}

  add(name: string): LedgerWriter {
    const writer = this.make(name);
    this.writers.push(writer);
    return writer;
  }

  /** Resolves once every command submitted to any writer has been answered. */
  async idle(): Promise<void> {
    await Promise.all(this.writers.map((writer) => writer.idle()));
  }
}
