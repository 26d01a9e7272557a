import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { groupBy } from '../../../src/core/collections.js';
import type { Expected } from '../../model/reference-state.js';
import { type Facts, factsOf } from './facts.js';
import { type History, isCreation, type Operation, READS, type Response } from './history.js';
import { isSame, Replay } from './replay.js';

/** The expiry of a transfer, which no client requests. */
interface Expiry {
  readonly of: string;
}

interface Item {
  readonly operation: Operation | Expiry;
  /** The request takes effect at some moment between the two. */
  readonly call: number;
  readonly return: number;
  /** When it probably took effect, by what the service stored. */
  readonly at: number;
  /** Null for any response. */
  readonly response: Response | null;
  /** Whether it creates or ends something, which has one place among all other such items. */
  readonly isChange: boolean;
  /** Whether it may have no effect. */
  readonly isOptional: boolean;
  /** The event that it writes; null for none, undefined if that is unknown. */
  readonly event: { readonly type: string; readonly id: string } | null | undefined;
  /** A random number, for the set of items that are done. */
  readonly mark: bigint;
}

/** How far the clock that dates money and the clients' clock may differ. */
const TOLERANCE_MS = 50;
const SHOWN = 3;

/**
 * Returns null if the requests of a group have an order in which each response is what the reference ledger says, in which
 * no request comes before one that had returned before it was called, and which gives the stored events by their `sequence`
 * and the stored movements with their `total_after`. Otherwise returns the requests that no order explains.
 */
export function findFault(history: History): string | null {
  const search = new OrderSearch(history);
  return search.run() ? null : search.obstacle;
}

class OrderSearch {
  /** Says how far the longest attempt came. */
  obstacle = '';
  private readonly facts: Facts;
  private readonly items: readonly Item[];
  private replay: Replay;
  private readonly done = new Set<Item>();
  /** Items that have changed the replay, in order. */
  private readonly path: Item[] = [];
  private doneMarks = 0n;
  private furthest = -1;
  private readonly failed = new Set<bigint>();

  constructor(private readonly history: History) {
    this.facts = factsOf(history);
    this.items = itemsOf(history, this.facts);
    this.replay = new Replay(history, this.facts);
  }

  /** Tries each order. A set of items that failed once is not tried again: its order does not change the state. */
  run(): boolean {
    const settled = this.settle();
    if (this.isComplete()) return true;
    this.rememberObstacle();
    if (!this.failed.has(this.doneMarks)) {
      const { length } = this.path;
      for (const item of this.nextChanges()) {
        if (this.apply(item)) {
          this.mark(item);
          if (this.run()) return true;
          this.unmark(item);
        }
        this.rebuild(length);
      }
      this.failed.add(this.doneMarks);
    }
    for (const item of settled) this.unmark(item);
    return false;
  }

  /** Puts here every item that changes nothing and is right here. To place it later could only be worse. */
  private settle(): readonly Item[] {
    const settled: Item[] = [];
    for (let found = true; found;) {
      found = false;
      for (const item of this.open()) {
        if (item.isChange || !this.settles(item)) continue;
        this.mark(item);
        settled.push(item);
        found = true;
      }
    }
    return settled;
  }

  private settles(item: Item): boolean {
    const { operation, response } = item;
    if (!('request' in operation) || response === null) return false;
    if (!this.replay.mayRespond(operation.request, response)) return false;
    const { length } = this.path;
    const isRight = this.apply(item);
    // What was not refused as it should be has changed the replay.
    if (!isRight && !READS.includes(operation.request.kind)) this.rebuild(length);
    return isRight;
  }

  /** Items that may be next: none of those left had returned before they were called. */
  private open(): readonly Item[] {
    const left = this.items.filter((item) => !this.done.has(item));
    const until = left.reduce((least, item) => Math.min(least, item.return), Infinity);
    return left.filter(({ call }) => call <= until);
  }

  private nextChanges(): readonly Item[] {
    const next = this.history.events[this.replay.eventCount];
    const shown = (next?.data as { object?: { id?: unknown } } | undefined)?.object;
    return this.open()
      .filter(({ isChange, event, isOptional, operation }) => {
        if (!isChange) return false;
        if (event && (event.type !== next?.type || event.id !== shown?.id)) return false;
        return !isOptional || ('request' in operation && this.mayChange(operation));
      })
      .toSorted((a, b) => a.at - b.at || Number(a.isOptional) - Number(b.isOptional));
  }

  /** Whether a request without a response could do anything now. */
  private mayChange({ request }: Operation): boolean {
    if ('key' in request && this.replay.isBound(request.key)) return false;
    const status = 'of' in request && this.replay.find(request.of)?.json.status;
    if (request.kind === 'approve' || request.kind === 'reject')
      return status === 'pending_approval';
    if (request.kind === 'capture') return status === 'held';
    if (request.kind === 'cancel') return status === 'pending_approval' || status === 'held';
    return true;
  }

  /** Carries the item out. Returns whether its response and what was stored are right. */
  private apply(item: Item): boolean {
    const { operation, at, response } = item;
    const { eventCount } = this.replay;
    if (!('request' in operation)) this.replay.expire(operation.of, at);
    else {
      const expected = this.replay.respond(operation, at);
      if (response !== null && !isSame(expected, response)) return false;
      if (response === null && !isEffective(expected)) return false;
      if (READS.includes(operation.request.kind)) return true;
    }
    this.path.push(item);
    return this.replay.isAsStored(eventCount);
  }

