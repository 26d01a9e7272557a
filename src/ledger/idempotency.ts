import { randomBytes } from 'node:crypto';
import { compareText, groupBy } from '../core/collections.js';
import {
  type CommandResult,
  LEDGER_UNAVAILABLE,
  type Outcome,
  type Refusal,
} from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Reader, StoredRow } from '../db/database.js';
import {
  type IdempotencyKey,
  idempotencyKeys,
  type KeyResourceType,
} from '../db/entities/ledger.js';
import { type CommitUnknown, DatabaseUnavailable } from '../db/failures.js';
import { columnList, insertSql, literal, literals } from '../db/statements.js';
import { parseRow, type Table } from '../db/table.js';
import type { Command } from './writer/types.js';

/*
 * Treatment of a second request with a key (docs/contract.md, Idempotency), for commands of
 * the ledger and for keyed writes (keyed-writes.ts):
 *
 *   the key is not bound           the request is decided, and its key row is written in the same
 *                                  transaction
 *   bound to different content     409 idempotency_key_reused (boundResult)
 *   bound under an unknown HMAC    503, because another process can compare (boundResult)
 *     key
 *   bound to a refusal             the stored refusal, unchanged, marked as a replay (boundResult)
 *   bound to a resource            the resource as it is now, marked as a replay (resultsOf)
 *   bound earlier in the same      compared with the key row of the earlier command
 *     transaction                  (TransactionKeys)
 *   being decided in another       waits for that transaction's account locks, then reads the key
 *     transaction                  again. A keyed write waits for the lock on the key's row, and so
 *                                  does a command on other accounts.
 *   decided, but the reply to      the key is read until the request's time is over, and the request
 *     COMMIT was lost              is never decided again (resolveUnknown)
 */

/** A request with a key. For a replay, the resource is read from the kind's table. */
export interface KeyedRequest<Row extends { readonly id: Uuid } = { readonly id: Uuid }> {
  readonly kind: { readonly resourceType: KeyResourceType; readonly table: Table<Row> };
  readonly command: Command;
}

type RowOf<R> = R extends KeyedRequest<infer Row> ? Row : never;
type ResultsOf<R> = Map<R, CommandResult<RowOf<R>>>;
type TenantKey = Pick<Command, 'tenantId' | 'key'>;

export type BoundKeys = ReadonlyMap<string, IdempotencyKey>;

function refused(refusal: Refusal): CommandResult<never> {
  return { outcome: { done: false, refusal }, replayed: false };
}

/** Result if the request, or an earlier one with its key, may have been carried out. */
export const RESULT_UNKNOWN = refused(LEDGER_UNAVAILABLE);
/** The key's fingerprint was made with an HMAC key that this process does not have. */
export const FINGERPRINT_KEY_UNKNOWN = refused(LEDGER_UNAVAILABLE);

const KEY_REUSED = refused({
  code: 'idempotency_key_reused',
  message: 'this Idempotency-Key was already used for another request',
});

function keyName({ tenantId, key }: TenantKey): string {
  return `${tenantId}|${key}`;
}

export function selectKeysSql(commands: readonly TenantKey[]): string {
  const conditions = Array.from(
    groupBy(commands, ({ tenantId }) => tenantId),
    ([tenantId, own]) =>
      `(tenant_id=${literal(idempotencyKeys, 'tenantId', tenantId)} AND idempotency_key IN (${literals(
        idempotencyKeys,
        'idempotencyKey',
        new Set(own.map(({ key }) => key)),
      )}))`,
  );
  return `SELECT ${columnList(idempotencyKeys)} FROM idempotency_keys WHERE ${conditions.join(' OR ')}`;
}

export function parseKeys(stored: readonly StoredRow[]): BoundKeys {
  const rows = stored.map((row) => parseRow(idempotencyKeys, row));
  return new Map(
    rows.map((row) => [keyName({ tenantId: row.tenantId, key: row.idempotencyKey }), row]),
  );
}

export async function findKeys(reader: Reader, commands: readonly TenantKey[]): Promise<BoundKeys> {
  return parseKeys(await reader.query(selectKeysSql(commands)));
}

/** Returns null if the key created a resource for this same request. */
function boundResult({ fingerprint }: Command, row: IdempotencyKey): CommandResult<never> | null {
  switch (fingerprint.compare(row.fingerprintKeyId, row.fingerprint)) {
    case 'unknown_key':
      return FINGERPRINT_KEY_UNKNOWN;
    case 'other':
      return KEY_REUSED;
    case 'same':
      return row.refusal === null
        ? null
        : { outcome: { done: false, refusal: JSON.parse(row.refusal) as Refusal }, replayed: true };
  }
}

