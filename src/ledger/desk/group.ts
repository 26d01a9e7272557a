import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { type Instant, maxInstant } from '../../core/instant.js';
import type { Traceparent } from '../../core/trace.js';
import type { Reader, Transaction } from '../../db/database.js';
import type { Deadline } from '../../db/deadline.js';
import type { IdempotencyKey } from '../../db/entities/ledger.js';
import { outbox } from '../../db/entities/outbox.js';
import { CommitUnknown } from '../../db/failures.js';
import type { Table } from '../../db/table.js';
import {
  answerOfKey,
  type BoundKeys,
  findKeys,
  isBoundBy,
  keyName,
  newCommitId,
  UNKNOWN,
} from './keys.js';
import { lockAndLoad } from './loading.js';
import type { Pace } from './pace.js';
import { AccountNotLocked, type GroupState } from './state.js';
import type {
  Answers,
  AnyRow,
  GroupDeps,
  NamedAccounts,
  PendingCommand,
} from './pending-commands.js';
import { type Answer, type Decision, NO_OWNERS, type OwnerFinder, type Writes } from './types.js';
import { writeGroup } from './writer.js';

/** Answers the commands whose key is already bound. Throws DatabaseUnavailable. */
export async function answerFromKeys(
  reader: Reader,
  group: readonly PendingCommand[],
): Promise<Answers> {
  const commands = group.map((pending) => pending.command);
  return replay(reader, group, await findKeys(reader, commands));
}

async function replay(
  reader: Reader,
  group: readonly PendingCommand[],
  keys: BoundKeys,
): Promise<Answers> {
  const answers: Answers = new Map();
  if (keys.size === 0) return answers;
  const wanted = new Map<Table<AnyRow>, { pending: PendingCommand; id: Uuid }[]>();
  for (const pending of group) {
    const { command, kind } = pending;
    const key = keys.get(keyName(command));
    if (key === undefined) continue;
    const answer = answerOfKey(command.fingerprint, key);
    if (answer !== null) answers.set(pending, answer);
    else if (key.resourceId !== null)
      wanted.set(kind.table, [...(wanted.get(kind.table) ?? []), { pending, id: key.resourceId }]);
  }
  for (const [table, asked] of wanted) {
    const rows = await reader.select(table, { id: [...new Set(asked.map(({ id }) => id))] });
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const { pending, id } of asked) {
      const resource = byId.get(id);
      if (resource !== undefined)
        answers.set(pending, { outcome: { done: true, resource }, replayed: true });
    }
  }
  return answers;
}

/** The answer to the group's COMMIT never came. If it happened, these are the answers. */
export class GroupUnknown extends Error {
  override name = 'GroupUnknown';

  constructor(
    readonly answers: Answers,
    readonly commitId: Buffer,
    cause: CommitUnknown,
  ) {
    super(cause.message, { cause });
  }
}

/**
 * What is known about a group whose commit was unknown. One key bound by its own transaction proves that all of it
 * happened, including commands that bound no key; for the clients that asked first it is not a replay. A key without
 * that mark was bound by another transaction, and then nobody gets this transaction's answers, not even for the same
 * resource, as with an approval.
 */
export async function answersAfter(
  { answers, commitId }: GroupUnknown,
  reader: Reader,
  group: readonly PendingCommand[],
): Promise<Answers> {
  const keys = await findKeys(
    reader,
    Array.from(answers.keys(), ({ command }) => command),
  );
  const happened = Array.from(keys.values()).some((key) => isBoundBy(commitId, key));
  return happened ? answers : replay(reader, group, keys);
}

/**
 * Decides the group in one transaction and commits it. Once it returns, every answer is durable. Throws
 * AccountNotLocked, ClockStrayed, TransactionRetryable, GroupUnknown, DatabaseUnavailable, or a statement's failure.
 */
export async function postGroup(
  deps: GroupDeps,
  group: readonly PendingCommand[],
  named: NamedAccounts,
  deadline: Deadline,
  pace: Pace,
): Promise<Answers> {
  deps.failpoints.pass('before_lock');
  const commitId = newCommitId();
  let lockedAt = 0;
  let newest: Uuid | undefined;
  let answers: Answers = new Map();
  try {
    await deps.database.withPosting(
      async (transaction) => {
        await deps.rollbacks.admit(transaction);
        const sentAt = performance.now();
        const { state, keys, waitedMs } = await lockAndLoad(deps, transaction, group, named);
        lockedAt = pace.locked(sentAt, waitedMs);
        deps.failpoints.pass('after_lock');
        answers = await decideGroup(deps, transaction, group, { named, state, keys, commitId });
        newest = state.writes.transactions.at(-1)?.id;
      },
      deadline,
      deps.failpoints.at('before_commit'),
    );
  } catch (failure) {
    throw failure instanceof CommitUnknown ? new GroupUnknown(answers, commitId, failure) : failure;
  }
  if (newest !== undefined) deps.rollbacks.posted(newest);
  pace.committed(lockedAt, group.length);
  deps.failpoints.pass('after_commit');
  return answers;
}

