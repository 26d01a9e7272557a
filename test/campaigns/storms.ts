import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setFeeAccount } from '../../src/operations/fees.js';
import { newId } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { request, type TestAnswer, type TestApi } from '../helpers/api.js';
import {
  answered,
  type Bank,
  during,
  type Json,
  LEAST,
  list,
  object,
  openBank,
  text,
  transferBody,
  walk,
  type WantedTransfer,
  withQuery,
} from '../helpers/bank.js';
import { assertLedgerSound, setFee, TEST_ACTOR } from '../helpers/world.js';

/** Many clients at once over HTTP, spread over the API processes of one database. */
export interface Storm {
  /** In this process; the tenant is made through it. */
  readonly api: TestApi;
  /** The addresses of the other processes. */
  readonly others?: readonly string[];
}

type Send = (transfer: WantedTransfer, key?: string) => Promise<TestAnswer>;

/** Sends to one process after the other. */
function sender({ api, others = [] }: Storm, { token }: Bank): Send {
  const baseUrls = [api.baseUrl, ...others];
  let next = 0;
  return (transfer, key = randomUUID()) =>
    request(baseUrls[next++ % baseUrls.length]!, 'POST', '/v1/transfers', {
      token,
      key,
      body: transferBody(transfer),
    });
}

export function processes({ others = [] }: Storm): string {
  return others.length === 0 ? 'in one process' : `over ${others.length + 1} processes`;
}

/** The body of every other request of a round, under the same key. */
export const RIVALS = ['the same transfer', 'another amount', 'a missing account'] as const;

interface SameKeyStorm extends Storm {
  readonly rival: (typeof RIVALS)[number];
  readonly rounds: number;
  /** How many ask at the same time. */
  readonly width: number;
}

/**
 * Many requests with one key at the same time. Exactly one acts, all with its body get the same response, and all with the
 * other body get 409. A request for a missing account binds nothing: it gets 404 until another request has bound the key.
 */
export async function sameKeyStorm(storm: SameKeyStorm): Promise<string> {
  const { rival, rounds, width } = storm;
  const bank = await openBank(storm.api);
  const send = sender(storm, bank);
  const from = await bank.account({ funds: { COPM: 2n * LEAST * BigInt(rounds) } });
  const to = await bank.account();
  const good = { from, to, raw: LEAST };
  const other: WantedTransfer = {
    ...good,
    ...(rival === 'another amount' ? { raw: LEAST + 1n } : {}),
    ...(rival === 'a missing account' ? { to: { id: newId() } } : {}),
  };
  let [moved, early] = [0n, 0];
  for (let round = 0; round < rounds; round += 1) {
    const key = randomUUID();
    const ask = async (_: unknown, index: number) => {
      const wanted = index % 2 === round % 2 ? good : other;
      return { wanted, answer: await send(wanted, key) };
    };
    const all = await Promise.all(Array.from({ length: width }, ask));
    const [made, ...more] = all.filter(({ answer }) => answer.status === 201);
    assert(made !== undefined && more.length === 0, `${1 + more.length} of them acted`);
    moved += BigInt(made.wanted.raw);
    for (const { wanted, answer } of all)
      if (rival === 'the same transfer' || wanted === made.wanted) {
        if (answer !== made.answer) answered(answer, 200);
        assert.equal(answer.text, made.answer.text);
      } else if (rival === 'a missing account' && answer.status === 404) early += 1;
      else answered(answer, 409, 'idempotency_key_reused');
  }
  assert.deepEqual(
    [await bank.available(from), await bank.available(to)],
    [2n * LEAST * BigInt(rounds) - moved, moved],
  );
  await assertLedgerSound(storm.api.core.database);
  return `${rounds} rounds of ${width} simultaneous requests with one key ${processes(storm)}, every second request for ${rival}: in each round one request moved money, and the remaining requests got its result or 409 (${early} got 404 before it)`;
}

interface DrainStorm extends Storm {
  readonly clients: number;
  /** How many transfers the funds suffice for. */
  readonly transfers: number;
  readonly feeRaw: bigint;
}