/** Returns the results of those requests whose key is among `keys`, and reads their resources. */
export async function resultsOf<R extends KeyedRequest>(
  reader: Reader,
  requests: readonly R[],
  keys: BoundKeys,
): Promise<ResultsOf<R>> {
  const results: ResultsOf<R> = new Map();
  const created: { readonly request: R; readonly id: Uuid }[] = [];
  for (const request of keys.size === 0 ? [] : requests) {
    const row = keys.get(keyName(request.command));
    if (row === undefined) continue;
    const result = boundResult(request.command, row);
    if (result !== null) results.set(request, result);
    else if (row.resourceId !== null) created.push({ request, id: row.resourceId });
  }
  for (const [table, own] of groupBy(created, ({ request }) => request.kind.table)) {
    const rows = await reader.select(table, { id: [...new Set(own.map(({ id }) => id))] });
    const byId = new Map(rows.map((row) => [row.id, row as RowOf<R>]));
    for (const { request, id } of own) {
      const resource = byId.get(id);
      if (resource !== undefined)
        results.set(request, { outcome: { done: true, resource }, replayed: true });
    }
  }
  return results;
}

/** Returns the results of those requests whose key is bound. Throws `DatabaseUnavailable`. */
export async function findResults<R extends KeyedRequest>(
  reader: Reader,
  requests: readonly R[],
): Promise<ResultsOf<R>> {
  const commands = requests.map(({ command }) => command);
  return resultsOf(reader, requests, await findKeys(reader, commands));
}

const COMMIT_ID_BYTES = 8;

/** Keys that one transaction binds, each stored with the transaction's random `commitId`. */
export class TransactionKeys {
  readonly commitId = randomBytes(COMMIT_ID_BYTES);
  private readonly bound = new Map<
    string,
    { row: IdempotencyKey; result: CommandResult<unknown> }
  >();

  /** Returns the result of a request whose key this transaction has already bound. */
  resultFor<Row>({ command }: KeyedRequest): CommandResult<Row> | undefined {
    const first = this.bound.get(keyName(command));
    if (first === undefined) return undefined;
    const result = boundResult(command, first.row) ?? { ...first.result, replayed: true };
    return result as CommandResult<Row>;
  }

  bind<Row extends { readonly id: Uuid }>(
    { kind: { resourceType }, command }: KeyedRequest,
    outcome: Outcome<Row>,
    createdAt: Instant,
  ): void {
    const { tenantId, key, fingerprint } = command;
    const row: IdempotencyKey = {
      tenantId,
      idempotencyKey: key,
      fingerprint: fingerprint.digest,
      fingerprintKeyId: fingerprint.keyId,
      resourceType,
      resourceId: outcome.done ? outcome.resource.id : null,
      refusal: outcome.done ? null : JSON.stringify(outcome.refusal),
      createdAt,
      commitId: this.commitId,
    };
    this.bound.set(keyName(command), { row, result: { outcome, replayed: false } });
  }

  /** In primary key order, because unsorted multi-row inserts deadlock. */
  insertSql(): string[] {
    const rows = Array.from(this.bound.values(), ({ row }) => row).sort(
      (a, b) =>
        compareText(a.tenantId, b.tenantId) || compareText(a.idempotencyKey, b.idempotencyKey),
    );
    return rows.length === 0 ? [] : [insertSql(idempotencyKeys, rows)];
  }
}

/** The reply to COMMIT was lost. `results` applies if the transaction was committed. */
export class UnknownResults<R extends KeyedRequest> extends Error {
  override name = 'UnknownResults';

  constructor(
    readonly results: ResultsOf<R>,
    readonly commitId: Buffer,
    cause: CommitUnknown,
  ) {
    super(cause.message, { cause });
  }
}

const LOOK_UP_EVERY_MS = 100;

/**
 * Looks the keys up until `open` returns no more requests, and passes the results to `settle`. A
 * request whose key is not found stays open, because its transaction may still be committed.
 * `current` must return current rows even during a failover.
 */
export async function resolveUnknown<R extends KeyedRequest>(
  current: Reader,
  unknown: UnknownResults<R>,
  open: () => readonly R[],
  settle: (results: ResultsOf<R>) => void,
): Promise<void> {
  for (let requests = open(); requests.length > 0; requests = open()) {
    try {
      settle(await resultsAfter(unknown, current, requests));
    } catch (failure) {
      if (!(failure instanceof DatabaseUnavailable)) throw failure;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_UP_EVERY_MS));
  }
}

/**
 * Returns the results known after an unknown COMMIT. One key with the transaction's `commitId`
 * proves the whole transaction, including requests that bound no key. A key with another `commitId`
 * was bound by another transaction, whose result is a replay.
 */
async function resultsAfter<R extends KeyedRequest>(
  { results, commitId }: UnknownResults<R>,
  reader: Reader,
  requests: readonly R[],
): Promise<ResultsOf<R>> {
  const keys = await findKeys(
    reader,
    Array.from(results.keys(), ({ command }) => command),
  );
  const wasCommitted = Array.from(keys.values()).some(
    (row) => row.commitId?.equals(commitId) === true,
  );
  return wasCommitted ? results : resultsOf(reader, requests, keys);
}
