import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setFeeAccount } from '../../src/accounts/fee.js';
import { newId } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import { request, type TestAnswer, type TestApi } from '../support/api.js';
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
} from '../support/bank.js';
import { assertLedgerSound, setFee, TEST_ACTOR } from '../support/world.js';
import { systemClock } from '../../src/core/instant.js';

/** Many clients at once over HTTP, spread over the API processes of one database. */
export interface Storm {
  /** In this process; the tenant is made through it. */
  readonly api: TestApi;
  /** Where the other processes are. */
  readonly others?: readonly string[];
}

type Send = (transfer: WantedTransfer, key?: string) => Promise<TestAnswer>;

/** Sends from one process after the other. */
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

function processes({ others = [] }: Storm): string {
  return `over ${others.length + 1} process(es)`;
}

interface SameKeyStorm extends Storm {
  readonly rounds: number;
  /** How many ask at the same time. */
  readonly width: number;
}

/** One key, one body: exactly one acts, all others answer the same resource; no 5xx. */
export async function sameBodyStorm(storm: SameKeyStorm): Promise<string> {
  const { rounds, width } = storm;
  const bank = await openBank(storm.api);
  const send = sender(storm, bank);
  const from = await bank.account({ funds: { COPM: LEAST * BigInt(rounds) } });
  const to = await bank.account();
  for (let round = 0; round < rounds; round += 1) {
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: width }, () => send({ from, to, raw: LEAST }, key)),
    );
    const made = answers.filter(({ status }) => status === 201);
    assert.equal(made.length, 1);
    for (const answer of answers) {
      if (answer !== made[0]) answered(answer, 200);
      assert.equal(answer.text, made[0]!.text);
    }
  }
  assert.deepEqual(
    [await bank.available(from), await bank.available(to)],
    [0n, LEAST * BigInt(rounds)],
  );
  await assertLedgerSound(storm.api.core.database);
  return `${rounds} rounds of ${width} requests with one key ${processes(storm)}: one acted in each, all answered its transfer`;
}

/** One key, two bodies: one of them acts once; whoever sent it gets its transfer, whoever sent the other 409. */
export async function twoBodiesStorm(storm: SameKeyStorm): Promise<string> {
  const { rounds, width } = storm;
  const bank = await openBank(storm.api);
  const send = sender(storm, bank);
  const from = await bank.account({ funds: { COPM: 2n * LEAST * BigInt(rounds) } });
  const to = await bank.account();
  const wins: [number, number] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: width }, async (_, index) => ({
        which: index % 2,
        answer: await send({ from, to, raw: LEAST + BigInt(index % 2) }, key),
      })),
    );
    const [first, ...more] = answers.filter(({ answer }) => answer.status === 201);
    assert(first !== undefined && more.length === 0);
    wins[first.which === 0 ? 0 : 1] += 1;
    for (const { which, answer } of answers)
      if (which !== first.which) answered(answer, 409, 'idempotency_key_reused');
      else assert.equal(answer.text, first.answer.text);
  }
  assert.equal(await bank.available(to), LEAST * BigInt(rounds) + BigInt(wins[1]));
  await assertLedgerSound(storm.api.core.database);
  return `${rounds} rounds of ${width} requests with one key and two bodies ${processes(storm)}: one acted in each (${wins.join(' and ')}), the others 409`;
}

/**
 * One key, and every other request names an account that does not exist. What is refused as not found binds nothing, so
 * exactly one of the others acts; and whoever asks for the missing account is told 404, or 409 once the key is bound.
 */
export async function unboundStorm(storm: SameKeyStorm): Promise<string> {
  const { rounds, width } = storm;
  const bank = await openBank(storm.api);
  const send = sender(storm, bank);
  const from = await bank.account({ funds: { COPM: LEAST * BigInt(rounds) } });
  const to = await bank.account();
  const missing = { id: newId() };
  let early = 0;
  for (let round = 0; round < rounds; round += 1) {
    const key = randomUUID();
    const ask = async (
      _: unknown,
      index: number,
    ): Promise<{ isGood: boolean; answer: TestAnswer }> => {
      const isGood = index % 2 === round % 2;
      return { isGood, answer: await send({ from, to: isGood ? to : missing, raw: LEAST }, key) };
    };
    const answers = await Promise.all(Array.from({ length: width }, ask));
    const good = answers.filter(({ isGood }) => isGood).map(({ answer }) => answer);
    assert.deepEqual(new Set(good.map(({ json }) => json.id)).size, 1);
    assert.equal(good.filter(({ status }) => status === 201).length, 1);
    assert(good.every(({ status }) => status === 201 || status === 200));
    for (const { isGood, answer } of answers)
      if (!isGood && answer.status === 404) early += 1;
      else if (!isGood) answered(answer, 409, 'idempotency_key_reused');
  }
  assert.deepEqual(
    [await bank.available(from), await bank.available(to)],
    [0n, LEAST * BigInt(rounds)],
  );
  await assertLedgerSound(storm.api.core.database);
  return `${rounds} rounds of ${width} requests with one key, half of them for a missing account ${processes(storm)}: one acted in each, ${early} were 404 before it`;
}

