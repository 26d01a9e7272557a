import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { UnknownKey, type Keyring } from '../../src/core/fingerprint.js';
import type { TestAnswer, TestApi } from '../helpers/api.js';
import { startTestApi } from '../helpers/api.js';
import {
  answered,
  type Bank,
  idLiteral,
  LEAST,
  openBank,
  text,
  transferBody,
} from '../helpers/bank.js';
import { ownDatabase, type TestDatabase } from '../helpers/database.js';
import { FakeReceiver } from '../helpers/receiver.js';
import { assertLedgerSound } from '../helpers/world.js';
import { csvOf, formOf } from '../batches/support.js';
import { openPayoutBank, paidTimes, railsOf, rowOf } from '../payouts/support.js';
import {
  deliveriesOf,
  dispatched,
  endpointOf,
  newEndpoint,
  newUrl,
  partsOf,
} from '../webhooks/support.js';
import type { Account } from '../../src/db/entities/parties.js';

const OLD = { id: 'test', secret: Buffer.alloc(32, 7) };
const NEW = { id: 'k2', secret: Buffer.alloc(32, 8) };

function environment(...keys: Keyring): Record<string, string> {
  const ring = keys.map(({ id, secret }) => `${id}:${secret.toString('base64')}`).join(',');
  return { FINGERPRINT_KEYS: ring, CURSOR_KEYS: ring, ENCRYPTION_KEYS: ring };
}

