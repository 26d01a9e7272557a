import type { CommandResult } from '../../core/errors.js';
import type { Uuid } from '../../core/ids.js';
import { beginSpan, type OpenSpan } from '../../core/trace.js';
import type { Deadline } from '../../core/timers.js';
import { RESULT_UNKNOWN } from '../idempotency.js';
import type { Command, CommandKind, OwnerFinder } from './types.js';

export type AnyRow = { readonly id: Uuid };

/** A submitted command. `LedgerWriter.submit` ensures that `kind` and `command` match. */
export interface PendingCommand {
  readonly kind: CommandKind<Command, AnyRow>;
  readonly command: Command;
  /** Shared by commands submitted together. */
  readonly submission: symbol;
  readonly deadline: Deadline;
  /** Span in the request's trace, from queueing to the result. Null outside a trace. */
  readonly span: OpenSpan | null;
  readonly isAnswered: boolean;
  /** Sets the result. Only the first call counts. */
  readonly answer: (answer: CommandResult<AnyRow>) => void;
}

/** Answers the command with `ledger_unavailable` at its deadline. */
export function newPendingCommand<C extends Command, Row extends AnyRow>(
  kind: CommandKind<C, Row>,
  command: C,
  { submission, deadline }: Pick<PendingCommand, 'submission' | 'deadline'>,
  resolve: (answer: CommandResult<Row>) => void,
): PendingCommand {
  const timer = setTimeout(() => pending.answer(RESULT_UNKNOWN), deadline.leftMs());
  const pending = {
    // The queue holds commands of every kind, and passes each kind only its own commands.
    kind: kind,
    command,
    submission,
    deadline,
    isAnswered: false,
    span: beginSpan({ name: `ledger ${kind.name}` }),
    answer: (answer: CommandResult<AnyRow>): void => {
      if (pending.isAnswered) return;
      pending.isAnswered = true;
      clearTimeout(timer);
      pending.span?.setAttributes({
        'ledger.answer': answer.outcome.done ? 'done' : answer.outcome.refusal.code,
      });
      pending.span?.end();
      resolve(answer as CommandResult<Row>);
    },
  };
  return pending;
}

export type CommandResults = Map<PendingCommand, CommandResult<AnyRow>>;

export interface GroupAccounts {
  readonly ids: ReadonlyMap<PendingCommand, readonly Uuid[]>;
  readonly owners: ReadonlyMap<PendingCommand['kind'], OwnerFinder>;
}
