import assert from 'node:assert/strict';
import type { TestAnswer } from '../support/api.js';
import { answered, list, object, text, withQuery } from '../support/bank.js';
import {
  ACTORS,
  type ActorName,
  ASSETS,
  type Operation,
  type ReadFilter,
  type TransferOperation,
} from './operations.js';
import {
  type Expected,
  FORBIDDEN,
  type Json,
  limitsOf,
  monthEnd,
  NOT_FOUND,
  type RefAccount,
  type RefEntry,
  type RefEvent,
  type RefPayment,
  time,
} from './reference-state.js';
import type { ModelWorld } from './world.js';

/** A request that was made before. */
export interface Sent {
  readonly wanted: TransferOperation;
  readonly key: string;
}

type Payments = 'transfers' | 'bonuses';

type Read = Exclude<Extract<Operation, { op: `read ${string}` | 'find by key' }>, { op: 'read policy' }>;

/** Pages that are read in the middle of a run; at its end all are. */
const SOME_PAGES = 3;

/** What lists of transfers and events are filtered by, for the kind of movement that a read names. */
const STATUSES: Readonly<Record<string, string>> = {
  transfer_in: 'pending_approval',
  payin_in: 'rejected',
  bonus_out: 'expired',
};
const TYPES: Readonly<Record<string, string>> = {
  transfer_in: 'account.verified',
  transfer_out: 'transfer.completed',
  payin_in: 'transfer.rejected',
  bonus_out: 'transfer.expired',
};

const ALL: Omit<ReadFilter, 'account' | 'actor'> = {
  asset: null,
  kind: null,
  sinceMs: null,
  limit: 100,
  isUpward: false,
};

/** Compares what the service shows with what the reference knows. */
export class ModelReads {
  /** Ids that the service gave to what the reference numbers: each stays, and none is given twice. */
  private readonly ids = new Map<string, string>();

  constructor(private readonly world: ModelWorld) {}

  async read(operation: Read, sent: readonly Sent[]): Promise<void> {
    const nthOf = <T>(items: readonly T[], nth: number): T | undefined => items[nth % Math.max(1, items.length)];
    switch (operation.op) {
      case 'read balances':
        return this.balances(operation.account, operation.actor);
      case 'read limits':
        return this.limits(operation.account, operation.actor);
      case 'read movements':
        return this.movements(operation, SOME_PAGES);
      case 'read transfers':
        return this.transfers(operation, SOME_PAGES);
      case 'read bonuses':
        return this.payments('bonuses', operation, {}, SOME_PAGES);
      case 'read events':
        return this.events(operation, SOME_PAGES);
      case 'read transfer': {
        // Also those of the other tenant.
        const made = ACTORS.flatMap((actor) => this.world.ledger.tenantOf(actor).transfers);
        return this.payment('transfers', nthOf(made, operation.nth), operation.actor);
      }
      case 'read bonus': {
        const made = ACTORS.flatMap((actor) => this.world.ledger.tenantOf(actor).bonuses);
        return this.payment('bonuses', nthOf(made, operation.nth), operation.actor);
      }
      case 'read event':
        return this.event(operation.nth, operation.actor);
      case 'find by key':
        return this.byKey(nthOf(sent, operation.nth), operation.actor);
    }
  }

  /** All accounts whole, and the whole of each log and list. */
  async everything(): Promise<void> {
    for (const [number, account] of this.world.ledger.accounts.entries()) {
      if (account === null) continue;
      const actor = ACTORS.find((one) => this.world.ledger.role(one, account) !== null) ?? 'owner';
      await this.balances(number, actor);
      await this.limits(number, actor);
      await this.movements({ ...ALL, account: number, actor });
    }
    for (const actor of ACTORS) {
      await this.transfers({ ...ALL, account: 7, actor });
      await this.payments('bonuses', { ...ALL, account: 7, actor }, {});
      await this.events({ ...ALL, account: 7, actor });
      await this.events({ ...ALL, account: 7, actor, isUpward: true });
    }
  }

  private get(actor: ActorName, path: string): Promise<TestAnswer> {
    return this.world.ask(actor, 'GET', path);
  }

  /** The account, or what who has no right in it is answered. */
  private own(number: number, actor: ActorName): RefAccount | Expected {
    return this.world.ledger.own(actor, this.world.ledger.accounts[number] ?? null, null);
  }

  private async balances(number: number, actor: ActorName): Promise<void> {
    const answer = await this.get(actor, `/v1/accounts/${this.world.idOf(number).id}/balances`);
    const own = this.own(number, actor);
    if ('status' in own) return assertSame(answer, own);
    const balances = ASSETS.map((asset) => {
      const [available, held] = [own.balances[asset], own.held[asset]];
      return { asset, available: `${available}`, held: `${held}`, total: `${available + held}` };
    });
    assertSame(answer, { status: 200, body: { account_id: own.id, balances, as_of: time(this.world.ledger.now) } });
  }

