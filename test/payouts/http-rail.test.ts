import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { newId, type Uuid } from '../../src/core/ids.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { payoutRailEvents } from '../../src/db/entities/payouts.js';
import { serveGateway } from '../../development/simulated-rail/gateway.js';
import { HttpRail } from '../../src/payouts/rails/http.js';
import { railHeaders } from '../../src/payouts/rails/wire.js';
import { SimulatedRail } from '../../src/payouts/rails/simulated.js';
import { RailUnresponsive } from '../../src/payouts/rails/rail.js';
import { startTestApi, TEST_KEYRING, type TestAnswer } from '../helpers/api.js';
import { answered, idLiteral, object, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { freePorts, listenAt } from '../helpers/service-process.js';
import {
  assertSameStory,
  openPayoutBank,
  paidTimes,
  type PayoutBank,
  railsOf,
  rowOf,
  railEventsOf,
  statusesOf,
  untilStatus,
} from './support.js';

const NAME = 'bank-a';
const RAIL = `http:${NAME}`;
const PATH = `/rails/${NAME}/callbacks`;
const [KEY] = TEST_KEYRING;

const db = await testDatabase();
const [port] = await freePorts(1);
const url = `http://127.0.0.1:${port!}`;
const api = await startTestApi(db, {
  PAYOUT_RAILS: `*=${RAIL}`,
  PAYOUT_RAIL_URLS: `${NAME}=${url}`,
  PAYOUT_RAIL_KEYS: `${NAME}=${KEY.id}:${KEY.secret.toString('base64')}`,
});
const gateway = await serveGateway(
  new SimulatedRail(db.database, systemClock, `gateway:${NAME}`),
  systemClock,
  {
    name: NAME,
    port: port!,
    keys: TEST_KEYRING,
    serviceUrl: api.baseUrl,
    onLine: () => undefined,
  },
);
const rail = new HttpRail(NAME, url, TEST_KEYRING, systemClock);

describe('the HTTP rail', () => {
  let own: PayoutBank;

  beforeEach(async () => {
    own = await openPayoutBank(api);
  });

  after(async () => {
    await gateway.stop();
  });

  const submissions = (over: HttpRail = rail) =>
    railsOf(db, { rails: new Map([[RAIL, over]]) }).submissions;

  describe('with the reference gateway', () => {
    it('the HTTP rail receives later outcomes by signed callbacks, including a return after completion', async () => {
      const [failed, returned, done] = [
        await own.pay('02'),
        await own.pay('05'),
        await own.pay('06'),
      ];
      for (const id of [failed, returned, done]) await submissions().submit(id);
      assert.deepEqual(statusesOf(await untilStatus(own, failed, ['failed'])).at(-1), 'failed');
      await untilStatus(own, done, ['completed']);
      const story = statusesOf(await untilStatus(own, returned, ['returned']));
      assert.deepEqual(story, ['approved', 'in_progress', 'completed', 'returned']);
      for (const id of [failed, returned, done]) {
        await assertSameStory(own, id);
        assert(
          (await railEventsOf(db, id)).some(
            ({ kind, effect }) => kind === 'callback' && effect === 'applied',
          ),
        );
      }
    });

    it('the HTTP rail treats unanswered orders as unknown and polls them; lost orders are submitted again', async () => {
      const [silent, lost] = [await own.pay('03'), await own.pay('07')];
      for (const id of [silent, lost]) {
        assert.equal((await submissions().submit(id)).payout.status, 'in_progress');
        await submissions().poll(id);
      }
      assert.equal((await own.get(silent)).status, 'in_progress');
      assert.equal((await own.get(lost)).status, 'completed');
    });
  });

  it('voids an unknown key, which the gateway then never pays', async () => {
    const id = await own.pay();
    assert.equal((await rail.void(id))?.status, 'voided');
    assert.equal((await rail.void(id))?.status, 'voided');
    assert.equal((await rail.status(id))?.status, 'voided');
    await submissions().submit(id);
    assert.equal((await own.get(id)).status, 'failed');
    assert.deepEqual(await paidTimes(db, [id]), [0]);
    await assertSameStory(own, id);
  });

  describe('responses', () => {
    async function against<T>(
      listener: RequestListener,
      work: (rail: HttpRail) => Promise<T>,
    ): Promise<T> {
      const server = createServer(listener);
      const at = `http://127.0.0.1:${await listenAt(server)}`;
      try {
        return await work(new HttpRail(NAME, at, TEST_KEYRING, systemClock));
      } finally {
        server.closeAllConnections();
        server.close();
      }
    }
    const reply =
      (status: number, body: string): RequestListener =>
      (_, response) =>
        void response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(body);
    const phone = { type: 'bre_b_key', keyType: 'phone', key: '3001112233' } as const;
    const found = {
      ...{ key: phone.key, status: 'found', holder: 'H-1', holder_name: 'Luz Rojas' },
      ...{ bank_code: '0007', account_type: 'savings' },
    };
    const holder = (change: object = {}, status = 200) =>
      reply(status, JSON.stringify({ ...found, ...change }));

    it('a holder is known only by a complete response about the very key', async () => {
      const { bank_code: bankCode, account_type: accountType, holder_name: holderName } = found;
      const known = await against(holder({ more: 1 }), (its) => its.resolve(phone));
      assert.deepEqual(known, { holder: 'H-1', holderName, bankCode, accountType });
      const unknown = reply(404, JSON.stringify({ key: phone.key, status: 'unknown' }));
      assert.equal(await against(unknown, (its) => its.resolve(phone)), null);
      for (const [what, listener] of [
        ['an error', holder({}, 500)],
        ['a redirect', holder({}, 302)],
        ['accepted, but not answered', holder({}, 202)],
        ['another key', holder({ key: '3001112234' })],
        ['no key', holder({ key: undefined })],
        ['unknown with 200', reply(200, JSON.stringify({ key: phone.key, status: 'unknown' }))],
        ['found with 404', holder({}, 404)],
        ['unknown of another key', reply(404, '{"key": "3001112234", "status": "unknown"}')],
        ['a plain 404', reply(404, 'not found')],
        ['no holder', holder({ holder: '' })],
        ['a holder with spaces', holder({ holder: 'H 1' })],
        ['a holder of 65 characters', holder({ holder: 'H'.repeat(65) })],
        ['no name', holder({ holder_name: ' ' })],
        ['a name of 81 characters', holder({ holder_name: 'x'.repeat(81) })],
        ['a name that reverses text', holder({ holder_name: 'Luz \u202e Rojas' })],
        ['another kind of account', holder({ account_type: 'gold' })],
        ['a bank code in small letters', holder({ bank_code: 'abc' })],
        ['not JSON', reply(200, '<html>')],
        ['65 KiB', holder({ more: 'x'.repeat(65 * 1024) })],
        ['a cut connection', (_: unknown, response: { destroy(): void }) => response.destroy()],
      ] as const)
        await assert.rejects(
          against(listener, (its) => its.resolve(phone)),
          RailUnresponsive,
          what,
        );
    });

    it('a rail that is slow to say who holds a key is not waited for longer than its settings say', async () => {
      const server = createServer(() => undefined);
      const at = `http://127.0.0.1:${await listenAt(server)}`;
      const slow = new HttpRail(NAME, at, TEST_KEYRING, systemClock, 100);
      await assert.rejects(slow.resolve(phone), RailUnresponsive);
      server.closeAllConnections();
      server.close();
    });
    const key = newId();
    const good = { key, status: 'completed', reference: 'R1', failure: null };

    for (const [what, listener] of [
      ['an error', reply(500, JSON.stringify(good))],
      ['a refusal', reply(422, JSON.stringify({ ...good, status: 'failed' }))],
      ['a redirect', reply(302, '')],
      ['text that is not JSON', reply(200, '<html>')],
      ['a response about another payout', reply(200, JSON.stringify({ ...good, key: newId() }))],
      ['an unknown status', reply(200, JSON.stringify({ ...good, status: 'paid' }))],
      ['a response without a reference', reply(200, JSON.stringify({ key, status: 'completed' }))],
      [
        'a response that is too long',
        reply(200, JSON.stringify({ ...good, more: 'x'.repeat(70_000) })),
      ],
      ['a 404 of a proxy', reply(404, 'not found')],
      [
        'a 404 about another payout',
        reply(404, JSON.stringify({ key: newId(), status: 'unknown' })),
      ],
      ['a closed connection', (request) => void request.socket.destroy()],
    ] as const satisfies readonly (readonly [string, RequestListener])[])
      it(`does not accept ${what} as a response: the outcome stays unknown`, () =>
        against(listener, (over) => assert.rejects(over.status(key), RailUnresponsive)));

    it('accepts "cannot_void" in response to a void only in the form of the protocol', async () => {
      const voidWith = (body: object) =>
        against(reply(501, JSON.stringify(body)), (over) => over.void(key));
      assert.equal(await voidWith({ key, status: 'cannot_void' }), null);
      for (const other of [{}, { key: newId(), status: 'cannot_void' }, good])
        await assert.rejects(voidWith(other), RailUnresponsive);
    });

    it('accepts only responses about the same payout, and "unknown" only in the form of the protocol', async () => {
      const report = await against(reply(200, JSON.stringify(good)), (over) => over.status(key));
      assert.deepEqual([report?.status, report?.reference], ['completed', 'R1']);
      assert.equal(
        await against(reply(404, JSON.stringify({ key, status: 'unknown' })), (over) =>
          over.status(key),
        ),
        null,
      );
    });
  });

  describe('callbacks', () => {
    let id: Uuid;
    let count = 0;

    beforeEach(async () => {
      id = await own.pay('03');
      await submissions().submit(id);
    });

    const about = (more: object = {}) => {
      count += 1;
      const failure = null;
      return JSON.stringify({
        id: `cb-${id}-${count}`,
        key: id,
        status: 'completed',
        reference: 'R9',
        failure,
        ...more,
      });
    };
    const post = (
      body: string,
      headers: Readonly<Record<string, string>>,
      path = PATH,
    ): Promise<TestAnswer> => api.request('POST', path, { body, key: null, headers });
    const sign = (body: string, at = Date.now(), path = PATH) =>
      railHeaders(KEY, { method: 'POST', path, body: Buffer.from(body) }, instant(at));
    const call = (body: string) => post(body, sign(body));
    const effects = async () =>
      (await railEventsOf(db, id))
        .filter(({ kind }) => kind === 'callback')
        .map((one) => one.effect);
    /** All that was written down of this rail. */
    const rowsOf = async (): Promise<number> =>
      (await db.database.reader.select(payoutRailEvents, { rail: RAIL })).length;
    const countedAs = async (effect: string): Promise<number> => {
      const metrics = await api.core.registry.getSingleMetricAsString(
        'payout_rail_callbacks_total',
      );
      return Number(new RegExp(`effect="${effect}"\\} (\\d+)`).exec(metrics)?.[1] ?? 0);
    };
    const status = async () => (await rowOf(db, id)).status;

    it('applies a callback once: under another id it is recorded without effect, and resent it is ignored', async () => {
      const body = about();
      answered(await call(body), 200);
      const events = (await own.events(id)).length;
      for (let times = 0; times < 3; times += 1) answered(await call(body), 200);
      answered(await call(about()), 200);
      answered(await call(about({ status: 'accepted' })), 200);
      assert.deepEqual(await effects(), ['applied', 'duplicate', 'duplicate']);
      assert.equal((await own.events(id)).length, events);
      await assertSameStory(own, id);
    });

    it('accepts only recent callbacks from the gateway: forged and late ones are 401, have no effect, and are counted', async () => {
      const body = about();
      const stranger = { id: KEY.id, secret: Buffer.alloc(32, 9) };
      const message = { method: 'POST', path: PATH, body: Buffer.from(body) } as const;
      for (const [effect, sent, headers] of [
        ['forged', body, railHeaders(stranger, message, systemClock())],
        ['forged', body, {}],
        ['forged', `${body} `, sign(body)],
        ['forged', body, sign(body, Date.now(), '/rails/bank-b/callbacks')],
        ['late', body, sign(body, Date.now() - 301_000)],
        ['late', body, sign(body, Date.now() + 305_000)],
      ] as const) {
        const [rows, counted] = [await rowsOf(), await countedAs(effect)];
        answered(await post(sent, headers), 401, 'unauthorized');
        assert.deepEqual([await rowsOf(), await countedAs(effect)], [rows, counted + 1]);
      }
      assert.deepEqual([await status(), await effects()], ['in_progress', []]);
    });

    it('accepts callbacks only about its own payouts, and reveals no other payout', async () => {
      const other = await own.pay();
      await db.change(`UPDATE payouts SET rail='simulated' WHERE id=${idLiteral(other)}`);
      const answers = [await call(about({ key: newId() })), await call(about({ key: other }))];
      for (const answer of answers) answered(answer, 404, 'not_found');
      assert.equal(answers[0]?.text, answers[1]?.text);
      assert.equal((await rowOf(db, other)).status, 'approved');
    });

    it('answers malformed or too large callbacks 400, 409, 413, 405 or 404', async () => {
      const malformed = about({ status: 'paid' });
      answered(await call(malformed), 400, 'invalid_field');
      const body = about();
      answered(await call(body), 200);
      const reused = JSON.stringify({ ...(JSON.parse(body) as object), reference: 'R10' });
      answered(await call(reused), 409, 'idempotency_key_reused');
      const large = about({ more: 'x'.repeat(70_000) });
      answered(await call(large), 413, 'body_too_large');
      answered(await api.request('GET', PATH), 405, 'method_not_allowed');
      answered(
        await post(
          body,
          sign(body, Date.now(), '/rails/nobody/callbacks'),
          '/rails/nobody/callbacks',
        ),
        404,
        'not_found',
      );
      const document = answered(await api.request('GET', '/openapi.json'), 200).text;
      assert(!document.includes('/rails/'));
    });

    it("replaces the failure text of a callback by the service's own", async () => {
      const failure = {
        code: 'made up',
        message: 'account 4567891234003 of CC-79456123 is closed',
      };
      answered(await call(about({ status: 'failed', failure })), 200);
      const shown = await own.get(id);
      assert.equal(text(object(shown.failure).code), 'rejected_by_bank');
      assert(!JSON.stringify(await own.events(id)).includes('4567891234003'));
    });
  });
});
