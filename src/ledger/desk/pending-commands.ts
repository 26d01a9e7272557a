import type { OpenSpan } from '../../core/trace.js';
import type { Failpoints } from '../../core/failpoints.js';
import type { Uuid } from '../../core/ids.js';
import type { DatabaseDeps, Transaction } from '../../db/database.js';
import type { Deadline } from '../../db/deadline.js';
import type { DatabaseClock } from '../database-clock.js';
import type { Answer, Command, CommandKind, OwnerFinder } from './types.js';

export type AnyRow = { readonly id: Uuid };

/** With its kind, deadline and answer. `PostingDesk.submit` matches the kind's types to the command's. */
export interface PendingCommand {
  readonly kind: CommandKind<Command, AnyRow>;
  readonly command: Command;
  readonly deadline: Deadline;
  /** Its span in the request's trace, from the queue to the answer; null outside one. */
  readonly span: OpenSpan | null;
  readonly answer: (answer: Answer<AnyRow>) => void;
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
  /** A fault of ours while one command was decided. */
  readonly onFault: (kind: string, fault: unknown) => void;
  /** Commands were refused, because one of their accounts is dated too far ahead of the database's clock. */
  readonly onAccountAhead: (accountId: Uuid, aheadMs: number) => void;
}

export type Answers = Map<PendingCommand, Answer<AnyRow>>;

/** Read before the locks. */
export interface NamedAccounts {
  /** For each pending command, the accounts that it will touch. */
  readonly ids: ReadonlyMap<PendingCommand, readonly Uuid[]>;
  readonly owners: ReadonlyMap<PendingCommand['kind'], OwnerFinder>;
}
