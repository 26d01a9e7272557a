import { groupBy } from '../../core/collections.js';
import type { Refusal } from '../../core/errors.js';
import { LEDGER_UNAVAILABLE } from '../../core/errors.js';
import type { Failpoints } from '../../core/failpoints.js';
import type { Uuid } from '../../core/ids.js';
import type { Clock, Instant } from '../../core/instant.js';
import type { Database, Reader, Transaction } from '../../db/database.js';
import type { Deadline } from '../../db/deadline.js';
import { balances, type IdempotencyKey } from '../../db/entities/ledger.js';
import { accounts } from '../../db/entities/parties.js';
import { columnList, literals } from '../../db/statements.js';
import { parseRow, type Table } from '../../db/table.js';
import { findKeys, KEY_REUSED, keyName, storedRefusal } from './keys.js';
import { AccountNotLocked, GroupState } from './state.js';
import type { Answer, Command, CommandKind, Decision, Need } from './types.js';
import { writeGroup } from './writer.js';

type AnyRow = { readonly id: Uuid };

/** A command with its kind, its time and the place for its answer. The kind's types meet the command's in `PostingDesk.submit`. */
export interface Ticket {
  readonly kind: CommandKind<Command, AnyRow>;
  readonly command: Command;
  readonly deadline: Deadline;
  readonly answer: (answer: Answer<AnyRow>) => void;
}

export interface GroupParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly failpoints: Failpoints;
  /** A fault of ours while one command was decided. */
  readonly onFault: (kind: string, fault: unknown) => void;
}

export type Answers = Map<Ticket, Answer<AnyRow>>;

/** Answers those of the tickets whose key is bound already. Throws DatabaseUnavailable. */
export async function answerFromKeys(reader: Reader, tickets: readonly Ticket[]): Promise<Answers> {
  const keys = await findKeys(reader, tickets.map((ticket) => ticket.command));
  return keys.size === 0 ? new Map() : replay(reader, tickets, keys);
}

async function replay(
  reader: Reader,
  tickets: readonly Ticket[],
  keys: ReadonlyMap<string, IdempotencyKey>,
): Promise<Answers> {
  const answers: Answers = new Map();
  const wanted = new Map<Table<AnyRow>, { ticket: Ticket; id: Uuid }[]>();
  for (const ticket of tickets) {
    const { command, kind } = ticket;
    const key = keys.get(keyName(command));
    if (key === undefined) continue;
    const refusal = storedRefusal(key);
    if (!command.fingerprint.matches(key.fingerprintKeyId, key.fingerprint)) answers.set(ticket, refused(KEY_REUSED));
    else if (refusal !== null) answers.set(ticket, { outcome: { done: false, refusal }, replayed: true });
    else if (key.resourceId !== null)
      wanted.set(kind.table, [...(wanted.get(kind.table) ?? []), { ticket, id: key.resourceId }]);
  }
  for (const [table, asked] of wanted) {
    const rows = await reader.select(table, { id: [...new Set(asked.map(({ id }) => id))] });
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const { ticket, id } of asked) {
      const resource = byId.get(id);
      if (resource !== undefined) answers.set(ticket, { outcome: { done: true, resource }, replayed: true });
    }
  }
  return answers;
}

function refused(refusal: Refusal): Answer<never> {
  return { outcome: { done: false, refusal }, replayed: false };
}

export const UNKNOWN = refused(LEDGER_UNAVAILABLE);

/**
 * Decides the tickets in one transaction and commits it. When it returns, every answer is durable.
 * Throws AccountNotLocked, TransactionRetryable, CommitUnknown, DatabaseUnavailable, or what a statement failed with.
 */
export async function postGroup(
  parts: GroupParts,
  tickets: readonly Ticket[],
  deadline: Deadline,
): Promise<Answers> {
  const named = await namedAccounts(parts.database.reader, tickets);
  parts.failpoints.pass('before_lock');
  const answers = await parts.database.withTransaction(
    async (transaction) => {
      const ids = [...new Set([...named.values()].flat())].sort();
      const state = await lockAccounts(transaction, ids);
      parts.failpoints.pass('after_lock');
      const replayed = await answerFromKeys(transaction, tickets);
      const open = tickets.filter((ticket) => !replayed.has(ticket));
      if (open.length === 0) return replayed;
      const now = parts.clock();
      await loadNeeds(transaction, state, open, named, now);
      const { decided, keys } = decideAll(parts, state, open, named, now);
      await writeGroup(transaction, keys, state.writes, now);
      return new Map([...replayed, ...decided]);
    },
    deadline,
    () => parts.failpoints.pass('before_commit'),
  );
  parts.failpoints.pass('after_commit');
  return answers;
}

