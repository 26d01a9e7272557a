import type { Failpoints } from '../../core/failpoints.js';
import type { Uuid } from '../../core/ids.js';
import { beginSpan, type OpenSpan } from '../../core/trace.js';
import type { DatabaseDeps, Transaction } from '../../db/database.js';
import { Deadline } from '../../db/deadline.js';
import type { DatabaseClock } from '../database-clock.js';
import { UNKNOWN } from '../idempotency.js';
import type { Answer, Command, CommandKind, OwnerFinder } from './types.js';

export type AnyRow = { readonly id: Uuid };

/** A submitted command. `LedgerWriter.submit` matches the kind's types to the command's. */
export interface PendingCommand {
  readonly kind: CommandKind<Command, AnyRow>;
  readonly command: Command;
  /** Shared by commands submitted together. */
  readonly submission: symbol;
  readonly deadline: Deadline;
  /** The span in the request's trace, from the queue to the answer; null outside a trace. */
  readonly span: OpenSpan | null;
  readonly answered: boolean;
  /** Only the first answer counts. */
  readonly answer: (answer: Answer<AnyRow>) => void;
}

/** Makes a pending command, which is answered with "unknown" when its time is over. */
export function pendingCommand<C extends Command, Row extends AnyRow>(
  kind: CommandKind<C, Row>,
  command: C,
  { submission, timeoutMs }: { readonly submission: symbol; readonly timeoutMs: number },
  resolve: (answer: Answer<Row>) => void,
): PendingCommand {
  const timer = setTimeout(() => pending.answer(UNKNOWN), timeoutMs);
  const pending = {
    // The queue holds commands of every kind; each kind only gets back its own commands.
    kind: kind,
    command,
    submission,
    deadline: Deadline.afterMs(timeoutMs),
    answered: false,
    span: beginSpan({ name: `desk ${kind.name}` }),
    answer: (answer: Answer<AnyRow>): void => {
      if (pending.answered) return;
      pending.answered = true;
      clearTimeout(timer);
      pending.span?.tell({
        'desk.answer': answer.outcome.done ? 'done' : answer.outcome.refusal.code,
      });
      pending.span?.end();
      resolve(answer as Answer<Row>);
    },
  };
  return pending;
}

/** Closes the ledger if the database was put back to an earlier moment. */
interface RollbackChecks {
  /** Called in each group's transaction before anything is locked. */
  admit(transaction: Transaction): Promise<void>;
  /** Called with a ledger transaction of each group whose COMMIT was confirmed. */
  posted(id: Uuid): void;
}

export interface GroupDeps extends DatabaseDeps {
  readonly databaseClock: DatabaseClock;
  readonly rollbacks: RollbackChecks;
  readonly failpoints: Failpoints;
  /** Called when deciding a command failed because of a fault in the service. */
  readonly onFault: (kind: string, fault: unknown) => void;
  /** Called when commands were refused because their account is dated too far ahead of the database's clock. */
  readonly onAccountAhead: (accountId: Uuid, aheadMs: number) => void;
}

export type Answers = Map<PendingCommand, Answer<AnyRow>>;

/** What is read before the locks. */
export interface NamedAccounts {
  /** For each pending command, the accounts that it will touch. */
  readonly ids: ReadonlyMap<PendingCommand, readonly Uuid[]>;
  readonly owners: ReadonlyMap<PendingCommand['kind'], OwnerFinder>;
}