interface Loaded {
  readonly named: NamedAccounts;
  readonly state: GroupState;
  readonly keys: BoundKeys;
  readonly commitId: Buffer;
}

/** Behind the locks: decides and writes, all but the COMMIT. */
async function decideGroup(
  deps: GroupDeps,
  transaction: Transaction,
  group: readonly PendingCommand[],
  { named, state, keys, commitId }: Loaded,
): Promise<Answers> {
  // It may have been set while the locks were waited for.
  if (!deps.guard.isWell()) throw new ClockStrayed('the clock of this process was set');
  const now = deps.clock();
  const replayed = await replay(transaction, group, keys);
  const open = group.filter((pending) => !replayed.has(pending));
  const { decided, bound } = decideAll(deps, state, open, named, now, commitId);
  await writeGroup(transaction, bound, state.writes, now);
  return new Map([...replayed, ...decided]);
}

/** This process's clock may not date anything until it has been compared with the database's. */
export class ClockStrayed extends Error {
  override name = 'ClockStrayed';
}

export async function nameAccounts(
  reader: Reader,
  group: readonly PendingCommand[],
  isRetry: boolean,
): Promise<NamedAccounts> {
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
 * In order, each seeing what the earlier ones did; a key given twice in the group is decided once. An account dated
 * further ahead than any clock may be would date every other that it meets, so its commands, and only they, are
 * refused.
 */
function decideAll(
  deps: GroupDeps,
  state: GroupState,
  group: readonly PendingCommand[],
  named: NamedAccounts,
  now: Instant,
  commitId: Buffer,
): { decided: Answers; bound: IdempotencyKey[] } {
  const decided: Answers = new Map();
  const byKey = new Map<string, { key: IdempotencyKey; answer: Answer<AnyRow> }>();
  const bound: IdempotencyKey[] = [];
  const ahead = new Map<Uuid, number>();
  for (const pending of group) {
    const { command } = pending;
    const first = byKey.get(keyName(command));
    if (first !== undefined) {
      const own = answerOfKey(command.fingerprint, first.key);
      decided.set(pending, own ?? { ...first.answer, replayed: true });
      continue;
    }
    const accountIds = named.ids.get(pending) ?? [];
    const latest = state.latest(accountIds);
    if (latest !== undefined && deps.guard.isTooFarAhead(latest.lastPostedAt)) {
      ahead.set(latest.id, deps.guard.aheadMs(latest.lastPostedAt));
      decided.set(pending, UNKNOWN);
      continue;
    }
    // Not before the last instant of any of its accounts.
    const at = latest === undefined ? now : maxInstant(now, latest.lastPostedAt);
    const decision = decideOne(deps, state, pending, accountIds, at);
    const answer = decision === null ? UNKNOWN : { outcome: decision.outcome, replayed: false };
    decided.set(pending, answer);
    if (decision?.bindsKey === true) {
      const key = keyRow(pending, decision, at, commitId);
      bound.push(key);
      byKey.set(keyName(command), { key, answer });
    }
  }
  for (const [accountId, aheadMs] of ahead) deps.onAccountAhead(accountId, aheadMs);
  return { decided, bound };
}

/** Null if deciding failed through our own fault: only that command stays without an answer. */
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
      span === null ? decision.writes : traced(decision.writes, span.traceparent),
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

/** Adds the trace to events and outbox entries, whose processing continues it elsewhere. */
function traced(writes: Writes, traceparent: Traceparent): Writes {
  const { events = [], rows = [] } = writes;
  return {
    ...writes,
    events: events.map((event) => ({ ...event, traceparent })),
    rows: rows.map((write) =>
      write.table === outbox ? { ...write, row: { ...write.row, traceparent } } : write,
    ),
  };
}

function keyRow(
  { kind, command }: PendingCommand,
  { outcome }: Decision<AnyRow>,
  createdAt: Instant,
  commitId: Buffer,
): IdempotencyKey {
  return {
    tenantId: command.tenantId,
    idempotencyKey: command.key,
    fingerprint: command.fingerprint.digest,
    fingerprintKeyId: command.fingerprint.keyId,
    resourceType: kind.resourceType,
    resourceId: outcome.done ? outcome.resource.id : null,
    refusal: outcome.done ? null : JSON.stringify(outcome.refusal),
    createdAt,
    commitId,
  };
}