interface DrainStorm extends Storm {
  readonly clients: number;
  /** How many transfers the funds are good for. */
  readonly transfers: number;
  readonly feeRaw: bigint;
}

/** Clients take from one account until it has no more: successes are exactly the funds, and it is never below zero. */
export async function drainStorm(storm: DrainStorm): Promise<string> {
  const { api, clients, transfers, feeRaw } = storm;
  const bank = await openBank(api);
  const send = sender(storm, bank);
  const each = LEAST + feeRaw;
  // A rest that is good for no transfer stays.
  const rest = each - 1n;
  const from = await bank.account({ funds: { COPM: each * BigInt(transfers) + rest } });
  const to = await bank.account();
  const fees = await bank.account();
  await chargeFlat(bank, fees, feeRaw);
  let made = 0;
  let refused = 0;
  const client = async (): Promise<void> => {
    for (;;) {
      const answer = await send({ from, to, raw: LEAST });
      if (answer.status !== 201) {
        answered(answer, 422, 'insufficient_funds');
        assert.deepEqual(answer.details, {
          available: rest.toString(),
          requested: each.toString(),
        });
        refused += 1;
        return;
      }
      made += 1;
    }
  };
  await during(Promise.all(Array.from({ length: clients }, client)), async () =>
    assert((await bank.available(from)) >= 0n),
  );
  assert.deepEqual([made, refused], [transfers, clients]);
  const sent = BigInt(transfers);
  assert.deepEqual(
    [await bank.available(from), await bank.available(to), await bank.available(fees)],
    [rest, LEAST * sent, feeRaw * sent],
  );
  await assertLedgerSound(api.core.database);
  return `${clients} clients drained one account ${processes(storm)}: exactly ${made} transfers, ${rest} left`;
}

async function chargeFlat({ tenant, api }: Bank, account: Account, flatRaw: bigint): Promise<void> {
  const tenantId = tenant.tenant.id;
  await setFeeAccount(
    { database: api.core.database, clock: systemClock },
    tenantId,
    account.id,
    TEST_ACTOR,
  );
  await setFee(api.core.database, { tenantId, flatRaw });
}

interface MutualStorm extends Storm {
  readonly clients: number;
  readonly rounds: number;
}

/** Everybody pays everybody at once, in opposite directions: every request is answered, none by a deadlock. */
export async function mutualStorm(storm: MutualStorm): Promise<string> {
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
  await Promise.all(Array.from({ length: clients }, client));
  const left = await Promise.all(parties.map((party) => bank.available(party)));
  assert.equal(
    left.reduce((sum, one) => sum + one, 0n),
    funds * BigInt(parties.length),
  );
  await assertEachOnce(bank, made);
  await assertLedgerSound(api.core.database);
  return `${made.length} transfers of ${clients} clients among ${parties.length} accounts in all directions ${processes(storm)}: every one answered 201`;
}

/** Each transfer is once in the list and once in the log, whose sequence has no gap. */
export async function assertEachOnce(bank: Bank, made: readonly Json[]): Promise<void> {
  const ids = (items: readonly Json[]): string[] => items.map(({ id }) => text(id)).sort();
  const expected = ids(made);
  assert.deepEqual(ids(await walk(bank, '/v1/transfers?limit=100')), expected);
  const events = await walk(bank, '/v1/events?limit=100&type=transfer.completed');
  assert.deepEqual(ids(events.map(({ data }) => object(object(data).object))), expected);
  const sequences = (await walk(bank, '/v1/events?limit=100'))
    .map(({ sequence }) => sequence)
    .reverse();
  assert.deepEqual(
    sequences,
    Array.from(sequences, (_, index) => index + 1),
  );
  assert.equal(
    list((await bank.get('/v1/events?limit=1')).json.items).length,
    Math.min(1, made.length),
  );
}
