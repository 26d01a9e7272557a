import assert from 'node:assert/strict';
import { object, text } from '../helpers/bank.js';
import { ALL, type ReadFilter } from './arbitraries.js';
import type { Operation, Plays } from './generated.js';
import { ACTORS, type ActorName, ASSETS } from './operations.js';
import { assertSame, nthOf, pairs, queryOf, Reading, SOME_PAGES } from './reading.js';
import { ListedReads } from './listed-reads.js';
import { PastReads } from './past-reads.js';
import {
  amountJson,
  type Expected,
  type Json,
  limitsOf,
  NOT_FOUND,
  type RefAccount,
  type RefEntry,
  type RefEvent,
  time,
  totalOf,
} from './reference-state.js';
import type { ModelWorld } from './world.js';

type Read = Exclude<
  Extract<Operation['op'], `read ${string}` | `find by ${string}`>,
  'read policy'
>;

/** The filters of the log, for the kind of movement that a read names. */
const TYPES: Readonly<Record<string, string>> = {
  transfer_in: 'account.verified',
  transfer_out: 'transfer.completed',
  payin_in: 'transfer.rejected',
  bonus_in: 'bonus_batch.completed',
  bonus_out: 'transfer.expired',
  fee_out: 'bonus_batch.rejected',
  adjustment_in: 'payout.returned',
  adjustment_out: 'payout.approved',
  payout_out: 'payout.completed',
};

/** Compares what the service shows with what the reference knows. */
export class ModelReads {
  /** Ids that the service gave to what the reference numbers: each stays, and none is given twice. */
  private readonly ids = new Map<string, string>();

  readonly plays: Plays<Read>;
  private readonly reading: Reading;
  private readonly listed: ListedReads;

  constructor(private readonly world: ModelWorld) {
    this.reading = new Reading(world);
    this.listed = new ListedReads(world);
    this.plays = {
      ...this.listed.plays,
      ...new PastReads(world).plays,
      'read balances': ({ account, actor }) => this.balances(account, actor),
      'read limits': ({ account, actor }) => this.limits(account, actor),
      'read movements': (filter) => this.movements(filter, SOME_PAGES),
      'read events': (filter) => this.events(filter, SOME_PAGES),
      'read event': ({ nth, actor }) => this.event(nth, actor),
    };
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
      await this.events({ ...ALL, actor });
      await this.events({ ...ALL, actor, isUpward: true });
    }
    await this.listed.everything();
  }

  /** The account, or what who has no right in it is answered. */
  private own(number: number, actor: ActorName): RefAccount | Expected {
    return this.world.ledger.own(actor, this.world.ledger.accounts[number] ?? null, null);
  }

  private async balances(number: number, actor: ActorName): Promise<void> {
    const answer = await this.reading.get(
      actor,
      `/v1/accounts/${this.world.idOf(number).id}/balances`,
    );
    const own = this.own(number, actor);
    if ('status' in own) return assertSame(answer, own);
    const balances = ASSETS.map((asset) => {
      const [available, held] = [own.balances[asset], own.held[asset]];
      return { asset, available: `${available}`, held: `${held}`, total: `${available + held}` };
    });
    const { as_of: asOf } = answer.json;
    assertSame(answer, { status: 200, body: { account_id: own.id, balances, as_of: asOf } });
    const at = text(asOf);
    // A policy that takes effect is a change too.
    assert(at >= time(own.changedAt) && at <= time(this.world.ledger.now), at);
  }

  private async limits(number: number, actor: ActorName): Promise<void> {
    const answer = await this.reading.get(
      actor,
      `/v1/accounts/${this.world.idOf(number).id}/limits`,
    );
    const own = this.own(number, actor);
    if ('status' in own) return assertSame(answer, own);
    const { ledger } = this.world;
    const limits = ASSETS.map((asset) => {
      const { minimum, maximum, month } = limitsOf(own, asset);
      const used = ledger.usedOf(own, asset).toString();
      const resetsAt = ledger.monthEnd(own);
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
    const { account: number, actor, asset, kind, limit, isUpward } = filter;
    const order = isUpward ? 'asc' : null;
    const query = queryOf({ asset, kind, order, ...this.reading.bounds(filter), limit });
    const path = `/v1/accounts/${this.world.idOf(number).id}/movements?${query}`;
    const own = this.own(number, actor);
    if ('status' in own) return assertSame(await this.reading.get(actor, path), own);
    const kept = own.entries
      .map((entry, index) => ({ entry, index }))
      .filter(
        ({ entry }) =>
          (asset === null || entry.asset === asset) &&
          (kind === null || entry.kind === kind) &&
          this.reading.isWithin(entry.at, filter),
      );
    if (!isUpward) kept.reverse();
    const walked = await this.reading.walk(actor, path, pages);
    for (const [{ id, ...rest }, { entry, index: seq }] of pairs(walked, kept)) {
      this.sameId(`movement ${own.id} ${seq}`, id);
      const total = totalOf(own.entries.slice(0, seq + 1), entry.asset);
      assert.deepEqual(rest, { ...movementOf(entry), total_after: amountJson(total, entry.asset) });
    }
  }

  private async events(filter: ReadFilter, pages = Infinity): Promise<void> {
    const { actor, kind, limit, isUpward } = filter;
    const type = TYPES[kind ?? ''] ?? null;
    const order = isUpward ? 'asc' : null;
    const query = queryOf({ type, order, ...this.reading.bounds(filter), limit });
    const { id: tenant, events } = this.world.ledger.tenantOf(actor);
    const kept = events
      .map((event, index) => ({ event, sequence: index + 1 }))
      .filter(
        ({ event }) =>
          (type === null || event.type === type) && this.reading.isWithin(event.at, filter),
      );
    if (!isUpward) kept.reverse();
    const walked = await this.reading.walk(actor, `/v1/events?${query}`, pages);
    for (const [{ id, ...rest }, { event, sequence }] of pairs(walked, kept)) {
      this.sameId(`event ${tenant} ${sequence}`, id);
      assert.deepEqual(rest, eventOf(event, sequence));
    }
  }

  private async event(nth: number, actor: ActorName): Promise<void> {
    const { id: tenant, events } = this.world.ledger.tenantOf(actor);
    const known = [...this.ids].filter(([name]) => name.startsWith('event '));
    const found = nthOf(known, nth);
    if (found === undefined) return;
    const [, of, sequence] = found[0].split(' ');
    const answer = await this.reading.get(actor, `/v1/events/${found[1]}`);
    if (of !== tenant) return assertSame(answer, NOT_FOUND);
    const number = Number(sequence);
    assertSame(answer, {
      status: 200,
      body: { id: found[1], ...eventOf(events[number - 1]!, number) },
    });
  }

  private sameId(name: string, id: unknown): void {
    const known = this.ids.get(name);
    if (known !== undefined) return assert.equal(id, known, name);
    assert(![...this.ids.values()].includes(text(id)), `${name} has an id that was given before`);
    this.ids.set(name, text(id));
  }
}

function movementOf({ kind, raw, asset, counterparty, description, related, at }: RefEntry): Json {
  return {
    kind,
    amount: amountJson(raw, asset),
    counterparty,
    description,
    related,
    created_at: time(at),
  };
}

function eventOf({ type, object: resource, at }: RefEvent, sequence: number): Json {
  return {
    type,
    api_version: '2026-11-01',
    created_at: time(at),
    sequence,
    data: { object: object(resource) },
  };
}
