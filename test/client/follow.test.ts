import assert from 'node:assert/strict';
import { MoneyClient } from '../../packages/client/src/index.js';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi } from '../helpers/api.js';
import { type Bank, LEAST, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';

const EVENTS = 230;

const db = await testDatabase();
const api = await startTestApi(db);

describe('client.followEvents', () => {
  let bank: Bank;
  let client: MoneyClient;
  let from: Account;
  let to: Account;

  beforeEach(async () => {
    bank = await openBank(api);
    client = new MoneyClient({ baseUrl: api.baseUrl, token: bank.token });
    from = await bank.account({ funds: { COPM: 10_000n * LEAST } });
    to = await bank.account();
  });

  async function send(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => bank.sent({ from, to, raw: LEAST })));
  }

  /** Sequences from a position on, and the position behind the last of them. */
  async function taken(
    count: number,
    position?: string,
  ): Promise<{ sequences: number[]; position: string }> {
    const sequences: number[] = [];
    for await (const one of client.followEvents({
      ...(position === undefined ? {} : { from: position }),
      pollMs: 10,
    })) {
      sequences.push(one.event.sequence);
      if (sequences.length === count) return { sequences, position: one.position };
    }
    assert.fail('it ended by itself');
  }

  it('continues with the next event from any position, including the middle and the end of a page', async () => {
    await send(EVENTS);
    const all = await taken(EVENTS);
    const first = all.sequences[0]!;
    assert.deepEqual(
      all.sequences,
      Array.from({ length: EVENTS }, (_, index) => first + index),
    );
    for (const stop of [1, 57, 99, 100, 101, 200]) {
      const { position } = await taken(stop);
      const rest = await taken(EVENTS - stop, position);
      assert.deepEqual(rest.sequences, all.sequences.slice(stop), `stopped after ${stop}`);
    }
  });

  it('waits at the end of the log for new events', async () => {
    await send(3);
    const { position } = await taken(3);
    const coming = taken(2, position);
    await send(2);
    assert.equal((await coming).sequences.length, 2);
  });

  it('begins after the head of the log, even if the log is empty', async () => {
    const empty = await client.headOfEvents();
    await send(4);
    const head = await client.headOfEvents();
    const coming = await Promise.all([taken(6, empty), taken(2, head), send(2)]);
    assert.deepEqual(coming[1].sequences, coming[0].sequences.slice(4));
  });

  it('ends with its signal, also while it waits', async () => {
    const seen: unknown[] = [];
    for await (const one of client.followEvents({
      signal: AbortSignal.timeout(150),
      pollMs: 60_000,
    }))
      seen.push(one);
    assert.deepEqual(seen, []);
  });

  it('refuses a stored position that it did not write', async () => {
    for (const position of ['', 'x', '1', '1 2', '-1  ', '1  a b'])
      await assert.rejects(client.followEvents({ from: position }).next(), TypeError, position);
    await assert.rejects(client.followEvents({ from: '1  nonsense' }).next(), {
      code: 'invalid_field',
    });
  });
});
