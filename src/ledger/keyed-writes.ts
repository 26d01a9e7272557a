import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type Refusal } from '../core/errors.js';
import type { Fingerprint } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { Deadline } from '../db/deadline.js';
import {
  type IdempotencyKey,
  idempotencyKeys,
  type KeyResourceType,
} from '../db/entities/ledger.js';
import {
  CommitUnknown,
  DatabaseUnavailable,
  DUPLICATE_KEY,
  errnoOf,
  TransactionRetryable,
} from '../db/failures.js';
import { insertSql, type Where } from '../db/statements.js';
import type { Table } from '../db/table.js';
import { answerOfKey, findKeys, isBoundBy, keyName, newCommitId, UNKNOWN } from './desk/keys.js';
import type { Answer } from './desk/types.js';

interface KeyedRequest<Row> {
  readonly tenantId: Uuid;
  readonly key: string;
  readonly fingerprint: Fingerprint;
  readonly resourceType: KeyResourceType;
  /** Where the resource is read from when its key is repeated. */
  readonly table: Table<Row>;
}

/** What was created, or a refusal to be bound to the key. */
export type KeyedResult<Row> =
  { readonly row: Row } | { readonly refusal: Refusal; readonly at: Instant };

const LOOK_AGAIN_MS = 100;
const RETRY_PAUSE_MS = 20;

interface Resource {
  readonly id: Uuid;
  readonly createdAt: Instant;
}

/**
 * Writes a resource that moves no money, at most once per key, and answers like the posting desk: for writes too large
 * for its groups. `write` runs in the transaction, may lock accounts, writes everything that belongs to the resource,
 * and returns its row, which is inserted together with the key. Simultaneous requests with one key wait for the first.
 * An ApiError thrown by `write` becomes the answer and leaves the key free; anything else it throws is rethrown, and so
 * is DatabaseUnavailable.
 */
export async function writeKeyed<Row extends Resource>(
  database: Database,
  request: KeyedRequest<Row>,
  timeoutMs: number,
  write: (transaction: Transaction) => Promise<KeyedResult<Row>>,
): Promise<Answer<Row>> {
  const deadline = Deadline.afterMs(timeoutMs);
  for (;;) {
    const known = await findAnswer(database.lookup, request);
    if (known !== null) return known;
    try {
      return await writeWithKey(database, request, deadline, write);
    } catch (failure) {
      if (failure instanceof ApiError) {
        // Another request with this key may be the reason: it came first, and can now be found.
        const refused = {
          outcome: { done: false, refusal: failure.refusal },
          replayed: false,
        } as const;
        return (await findAnswer(database.lookup, request)) ?? refused;
      }
      if (failure instanceof UnknownCommit)
        return resolveUnknown(database.current, request, failure, deadline);
      // After a duplicate key, another request with this key came first, and can now be found.
      const mayPass = failure instanceof TransactionRetryable || errnoOf(failure) === DUPLICATE_KEY;
      if (!mayPass) throw failure;
      if (deadline.passed()) return UNKNOWN;
      await pause(Math.random() * RETRY_PAUSE_MS);
    }
  }
}

class UnknownCommit extends Error {
  override name = 'UnknownCommit';

  constructor(
    readonly commitId: Buffer,
    cause: CommitUnknown,
  ) {
    super(cause.message, { cause });
  }
}

async function writeWithKey<Row extends Resource>(
  database: Database,
  { tenantId, key, fingerprint, resourceType, table }: KeyedRequest<Row>,
  deadline: Deadline,
  write: (transaction: Transaction) => Promise<KeyedResult<Row>>,
): Promise<Answer<Row>> {
  const commitId = newCommitId();
  const work = async (transaction: Transaction): Promise<Answer<Row>> => {
    const result = await write(transaction);
    const bound = {
      tenantId,
      idempotencyKey: key,
      fingerprint: fingerprint.digest,
      fingerprintKeyId: fingerprint.keyId,
    };
    const keyOf = (what: Pick<IdempotencyKey, 'resourceId' | 'refusal' | 'createdAt'>): string =>
      insertSql(idempotencyKeys, [{ ...bound, resourceType, ...what, commitId }]);
    if ('refusal' in result) {
      const { refusal, at } = result;
      await transaction.execute(
        keyOf({ resourceId: null, refusal: JSON.stringify(refusal), createdAt: at }),
      );
      return { outcome: { done: false, refusal }, replayed: false };
    }
    const { row } = result;
    const own = keyOf({ resourceId: row.id, refusal: null, createdAt: row.createdAt });
    await transaction.all([own, insertSql(table, [row])]);
    return { outcome: { done: true, resource: row }, replayed: false };
  };
  try {
    return await database.withTransaction(work, deadline, tenantId);
  } catch (failure) {
    throw failure instanceof CommitUnknown ? new UnknownCommit(commitId, failure) : failure;
  }
}

/** The key's answer, or null while it is free. A key bound by the transaction with this mark is no replay. */
export async function findAnswer<Row extends Resource>(
  reader: Reader,
  request: KeyedRequest<Row>,
  ownCommitId?: Buffer,
): Promise<Answer<Row> | null> {
  const bound = (await findKeys(reader, [request])).get(keyName(request));
  if (bound === undefined) return null;
  const replayed = ownCommitId === undefined || !isBoundBy(ownCommitId, bound);
  const answer = answerOfKey(request.fingerprint, bound);
  if (answer !== null) return answer.replayed ? { ...answer, replayed } : answer;
  const [resource] = await reader.select<Row>(request.table, {
    id: bound.resourceId ?? [],
  } as Where<Row>);
  return resource === undefined ? null : { outcome: { done: true, resource }, replayed };
}

/** Looks for the key on fresh connections until the deadline: until it is found, it may still be committing. */
async function resolveUnknown<Row extends Resource>(
  reader: Reader,
  request: KeyedRequest<Row>,
  { commitId }: UnknownCommit,
  deadline: Deadline,
): Promise<Answer<Row>> {
  while (!deadline.passed()) {
    try {
      const found = await findAnswer(reader, request, commitId);
      if (found !== null) return found;
    } catch (failure) {
      if (!(failure instanceof DatabaseUnavailable)) throw failure;
    }
    await pause(LOOK_AGAIN_MS);
  }
  return UNKNOWN;
}