  private async limits(number: number, actor: ActorName): Promise<void> {
    const answer = await this.get(actor, `/v1/accounts/${this.world.idOf(number).id}/limits`);
    const own = this.own(number, actor);
    if ('status' in own) return assertSame(answer, own);
    const { ledger } = this.world;
    const limits = ASSETS.map((asset) => {
      const { minimum, maximum, month } = limitsOf(own, asset);
      const used = ledger.usedOf(own, asset).toString();
      const resetsAt = monthEnd(ledger.now);
      return {
        asset,
        minimum: minimum.toString(),
        maximum: maximum.toString(),
        month: { used, limit: month.toString(), resets_at: resetsAt },
      };
    });
    assertSame(answer, { status: 200, body: { account_id: own.id, limits } });
  }

  private async movements(filter: ReadFilter, pages = Infinity): Promise<void> {
    const { account: number, actor, asset, kind, sinceMs, limit } = filter;
    const query = queryOf({ asset, kind, 'created_at[gte]': this.since(sinceMs), limit });
    const path = `/v1/accounts/${this.world.idOf(number).id}/movements?${query}`;
    const own = this.own(number, actor);
    if ('status' in own) return assertSame(await this.get(actor, path), own);
    const kept = own.entries
      .map((entry, index) => ({ entry, index }))
      .filter(
        ({ entry }) =>
          (asset === null || entry.asset === asset) &&
          (kind === null || entry.kind === kind) &&
          this.isSince(entry.at, sinceMs),
      )
      .reverse();
    const walked = await this.walk(actor, path, pages);
    for (const [{ id, ...rest }, { entry, index: seq }] of pairs(walked, kept)) {
      this.sameId(`movement ${own.id} ${seq}`, id);
      assert.deepEqual(rest, { ...movementOf(entry), total_after: totalAfter(own.entries.slice(0, seq + 1)) });
    }
  }

  private transfers(filter: ReadFilter, pages = Infinity): Promise<void> {
    const { kind } = filter;
    return this.payments(
      'transfers',
      filter,
      { status: kind === null ? null : (STATUSES[kind] ?? 'completed') },
      pages,
    );
  }

  private async payments(
    what: Payments,
    filter: ReadFilter,
    { status = null }: { readonly status?: string | null },
    pages = Infinity,
  ): Promise<void> {
    const { account: number, actor, sinceMs, limit } = filter;
    const source = number < 7 ? this.world.idOf(number).id : null;
    const query = queryOf({ source_account: source, status, 'created_at[gte]': this.since(sinceMs), limit });
    const made: readonly RefPayment[] = this.world.ledger.tenantOf(actor)[what];
    const kept = made
      .filter(
        (payment) =>
          this.isVisible(payment, actor) &&
          (source === null || payment.source.id === source) &&
          (status === null || payment.json.status === status) &&
          this.isSince(payment.at, sinceMs),
      )
      .toSorted((a, b) => b.at - a.at || (text(a.json.id) < text(b.json.id) ? 1 : -1));
    const walked = await this.walk(actor, `/v1/${what}?${query}`, pages);
    for (const [item, { json }] of pairs(walked, kept)) assert.deepEqual(item, json);
  }

  private isVisible({ source, destination }: RefPayment, actor: ActorName): boolean {
    const { ledger } = this.world;
    return ledger.role(actor, source) !== null || ledger.role(actor, destination) !== null;
  }

  private async payment(what: Payments, made: RefPayment | undefined, actor: ActorName): Promise<void> {
    if (made === undefined) return;
    const answer = await this.get(actor, `/v1/${what}/${text(made.json.id)}`);
    const own: readonly RefPayment[] = this.world.ledger.tenantOf(actor)[what];
    if (!own.includes(made)) return assertSame(answer, NOT_FOUND);
    assertSame(answer, this.isVisible(made, actor) ? { status: 200, body: made.json } : FORBIDDEN);
  }

  private async byKey(sent: Sent | undefined, actor: ActorName): Promise<void> {
    if (sent === undefined) return;
    const made = this.world.ledger
      .tenantOf(actor)
      .transfers.filter((transfer) => transfer.key === sent.key && this.isVisible(transfer, actor));
    assertSame(await this.get(actor, `/v1/transfers?idempotency_key=${sent.key}`), {
      status: 200,
      body: { items: made.map(({ json }) => json), next_cursor: null },
    });
  }

