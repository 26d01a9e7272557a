import { ApiError } from '../core/errors.js';
import type { Fingerprint } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { Deadline } from '../db/deadline.js';
import { type IdempotencyKey, idempotencyKeys, type KeyResourceType } from '../db/entities/ledger.js';
import { CommitUnknown, DatabaseUnavailable, DUPLICATE_KEY, errnoOf, TransactionRetryable } from '../db/failures.js';
import { insertSql, type Where } from '../db/statements.js';
import type { Table } from '../db/table.js';
import { answerOfKey, findKeys, isBoundBy, keyName, newCommitId, UNKNOWN } from './desk/keys.js';
import type { Answer } from './desk/types.js';

/** What a client asked for under a key. */
export interface KeyedRequest<Row> {
  readonly tenantId: Uuid;
  readonly key: string;
  readonly fingerprint: Fingerprint;
  readonly resourceType: KeyResourceType;
  /** Where the resource is read from when the key is asked again. */
  readonly table: Table<Row>;
}

const LOOK_AGAIN_MS = 100;
const RETRY_PAUSE_MS = 20;

/**
 * Makes a resource that moves no money, once for a key, with the answers that the posting desk gives: for what is too
 * large for its groups. `make` runs in the transaction, may lock accounts, writes whatever belongs to the resource, and
 * returns its row, which is written with the key after it. Simultaneous requests of a key wait for the first. Throws what
 * `make` throws but ApiErrors, which are answers and leave no key, and DatabaseUnavailable.
 */
export async function makeOnce<Row extends { readonly id: Uuid; readonly createdAt: Instant }>(
  database: Database,
  request: KeyedRequest<Row>,
  timeoutMs: number,
  make: (transaction: Transaction) => Promise<Row>,
): Promise<Answer<Row>> {
  const deadline = Deadline.afterMs(timeoutMs);
  for (;;) {
    const known = await answerFromKey(database.lookup, request);
    if (known !== null) return known;
    try {
      const resource = await writeKeyed(database, request, deadline, make);
      return { outcome: { done: true, resource }, replayed: false };
    } catch (failure) {
      if (failure instanceof ApiError)
        // Another request of the same key may be why: it was first, and is found now.
        return (
          (await answerFromKey(database.lookup, request)) ?? {
            outcome: { done: false, refusal: failure.refusal },
            replayed: false,
          }
        );
      if (failure instanceof UnknownCommit) return resolveUnknown(database.current, request, failure, deadline);
      // Another request of the same key was first: it is found now.
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

async function writeKeyed<Row extends { readonly id: Uuid; readonly createdAt: Instant }>(
  database: Database,
  { tenantId, key, fingerprint, resourceType, table }: KeyedRequest<Row>,
  deadline: Deadline,
  make: (transaction: Transaction) => Promise<Row>,
): Promise<Row> {
  const commitId = newCommitId();
  try {
    return await database.withTransaction(async (transaction) => {
      const row = await make(transaction);
      const bound: IdempotencyKey = {
        tenantId,
        idempotencyKey: key,
        fingerprint: fingerprint.digest,
        fingerprintKeyId: fingerprint.keyId,
        resourceType,
        resourceId: row.id,
        refusal: null,
        createdAt: row.createdAt,
        commitId,
      };
      await transaction.all([insertSql(idempotencyKeys, [bound]), insertSql(table, [row])]);
      return row;
    }, deadline);
  } catch (failure) {
    throw failure instanceof CommitUnknown ? new UnknownCommit(commitId, failure) : failure;
  }
}

/** What the key did before, or null. Of the transaction with this mark it is no replay. */
async function answerFromKey<Row extends { readonly id: Uuid }>(
  reader: Reader,
  request: KeyedRequest<Row>,
  ownCommitId?: Buffer,
): Promise<Answer<Row> | null> {
  const bound = (await findKeys(reader, [request])).get(keyName(request));
  if (bound === undefined) return null;
  const answer = answerOfKey(request.fingerprint, bound);
  if (answer !== null) return answer;
  const [resource] = await reader.select<Row>(request.table, { id: bound.resourceId ?? [] } as Where<Row>);
  const replayed = ownCommitId === undefined || !isBoundBy(ownCommitId, bound);
  return resource === undefined ? null : { outcome: { done: true, resource }, replayed };
}

/** The key on a fresh connection, until the time is over: one that is not there may still be committing. */
async function resolveUnknown<Row extends { readonly id: Uuid }>(
  reader: Reader,
  request: KeyedRequest<Row>,
  { commitId }: UnknownCommit,
  deadline: Deadline,
): Promise<Answer<Row>> {
  while (!deadline.passed()) {
    try {
      const found = await answerFromKey(reader, request, commitId);
      if (found !== null) return found;
    } catch (failure) {
      if (!(failure instanceof DatabaseUnavailable)) throw failure;
    }
    await pause(LOOK_AGAIN_MS);
  }
  return UNKNOWN;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
