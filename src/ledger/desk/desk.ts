import type { Uuid } from '../../core/ids.js';
import { Deadline } from '../../db/deadline.js';
import {
  DatabaseUnavailable,
  isDataFault,
  isLockWait,
  TransactionRetryable,
} from '../../db/failures.js';
import {
  findAnswers,
  resolveUnknown,
  UNKNOWN,
  UNKNOWN_KEY,
  UnknownResults,
} from '../idempotency.js';
import { AccountTurns } from './account-turns.js';
import { nameAccounts, postGroup } from './group.js';
import { LedgerClosed } from './loading.js';
import type { DeskObserver } from './observer.js';
import { Parking } from './parking.js';
import { Pace } from './pace.js';
import { Pump, type PumpOptions } from './pump.js';
import { AccountNotLocked } from './state.js';
import type { Answers, GroupDeps, NamedAccounts, PendingCommand } from './pending-commands.js';
import type { Answer, Command, CommandKind } from './types.js';
import { type Waiting, waitingFor } from './waiting.js';

export interface DeskOptions extends PumpOptions {
  /** Commands waiting beyond this are answered 503 at once. */
  readonly maxQueue: number;
  /** How long a command may take in all, including queueing. */
  readonly commandTimeoutMs: number;
  /** Whether a group waits here, not for locks, for this desk's groups with a common account: a round trip each. */
  readonly isInTurn: boolean;
}

/** From this share of a group on. */
const REPLAYS_SHARE = 0.25;
const RETRY_PAUSE_MS = 5;
/** A broken connection says nothing about the next one; a second failure means that the server is away. */
const UNAVAILABLE_TRIES = 2;

/*
 * The path of a command:
 *
 *   submit ─ queue ─ run      what has queued up becomes a group of pending commands (pending-commands.ts)
 *     nameAccounts            kind.accounts: which accounts they touch
 *     findAnswers             keys that are already bound are answered (../idempotency.ts): before the locks only if
 *                             that is likely, or the accounts are busy; and after a failure
 *     postGroup               one transaction (group.ts):
 *       lockAndLoad             the accounts' rows, sorted; under these locks the keys again, and what kind.needs asks for
 *                               (loading.ts, loaded-table.ts)
 *       decideAll               kind.decide, one after the other, each applied to the state (state.ts)
 *       writeGroup              rows, then events under their counters' locks (writer.ts, ../event-log.ts)
 *     settle                  nobody is answered before COMMIT
 */

/**
 * The posting desk: the only way money is written. Concurrent commands share a transaction (group commit): those that
 * queued up while earlier groups were in flight form the next group, and nothing is answered before its commit.
 */
export class PostingDesk {
  private readonly pace = new Pace();
  private readonly pump: Pump;
  private readonly turns = new AccountTurns();
  private whenIdle: (() => void)[] = [];
  private readonly parking: Parking<Waiting>;
  /** Whether many of the last commands had been answered before: the next group's keys are then looked up before the locks. */
  private expectsReplays = false;

  constructor(
    private readonly deps: GroupDeps,
    private readonly options: DeskOptions,
    private readonly observer: DeskObserver,
  ) {
    this.parking = new Parking(deps.database, options.maxGroup, {
      run: (group) => this.runParked(group),
      onFault: (fault) => deps.onFault('parked group', fault),
      idle: () => this.tellIdle(),
    });
    this.pump = new Pump(options, this.pace, (group) => this.run(group), {
      taken: (waiting) => observer.queued(waiting),
      idle: () => this.tellIdle(),
    });
  }

  /**
   * Decides the command, or returns its key's earlier result. Never throws: a result that cannot be known within the
   * command's time is the refusal `ledger_unavailable`.
   */
  submit<C extends Command, Row extends { readonly id: Uuid }>(
    kind: CommandKind<C, Row>,
    command: C,
  ): Promise<Answer<Row>> {
    return this.enqueue(kind, command, Symbol());
  }

  /** Decided in this order in one transaction; only one separated by a busy account or a fault may come later. */
  submitTogether<C extends Command, Row extends { readonly id: Uuid }>(
    kind: CommandKind<C, Row>,
    commands: readonly C[],
  ): Promise<readonly Answer<Row>[]> {
    const submission = Symbol();
    return Promise.all(commands.map((command) => this.enqueue(kind, command, submission)));
  }

  private enqueue<C extends Command, Row extends { readonly id: Uuid }>(
    kind: CommandKind<C, Row>,
    command: C,
    submission: symbol,
  ): Promise<Answer<Row>> {
    if (this.pump.waiting >= this.options.maxQueue) {
      this.observer.shed();
      return Promise.resolve(UNKNOWN);
    }
    return new Promise((resolve) => {
      const { commandTimeoutMs } = this.options;
      this.pump.add(
        waitingFor(kind, command, { submission, timeoutMs: commandTimeoutMs }, resolve),
      );
    });
  }

  /** How many commands hold their accounts for so long if they share a group, by the groups of late. */
  commandsWithin(ms: number): number {
    return this.pace.commandsWithin(ms);
  }

  /** Resolves once everything submitted has been answered. */
  async idle(): Promise<void> {
    if (this.isIdle()) return;
    await new Promise<void>((resolve) => this.whenIdle.push(resolve));
  }

  private isIdle(): boolean {
    return this.pump.isIdle && this.parking.isIdle;
  }

  private tellIdle(): void {
    if (this.isIdle()) this.whenIdle.splice(0).forEach((resolve) => resolve());
  }

