import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestAnswer } from '../support/api.js';
import { answered, type Bank, LEAST, list, openBank, transferBody } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { csvOf, formOf } from '../batches/support.js';
import { payoutBody } from '../payouts/support.js';
import { newUrl } from '../webhooks/support.js';

interface Side {
  readonly bank: Bank;
  readonly from: Account;
  readonly to: Account;
}

interface Asked {
  /** Where what a key made is listed by it; null where it is not. */
  readonly list: string | null;
  readonly ask: (side: Side, key: string) => Promise<TestAnswer>;
}

const FILE = csvOf([['$nobody', LEAST.toString(), 'COPM', 'November', 'r1']]);

const ASKED: Readonly<Record<string, Asked>> = {
  transfer: {
    list: '/v1/transfers',
    ask: ({ bank, from, to }, key) =>
      bank.request('POST', '/v1/transfers', { key, body: transferBody({ from, to, raw: LEAST }) }),
  },
  bonus: {
    list: '/v1/bonuses',
    ask: ({ bank, from, to }, key) =>
      bank.request('POST', '/v1/bonuses', {
        key,
        body: {
          source_account: from.id,
          recipient: { account_id: to.id },
          amount: { raw: LEAST.toString(), asset: 'COPM' },
        },
      }),
  },
  payout: {
    list: '/v1/payouts',
    ask: ({ bank, from }, key) =>
      bank.request('POST', '/v1/payouts', { key, body: payoutBody({ from }) }),
  },
  batch: {
    list: '/v1/bonus_batches',
    ask: ({ bank, from }, key) =>
      bank.request('POST', '/v1/bonus_batches', {
        key,
        form: formOf(FILE, { source_account: from.id }),
      }),
  },
  endpoint: {
    list: null,
    ask: ({ bank }, key) =>
      bank.request('POST', '/v1/webhook_endpoints', {
        key,
        body: { url: newUrl(), events: ['transfer.completed'] },
      }),
  },
};

const db = await testDatabase();
const api = await startTestApi(db);

describe('a stranger with the same idempotency key', () => {
  /** Of one network, so that each may pay to the other's accounts. */
  let sides: readonly [Side, Side];

  before(async () => {
    const network = `network-${randomUUID()}`;
    const open = async (): Promise<Side> => {
      const bank = await openBank(api, { network });
      return {
        bank,
        from: await bank.account({ funds: { COPM: 100n * LEAST } }),
        to: await bank.account(),
      };
    };
    sides = [await open(), await open()];
  });

  const found = async ({ bank }: Side, path: string, key: string): Promise<unknown[]> => {
    const { items } = answered(await bank.get(`${path}?idempotency_key=${key}`), 200).json;
    return list(items).map(({ id }) => id);
  };

  for (const [what, { list: path, ask }] of Object.entries(ASKED))
    for (const [first, second] of [
      [0, 1],
      [1, 0],
    ] as const)
      it(`a stranger with the same idempotency key does not find the ${what} that tenant ${first + 1} created, and creates its own`, async () => {
        const [one, other] = [sides[first], sides[second]];
        const key = randomUUID();
        const made = answered(await ask(one, key), 201).json.id;
        if (path !== null) {
          assert.deepEqual(await found(one, path, key), [made]);
          assert.deepEqual(await found(other, path, key), []);
        }
        const others = await ask(other, key);
        assert.equal(others.headers.get('svc-idempotent-replayed'), null);
        const own = answered(others, 201).json.id;
        assert.notEqual(own, made);
        if (path === null) return;
        assert.deepEqual(await found(one, path, key), [made]);
        assert.deepEqual(await found(other, path, key), [own]);
      });

  it('a stranger with the same idempotency key finds nothing by it who only received the money', async () => {
    const [{ bank, from }, other] = sides;
    const key = randomUUID();
    const body = transferBody({ from, to: other.to, raw: LEAST });
    answered(await bank.request('POST', '/v1/transfers', { key, body }), 201);
    assert.deepEqual(await found(other, '/v1/transfers', key), []);
  });

  it('a stranger with the same idempotency key is not refused for the other content of the first, nor does it refuse the first', async () => {
    const [one, other] = sides;
    const key = randomUUID();
    const send = ({ bank, from, to }: Side, raw: bigint): Promise<TestAnswer> =>
      bank.request('POST', '/v1/transfers', { key, body: transferBody({ from, to, raw }) });
    const [first, second] = await Promise.all([send(one, LEAST), send(other, 2n * LEAST)]);
    answered(first, 201);
    answered(second, 201);
    for (const [side, raw] of [
      [one, LEAST],
      [other, 2n * LEAST],
    ] as const)
      answered(await send(side, raw), 200);
    answered(await send(one, 2n * LEAST), 409, 'idempotency_key_reused');
  });
});