  private async events(filter: ReadFilter, pages = Infinity): Promise<void> {
    const { actor, kind, sinceMs, limit, isUpward } = filter;
    const type = TYPES[kind ?? ''] ?? null;
    const order = isUpward ? 'asc' : null;
    const query = queryOf({ type, order, 'created_at[gte]': this.since(sinceMs), limit });
    const { id: tenant, events } = this.world.ledger.tenantOf(actor);
    const kept = events
      .map((event, index) => ({ event, sequence: index + 1 }))
      .filter(({ event }) => (type === null || event.type === type) && this.isSince(event.at, sinceMs));
    if (!isUpward) kept.reverse();
    const walked = await this.walk(actor, `/v1/events?${query}`, pages);
    for (const [{ id, ...rest }, { event, sequence }] of pairs(walked, kept)) {
      this.sameId(`event ${tenant} ${sequence}`, id);
      assert.deepEqual(rest, eventOf(event, sequence));
    }
  }

  private async event(nth: number, actor: ActorName): Promise<void> {
    const { id: tenant, events } = this.world.ledger.tenantOf(actor);
    const known = [...this.ids].filter(([name]) => name.startsWith('event '));
    const found = known[nth % Math.max(1, known.length)];
    if (found === undefined) return;
    const [, of, sequence] = found[0].split(' ');
    const answer = await this.get(actor, `/v1/events/${found[1]}`);
    if (of !== tenant) return assertSame(answer, NOT_FOUND);
    const number = Number(sequence);
    assertSame(answer, { status: 200, body: { id: found[1], ...eventOf(events[number - 1]!, number) } });
  }

  /** At most so many pages. Where the log is followed upward, an empty page is the last one: that list has no end. */
  private async walk(actor: ActorName, path: string, pages: number): Promise<Walked> {
    const items: Json[] = [];
    let next = path;
    for (let page = 0; page < pages; page += 1) {
      const { json } = answered(await this.get(actor, next), 200);
      const own = list(json.items);
      items.push(...own);
      if (json.next_cursor === null || own.length === 0) return { items, isWhole: true };
      next = withQuery(path, `cursor=${text(json.next_cursor)}`);
    }
    return { items, isWhole: false };
  }

  private since(sinceMs: number | null): string | null {
    return sinceMs === null ? null : time(this.world.ledger.now - sinceMs);
  }

  private isSince(at: number, sinceMs: number | null): boolean {
    return sinceMs === null || at >= this.world.ledger.now - sinceMs;
  }

  private sameId(name: string, id: unknown): void {
    const known = this.ids.get(name);
    if (known !== undefined) return assert.equal(id, known, name);
    assert(![...this.ids.values()].includes(text(id)), `${name} has an id that was given before`);
    this.ids.set(name, text(id));
  }
}

interface Walked {
  readonly items: readonly Json[];
  readonly isWhole: boolean;
}

/** What was read beside what it must be: all of it, or as much as was read. */
function pairs<T>({ items, isWhole }: Walked, expected: readonly T[]): (readonly [Json, T])[] {
  if (isWhole) assert.equal(items.length, expected.length);
  else assert(items.length <= expected.length);
  return items.map((item, index) => [item, expected[index]!]);
}

/** The answer is what the reference says, in everything that it says. */
export function assertSame(answer: TestAnswer, expected: Expected): void {
  assert.deepEqual([answer.status, answer.code], [expected.status, expected.code], answer.text);
  if (expected.details !== undefined) assert.deepEqual(answer.details, expected.details);
  if (expected.body !== undefined) assert.deepEqual(answer.json, expected.body);
  assert.equal(answer.headers.get('svc-idempotent-replayed'), expected.replayed === true ? 'true' : null, answer.text);
}

function movementOf({ kind, raw, asset, counterparty, description, related, at }: RefEntry): Json {
  return { kind, amount: { raw: raw.toString(), asset }, counterparty, description, related, created_at: time(at) };
}

/** What the entries of the last one's asset add up to. */
function totalAfter(entries: readonly RefEntry[]): Json {
  const asset = entries.at(-1)?.asset;
  const gained = ({ kind, raw }: RefEntry): bigint => (kind.endsWith('_in') ? raw : -raw);
  const total = entries.reduce((sum, entry) => (entry.asset === asset ? sum + gained(entry) : sum), 0n);
  return { raw: total.toString(), asset };
}

function eventOf({ type, object: resource, at }: RefEvent, sequence: number): Json {
  return { type, api_version: '2026-11-01', created_at: time(at), sequence, data: { object: object(resource) } };
}

function queryOf(parameters: Readonly<Record<string, string | number | null>>): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join('&');
}