describe('the roll-out of a new key', () => {
  let db: TestDatabase;
  const receiver = new FakeReceiver();
  /** Has not got the new key yet. */
  let behind: TestApi;
  /** Uses it already. */
  let ahead: TestApi;
  /** Knows the new key and uses the old one: the first phase. */
  let between: TestApi;
  let bank: Bank;
  let payer: Account;
  let payee: Account;

  before(async () => {
    // What is sealed under the new key must not be met by tests that have only the old one.
    db = await ownDatabase('rolling');
    const open = (...keys: Keyring): Promise<TestApi> =>
      startTestApi(db, environment(...keys), { receiver });
    [behind, ahead, between] = [await open(OLD), await open(NEW, OLD), await open(OLD, NEW)];
    bank = await openBank(behind);
    payer = await bank.account({ funds: { COPM: 1_000n * LEAST } });
    payee = await bank.account();
  });

  after(() => assertLedgerSound(db.database));

  type Ask = (api: TestApi, key: string) => Promise<TestAnswer>;
  const post =
    (path: string, sent: () => { readonly body?: object; readonly form?: FormData }): Ask =>
    (api, key) =>
      api.request('POST', path, { token: bank.token, key, ...sent() });
  const url = newUrl();
  const file = csvOf([['$nobody', LEAST.toString(), 'COPM', 'November', 'r1']]);
  const transfer = (raw: bigint): Ask =>
    post('/v1/transfers', () => ({ body: transferBody({ from: payer, to: payee, raw }) }));
  const asked: Readonly<Record<string, { readonly ask: Ask; readonly status: number }>> = {
    'a transfer': { ask: transfer(LEAST), status: 201 },
    'a refusal that binds': { ask: transfer(1n), status: 422 },
    'the registration of an endpoint': {
      ask: post('/v1/webhook_endpoints', () => ({ body: { url, events: ['transfer.completed'] } })),
      status: 201,
    },
    'an upload': {
      ask: post('/v1/bonus_batches', () => ({
        form: formOf(file, { source_account: payer.id, description: 'November' }),
      })),
      status: 201,
    },
  };

  for (const [what, { ask, status }] of Object.entries(asked))
    it(`during the roll-out of a new key, repeating ${what} is a replay in processes with the key, and 503 in others, never 409`, async () => {
      for (const [maker, knowing] of [
        [ahead, [between, ahead]],
        [behind, [behind, between, ahead]],
        [between, [behind, between, ahead]],
      ] as const) {
        const key = randomUUID();
        const code = status === 422 ? 'below_minimum' : undefined;
        const made = answered(await ask(maker, key), status, code);
        if (maker === ahead) answered(await ask(behind, key), 503, 'ledger_unavailable');
        for (const api of knowing) {
          const again = await ask(api, key);
          assert.equal(again.status, status === 422 ? 422 : 200, again.text);
          assert.equal(again.json.id, made.json.id);
          assert.equal(again.headers.get('svc-idempotent-replayed'), 'true');
        }
      }
    });

  it('during the roll-out of a new key, a different request under the same idempotency key is 409 in every process that has the key', async () => {
    const key = randomUUID();
    answered(await asked['a transfer']!.ask(ahead, key), 201);
    answered(await asked['a refusal that binds']!.ask(between, key), 409, 'idempotency_key_reused');
    answered(await asked['a refusal that binds']!.ask(behind, key), 503, 'ledger_unavailable');
  });

  it('a cursor works in every process that has its key, and is 503 in processes without it, never 400', async () => {
    for (const _ of [1, 2]) answered(await asked['a transfer']!.ask(behind, randomUUID()), 201);
    const page = (api: TestApi, cursor?: unknown): Promise<TestAnswer> => {
      const path = `/v1/transfers?limit=1${cursor === undefined ? '' : `&cursor=${text(cursor)}`}`;
      return api.request('GET', path, { token: bank.token });
    };
    for (const maker of [behind, between, ahead]) {
      const { next_cursor: cursor } = answered(await page(maker), 200).json;
      for (const api of [between, ahead]) answered(await page(api, cursor), 200);
      if (maker === ahead) answered(await page(behind, cursor), 503, 'ledger_unavailable');
      else answered(await page(behind, cursor), 200);
    }
  });

  it('a delivery waits for a process that can sign it, without a failed attempt and without using up a retry', async () => {
    const own = await newEndpoint(ahead, ['account.verified', 'transfer.completed']);
    const from = await own.bank.account({ funds: { COPM: 10n * LEAST } });
    await own.bank.sent({ from, to: own.account, raw: LEAST });
    await assert.rejects(
      dispatched(partsOf(behind, receiver), own.id),
      new UnknownKey('ENCRYPTION_KEYS', 'k2'),
    );
    assert.deepEqual(receiver.at(own.url), []);
    assert.deepEqual(await deliveriesOf(ahead, own.id), []);
    const { failuresInRow, status } = await endpointOf(ahead, own.id);
    assert.deepEqual([failuresInRow, status], [0, 'enabled']);
    const test = `/v1/webhook_endpoints/${own.id}/test`;
    answered(
      await behind.request('POST', test, { token: own.bank.token }),
      503,
      'ledger_unavailable',
    );

    // No other run begins while the claim of the one that failed lasts.
    await db.change(`UPDATE webhook_endpoints SET lease_until=NULL WHERE id=${idLiteral(own.id)}`);
    await dispatched(partsOf(between, receiver, { encryptionKeys: [OLD, NEW] }), own.id);
    assert.equal(receiver.at(own.url).length, 1);
    assert.deepEqual(
      (await deliveriesOf(ahead, own.id)).map(({ state }) => state),
      ['delivered'],
    );
    answered(await between.request('POST', test, { token: own.bank.token }), 202);
  });

  it('a payout waits for a process that has the key of its bank account: it does not fail, and is paid once', async () => {
    const own = await openPayoutBank(ahead);
    const id = await own.pay('00');
    const blind = railsOf(db, { encryptionKeys: [OLD] });
    for (const _ of [1, 2])
      await assert.rejects(blind.submissions.submit(id), new UnknownKey('ENCRYPTION_KEYS', 'k2'));
    const { status, stuckSince } = await rowOf(db, id);
    assert.deepEqual([status, stuckSince], ['approved', null]);
    assert.deepEqual(await paidTimes(db, [id]), [0]);

    const seeing = railsOf(db, { encryptionKeys: [OLD, NEW] });
    await seeing.submissions.submit(id);
    await seeing.submissions.poll(id);
    assert.equal((await rowOf(db, id)).status, 'completed');
    assert.deepEqual(await paidTimes(db, [id]), [1]);
  });
});
