import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type CommandResult, type Outcome, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Database, Transaction } from '../db/database.js';
import type { Deadline } from '../core/timers.js';
import { CommitUnknown, isDuplicateKey, TransactionRetryable } from '../db/failures.js';
import { insertSql } from '../db/statements.js';
import {
  findResults,
  type KeyedRequest,
  resolveUnknown,
  TransactionKeys,
  RESULT_UNKNOWN,
  UnknownResults,
} from './idempotency.js';

interface Resource {
  readonly id: Uuid;
  readonly createdAt: Instant;
}

/** The created resource, or a refusal that binds the key. */
export type KeyedResult<Row> =
  | {
      readonly row: Row;
      /** Set if `write` has inserted the row itself. */
      readonly isWritten?: true;
    }
  | { readonly refusal: Refusal; readonly at: Instant };

const RETRY_PAUSE_MS = 20;

/**
 * Writes a resource that moves no money, at most once per key. `write` runs in the transaction, may
 * lock accounts, and writes everything but the row it returns, which is inserted together with the
 * key. Simultaneous requests with the same key wait for the first. An `ApiError` of `write` becomes
 * the result and leaves the key free. Throws `DatabaseUnavailable` and any other error of `write`.
 */
export async function writeKeyed<Row extends Resource>(
  database: Database,
  request: KeyedRequest<Row>,
  deadline: Deadline,
  write: (transaction: Transaction) => Promise<KeyedResult<Row>>,
): Promise<CommandResult<Row>> {
  const known = async (): Promise<CommandResult<Row> | undefined> =>
    (await findResults(database.lookup, [request])).get(request);
  for (;;) {
    const result = await known();
    if (result !== undefined) return result;
    try {
      return await writeOnce(database, request, deadline, write);
    } catch (failure) {
      if (failure instanceof ApiError) {
        // Another request with this key may have caused the failure. If so, its result applies.
        const { refusal } = failure;
        return (await known()) ?? { outcome: { done: false, refusal }, replayed: false };
      }
      if (failure instanceof UnknownResults) {
        let found: CommandResult<Row> | undefined;
        const open = (): readonly KeyedRequest<Row>[] =>
          found !== undefined || deadline.passed() ? [] : [request];
        await resolveUnknown<KeyedRequest<Row>>(
          database.current,
          failure,
          open,
          (results) => (found ??= results.get(request)),
        );
        return found ?? RESULT_UNKNOWN;
      }
      // A duplicate key was bound by another request, whose result the next round finds.
      const mayRetry = failure instanceof TransactionRetryable || isDuplicateKey(failure);
      if (!mayRetry) throw failure;
      if (deadline.passed()) return RESULT_UNKNOWN;
      await pause(Math.random() * RETRY_PAUSE_MS);
    }
  }
}

async function writeOnce<Row extends Resource>(
  database: Database,
  request: KeyedRequest<Row>,
  deadline: Deadline,
  write: (transaction: Transaction) => Promise<KeyedResult<Row>>,
): Promise<CommandResult<Row>> {
  const { kind, command } = request;
  const keys = new TransactionKeys();
  const results = new Map<KeyedRequest<Row>, CommandResult<Row>>();
  const work = async (transaction: Transaction): Promise<CommandResult<Row>> => {
    const result = await write(transaction);
    const [outcome, at]: [Outcome<Row>, Instant] =
      'row' in result
        ? [{ done: true, resource: result.row }, result.row.createdAt]
        : [{ done: false, refusal: result.refusal }, result.at];
    keys.bind(request, outcome, at);
    const isNew = 'row' in result && result.isWritten !== true;
    const row = isNew ? [insertSql(kind.table, [result.row])] : [];
    await transaction.all([...keys.insertSql(), ...row]);
    const written: CommandResult<Row> = { outcome, replayed: false };
    results.set(request, written);
    return written;
  };
  try {
    return await database.withTransaction(work, deadline, command.tenantId);
  } catch (failure) {
    throw failure instanceof CommitUnknown
      ? new UnknownResults(results, keys.commitId, failure)
      : failure;
  }
}