  /** The replay as it was after the first `length` items of the path. */
  private rebuild(length: number): void {
    this.path.length = length;
    this.replay = new Replay(this.history, this.facts);
    for (const { operation, at } of this.path)
      if ('request' in operation) this.replay.respond(operation, at);
      else this.replay.expire(operation.of, at);
  }

  private mark(item: Item): void {
    this.done.add(item);
    this.doneMarks ^= item.mark;
  }

  private unmark(item: Item): void {
    this.done.delete(item);
    this.doneMarks ^= item.mark;
  }

  private isComplete(): boolean {
    return (
      this.items.every((item) => item.isOptional || this.done.has(item)) && this.replay.isWhole
    );
  }

  private rememberObstacle(): void {
    if (this.done.size <= this.furthest) return;
    this.furthest = this.done.size;
    const open = this.open().filter(({ isOptional }) => !isOptional);
    const shown = open.slice(0, SHOWN).map(({ operation, at }) => {
      if (!('request' in operation)) return `the expiry of ${operation.of}`;
      return JSON.stringify({ ...operation, at });
    });
    const event = this.history.events[this.replay.eventCount];
    this.obstacle = `after ${this.done.size} of ${this.items.length} requests, before event ${String(event?.sequence)}, no order explains ${shown.join('\nor ')}`;
  }
}

function isEffective({ status, replayed }: Expected): boolean {
  return status < 300 && replayed !== true;
}

function itemsOf({ operations, events }: History, facts: Facts): readonly Item[] {
  const keyed = groupBy(
    operations.filter(({ request }) => !READS.includes(request.kind)),
    keyOf,
  );
  const items = operations.flatMap((operation) => {
    const same = keyed.get(keyOf(operation)) ?? [];
    return (operation.response === null ? lostItem : answeredItem)(operation, facts, same) ?? [];
  });
  const expiries = events
    .filter(({ type }) => type === 'transfer.expired')
    .map(({ data }): Item => {
      const id = String((data as { object: { id: unknown } }).object.id);
      const { expiresAt } = facts.transfers.get(id)!.end!;
      return {
        ...{ operation: { of: id }, call: expiresAt - TOLERANCE_MS, return: Infinity },
        ...{ at: expiresAt, response: null, isChange: true, isOptional: false },
        ...{ event: { type: 'transfer.expired', id }, mark: newMark() },
      };
    });
  return [...items, ...expiries].sort((a, b) => a.call - b.call);
}

/** Equal requests have the same one. */
function keyOf({ request }: Operation): string {
  if ('key' in request) return request.key;
  return 'of' in request ? `${request.kind} ${request.of}` : '';
}

function answeredItem(operation: Operation, facts: Facts): Item {
  const { request, response, call } = operation;
  const isRefused = response === null || response.status >= 300 || response.replayed;
  return {
    ...{ operation, call, return: operation.return ?? Infinity, response, mark: newMark() },
    ...{ at: timeOfEffect(operation, facts), event: eventOf(operation), isOptional: false },
    isChange: !isRefused && !READS.includes(request.kind),
  };
}

/**
 * Returns null for a request without a response that cannot have changed anything. Of several equal ones only the first may: its
 * time of effect includes those of the later ones.
 */
function lostItem(operation: Operation, facts: Facts, same: readonly Operation[]): Item | null {
  const { request, actor } = operation;
  if (READS.includes(request.kind)) return null;
  const responses = same.flatMap(({ response }) => response ?? []);
  const binding = responses.filter(({ status }) => status < 300 || status === 422);
  // Another request with the key took effect.
  if (binding.some(({ replayed }) => !replayed)) return null;
  const first = same.find(
    (one) =>
      one.response === null && one.actor === actor && isDeepStrictEqual(one.request, request),
  );
  if (first !== operation) return null;
  const item = answeredItem(operation, facts);
  const refusal = binding.find(({ status }) => status === 422);
  // This request, or another one like it, has bound the key to the refusal.
  if (refusal !== undefined)
    return { ...item, response: { ...refusal, replayed: false }, event: null, isOptional: true };
  const isMade = !isCreation(request) || facts.idOfKey.has(request.key);
  return isMade
    ? { ...item, isChange: true, isOptional: true, event: lostEventOf(operation, facts) }
    : null;
}

/** The event that a request without a response would write. */
function lostEventOf({ request }: Operation, { transfers }: Facts): Item['event'] {
  if (!('of' in request) || isCreation(request)) return undefined;
  const isHeld = (transfers.get(request.of)?.heldAt ?? null) !== null;
  if (request.kind === 'approve' && isHeld) return null;
  const isPaid = request.kind === 'approve' || request.kind === 'capture';
  return { type: isPaid ? 'transfer.completed' : 'transfer.rejected', id: request.of };
}

function eventOf({ request, response }: Operation): Item['event'] {
  const { id, status } = response?.body ?? {};
  if (READS.includes(request.kind) || !['completed', 'rejected'].includes(String(status)))
    return null;
  return { type: `transfer.${String(status)}`, id: String(id) };
}

/** The instant of a request by what was stored; if nothing was, the moment at which it was called. */
function timeOfEffect(operation: Operation, { idOfKey, transfers }: Facts): number {
  const { request, call } = operation;
  if (request.kind === 'transfer' || request.kind === 'refund')
    return transfers.get(idOfKey.get(request.key) ?? '')?.createdAt ?? call;
  if (!('of' in request)) return call;
  const { heldAt = null, end = null } = transfers.get(request.of) ?? {};
  if (request.kind === 'approve' && heldAt !== null) return heldAt;
  return end === null || end.type === 'transfer.expired' ? call : end.at;
}

function newMark(): bigint {
  return randomBytes(8).readBigUInt64BE();
}