/** Clients take from one account until it has no more: successes are exactly the funds, and it is never below zero. */
export async function drainStorm(storm: DrainStorm): Promise<string> {
  const { api, clients, transfers, feeRaw } = storm;
  const bank = await openBank(api);
  const send = sender(storm, bank);
  const each = LEAST + feeRaw;
  // What is left suffices for no transfer.
  const rest = each - 1n;
  const from = await bank.account({ funds: { COPM: each * BigInt(transfers) + rest } });
  const to = await bank.account();
  const fees = await bank.account();
  await chargeFlat(bank, fees, feeRaw);
  let made = 0;
  const client = async (): Promise<void> => {
    for (;;) {
      const answer = await send({ from, to, raw: LEAST });
      if (answer.status !== 201) {
        const { details } = answered(answer, 422, 'insufficient_funds');
        assert.deepEqual(details, { available: rest.toString(), requested: each.toString() });
        return;
      }
      made += 1;
    }
  };
  await during(Promise.all(Array.from({ length: clients }, client)), async () =>
    assert((await bank.available(from)) >= 0n),
  );
  assert.equal(made, transfers);
  const sent = BigInt(transfers);
  assert.deepEqual(
    [await bank.available(from), await bank.available(to), await bank.available(fees)],
    [rest, LEAST * sent, feeRaw * sent],
  );
  await assertLedgerSound(api.core.database);
  return `${clients} clients drained one account ${processes(storm)}: exactly ${made} transfers succeeded, and ${rest} remained`;
}

async function chargeFlat({ tenant, api }: Bank, account: Account, flatRaw: bigint): Promise<void> {
  const tenantId = tenant.tenant.id;
  const deps = { database: api.core.database, clock: systemClock };
  await setFeeAccount(deps, tenantId, account.id, TEST_ACTOR);
  await setFee(api.core.database, { tenantId, flatRaw });
}

interface RacingStorm extends Storm {
  readonly clients: number;
  readonly rounds: number;
}

/**
 * Everybody pays everybody at once, in opposite directions, and readers follow the log: every request is answered, none by a
 * deadlock, and each reader sees every event once, in the order of the sequence, without a gap at any moment.
 */
export async function racingStorm(storm: RacingStorm): Promise<string> {
  const { api, clients, rounds } = storm;
  const bank = await openBank(api);
  const send = sender(storm, bank);
  const funds = 1_000n * LEAST;
  const parties: Account[] = [];
  for (let index = 0; index < 5; index += 1)
    parties.push(await bank.account({ funds: { COPM: funds } }));
  const made: Json[] = [];
  const client = async (_: unknown, number: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      const from = parties[(number + round) % parties.length]!;
      const to = parties[(number + round + 1 + (number % (parties.length - 1))) % parties.length]!;
      made.push(answered(await send({ from, to, raw: LEAST + BigInt(number) }), 201).json);
    }
  };
  const state = { isOver: false };
  const following = [1, 7, 100].map((limit) => follow(bank, limit, () => state.isOver));
  await Promise.all(Array.from({ length: clients }, client)).finally(() => (state.isOver = true));
  for (const seen of await Promise.all(following)) assertLog(seen, made);
  const left = await Promise.all(parties.map((party) => bank.available(party)));
  assert.equal(
    left.reduce((sum, one) => sum + one, 0n),
    funds * BigInt(parties.length),
  );
  await assertEachOnce(bank, made);
  await assertLedgerSound(api.core.database);
  return `${made.length} transfers of ${clients} clients among ${parties.length} accounts in all directions ${processes(storm)}: all were answered 201, and ${following.length} readers of the log saw each event once, without a gap`;
}

/** Reads the log upward until the writers are through and nothing more comes. */
async function follow(bank: Bank, limit: number, isOver: () => boolean): Promise<Json[]> {
  const seen: Json[] = [];
  const first = `/v1/events?order=asc&limit=${limit}`;
  for (let path = first; ;) {
    const wasOver = isOver();
    const page: Json = answered(await bank.get(path), 200).json;
    const items = list(page.items);
    seen.push(...items);
    path = withQuery(first, `cursor=${text(page.next_cursor)}`);
    if (wasOver && items.length === 0) return seen;
  }
}

/** Each transfer is once in the list and once in the log, whose sequence has no gap. */
export async function assertEachOnce(bank: Bank, made: readonly Json[]): Promise<void> {
  assert.deepEqual(idsOf(await walk(bank, '/v1/transfers?limit=100')), idsOf(made));
  assertLog((await walk(bank, '/v1/events?limit=100')).reverse(), made);
}

/** The events, oldest first, are those of the transfers alone, and have them as they were returned. */
function assertLog(events: readonly Json[], made: readonly Json[]): void {
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    Array.from(events, (_, index) => index + 1),
  );
  const told = events.map(({ data }) => object(object(data).object));
  assert.deepEqual(idsOf(told), idsOf(made));
  const byId = new Map(told.map((one) => [one.id, one]));
  for (const one of made) assert.deepEqual(byId.get(one.id), one);
}

function idsOf(items: readonly Json[]): string[] {
  return items.map(({ id }) => text(id)).sort();
}