  private async run(group: readonly Waiting[]): Promise<void> {
    const began = performance.now();
    for (const { span } of group) span?.tell({ 'desk.group.commands': group.length });
    try {
      const [named] = await Promise.all([
        nameAccounts(this.deps.database.lookup, group, false),
        this.expectsReplays ? this.answerKnown(group) : null,
      ]);
      await this.park(group.filter(isOpen), named);
      const post = (): Promise<void> => this.post(group.filter(isOpen), named);
      await (this.options.isInTurn
        ? this.turns.take([...named.ids.values()].flat(), post)
        : post());
    } catch (fault) {
      // Whatever failed, nobody was answered: the result is unknown to the client, who repeats the request with its
      // key.
      if (!(fault instanceof DatabaseUnavailable)) this.deps.onFault('group', fault);
      await this.giveUp(group);
    }
    this.observer.groupPosted(group.length, (performance.now() - began) / 1000);
  }

  /** Posts the group, and retries while time remains and the failure means that nothing happened. */
  private async post(group: readonly Waiting[], firstNamed?: NamedAccounts): Promise<void> {
    let unavailable = 0;
    let named = firstNamed;
    for (
      let open = group;
      ;
      open = open.filter((pending) => isOpen(pending) && !pending.deadline.passed())
    ) {
      const [first, ...rest] = open;
      if (first === undefined) return;
      const deadline = Deadline.latestOf([
        first.deadline,
        ...rest.map((pending) => pending.deadline),
      ]);
      try {
        named ??= await nameAccounts(this.deps.database.lookup, open, true);
        return this.settle(await postGroup(this.deps, open, named, deadline, this.pace));
      } catch (failure) {
        const lastNamed = named;
        named = undefined;
        if (failure instanceof LedgerClosed) return this.giveUp(open);
        if (failure instanceof UnknownResults) return this.resolveUnknown(open, failure);
        if (isDataFault(failure)) return this.postOneByOne(open, failure);
        if (failure instanceof AccountNotLocked) this.observer.groupRetried('unlocked');
        else if (lastNamed !== undefined && isLockWait(failure))
          await this.setAsideBusy(open, lastNamed);
        else if (failure instanceof TransactionRetryable) this.observer.groupRetried('rolled_back');
        else if (failure instanceof DatabaseUnavailable && ++unavailable < UNAVAILABLE_TRIES)
          this.observer.groupRetried('unavailable');
        else throw failure;
        await this.answerIfKnown(open);
        await pause(Math.random() * RETRY_PAUSE_MS);
      }
    }
  }

  /** Finds which accounts were waited for, and lets their commands wait apart from the others. */
  private async setAsideBusy(group: readonly Waiting[], named: NamedAccounts): Promise<void> {
    this.observer.groupRetried('lock_wait');
    this.pace.forget();
    await this.parking.look([...new Set(group.flatMap((pending) => named.ids.get(pending) ?? []))]);
    await this.park(group, named);
  }

  /** What a bound key says waits for nobody. */
  private async park(group: readonly Waiting[], named: NamedAccounts): Promise<void> {
    const busy = this.parking.busyOf(group, named);
    if (busy.length === 0) return;
    await this.answerKnown(busy);
    this.parking.park(busy.filter(isOpen), named);
  }

  private runParked(group: readonly Waiting[]): Promise<void> {
    return this.post(group).catch((fault: unknown) => {
      if (!(fault instanceof DatabaseUnavailable)) this.deps.onFault('parked group', fault);
      return this.giveUp(group);
    });
  }

  private async answerKnown(group: readonly Waiting[]): Promise<void> {
    this.settle(await findAnswers(this.deps.database.lookup, group));
  }

  /** The same after a failure: a bound key stays true whatever failed, and may be unreadable now. */
  private async answerIfKnown(group: readonly Waiting[]): Promise<void> {
    const open = group.filter(isOpen);
    if (open.length > 0) await this.answerKnown(open).catch(() => undefined);
  }

  /** What no key tells is unknown. */
  private async giveUp(group: readonly Waiting[]): Promise<void> {
    await this.answerIfKnown(group);
    answerUnknown(group);
  }

  private settle(answers: Answers): void {
    let replays = 0;
    for (const [pending, answer] of answers) {
      if (answer === UNKNOWN_KEY) this.observer.keyUnknown();
      if (answer.replayed) replays += 1;
      pending.answer(answer);
    }
    if (answers.size > 0) this.expectsReplays = replays >= answers.size * REPLAYS_SHARE;
  }

  /** A statement failed because of one command's content: each is tried alone, so that only that one fails. */
  private async postOneByOne(group: readonly Waiting[], failure: unknown): Promise<void> {
    this.observer.groupRetried('data_fault');
    await this.answerKnown(group);
    const open = group.filter(isOpen);
    if (open.length === 1 && group.length === 1) throw failure;
    for (const pending of open)
      await this.post([pending]).catch((fault: unknown) => {
        this.deps.onFault(pending.kind.name, fault);
        answerUnknown([pending]);
      });
  }

  private resolveUnknown(
    group: readonly Waiting[],
    unknown: UnknownResults<PendingCommand>,
  ): Promise<void> {
    this.observer.commitUnknown();
    const open = (): readonly PendingCommand[] => group.filter((pending) => !pending.answered);
    return resolveUnknown(this.deps.database.current, unknown, open, (found) => this.settle(found));
  }
}

function isOpen({ answered, parked }: Waiting): boolean {
  return !answered && !parked;
}

function answerUnknown(group: readonly PendingCommand[]): void {
  for (const pending of group) pending.answer(UNKNOWN);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