async function namedAccounts(
  reader: Reader,
  tickets: readonly Ticket[],
): Promise<Map<Ticket, readonly Uuid[]>> {
  const byKind = groupBy(tickets, (ticket) => ticket.kind);
  const named = new Map<Ticket, readonly Uuid[]>();
  await Promise.all(
    Array.from(byKind, async ([kind, own]) => {
      const ids = await kind.accounts(own.map((ticket) => ticket.command), reader);
      own.forEach((ticket, index) => named.set(ticket, ids[index] ?? []));
    }),
  );
  return named;
}

/** One sorted statement locks every account of the group, before anything else is locked. */
async function lockAccounts(transaction: Transaction, ids: readonly Uuid[]): Promise<GroupState> {
  if (ids.length === 0) return new GroupState([], []);
  const list = literals(accounts, 'id', ids);
  const locked = await transaction.query(
    `SELECT ${columnList(accounts)} FROM accounts FORCE INDEX (PRIMARY) WHERE id IN (${list}) ORDER BY id FOR UPDATE`,
  );
  return new GroupState(
    locked.map((row) => parseRow(accounts, row)),
    await transaction.select(balances, { accountId: ids }),
  );
}

async function loadNeeds(
  transaction: Transaction,
  state: GroupState,
  tickets: readonly Ticket[],
  named: ReadonlyMap<Ticket, readonly Uuid[]>,
  now: Instant,
): Promise<void> {
  const needs = tickets.flatMap((ticket) =>
    ticket.kind.needs(ticket.command, state.instantFor(named.get(ticket) ?? [], now)),
  );
  await Promise.all(
    Array.from(groupBy(needs, (one) => one.table), async ([table, own]) => {
      state.addLoaded(own, (await transaction.select(table, wanted(own))) as Record<string, unknown>[]);
    }),
  );
}

/** Each property among its wanted values: for needs of several properties this may read a little more than was asked. */
function wanted(needs: readonly Need[]): Record<string, unknown[]> {
  const values: Record<string, Set<unknown>> = {};
  for (const { key } of needs)
    for (const [property, value] of Object.entries(key)) (values[property] ??= new Set()).add(value);
  return Object.fromEntries(Object.entries(values).map(([property, set]) => [property, [...set]]));
}

/** In order, each seeing what the earlier ones did; a key given twice in the group is decided once. */
function decideAll(
  parts: GroupParts,
  state: GroupState,
  tickets: readonly Ticket[],
  named: ReadonlyMap<Ticket, readonly Uuid[]>,
  now: Instant,
): { decided: Answers; keys: IdempotencyKey[] } {
  const decided: Answers = new Map();
  const bound = new Map<string, { ticket: Ticket; answer: Answer<AnyRow> }>();
  const keys: IdempotencyKey[] = [];
  for (const ticket of tickets) {
    const { command } = ticket;
    const first = bound.get(keyName(command));
    if (first !== undefined) {
      const { keyId, digest } = first.ticket.command.fingerprint;
      const same = command.fingerprint.matches(keyId, digest);
      decided.set(ticket, same ? { ...first.answer, replayed: true } : refused(KEY_REUSED));
      continue;
    }
    const accountIds = named.get(ticket) ?? [];
    const at = state.instantFor(accountIds, now);
    const decision = decideOne(parts, state, ticket, accountIds, at);
    const answer = decision === null ? UNKNOWN : { outcome: decision.outcome, replayed: false };
    decided.set(ticket, answer);
    if (decision?.bindsKey === true) {
      keys.push(keyRow(ticket, decision, at));
      bound.set(keyName(command), { ticket, answer });
    }
  }
  return { decided, keys };
}

/** Null when deciding failed by a fault of ours: that command alone goes without an answer. */
function decideOne(
  parts: GroupParts,
  state: GroupState,
  { kind, command }: Ticket,
  accountIds: readonly Uuid[],
  at: Instant,
): Decision<AnyRow> | null {
  try {
    const decision = kind.decide(command, state.view(at, accountIds));
    state.apply(decision.writes, command.tenantId, at);
    return decision;
  } catch (fault) {
    if (fault instanceof AccountNotLocked) throw fault;
    parts.onFault(kind.name, fault);
    return null;
  }
}

function keyRow({ kind, command }: Ticket, { outcome }: Decision<AnyRow>, at: Instant): IdempotencyKey {
  return {
    tenantId: command.tenantId,
    idempotencyKey: command.key,
    fingerprint: command.fingerprint.digest,
    fingerprintKeyId: command.fingerprint.keyId,
    resourceType: kind.resourceType,
    resourceId: outcome.done ? outcome.resource.id : null,
    refusal: outcome.done ? null : JSON.stringify(outcome.refusal),
    createdAt: at,
  };
}
