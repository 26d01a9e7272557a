import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { newId } from '../../src/core/ids.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, type Bank, LEAST, list, openBank, walk } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import {
  ENDPOINTS,
  makeTarget,
  methodOf,
  renewed,
  type Target,
  TARGET_IDS,
  type TargetIds,
} from './matrix-endpoints.js';

const db = await testDatabase();
const api = await startTestApi(db);

describe("another tenant's resources", () => {
  let bank: Bank;
  let stranger: Bank;
  let own: Target;
  let foreign: Target;

  before(async () => {
    const network = `net-${randomUUID()}`;
    // In one network: they can pay one another, and see nothing of one another.
    bank = await openBank(api, { network });
    stranger = await openBank(api, { network });
    own = await makeTarget(bank);
    foreign = await makeTarget(stranger);
  });

  /** Everything that a client can see of an answer, but for what differs in every answer. */
  function visible({ status, headers, text }: TestAnswer): unknown {
    const changing = ['svc-request-id', 'date', 'ratelimit-remaining', 'ratelimit-reset'];
    return {
      status,
      text,
      headers: [...headers].filter(([name]) => !changing.includes(name)).sort(),
    };
  }

  const missing = (): Target => ({
    ...{ account: { id: newId() }, other: { id: newId() }, alias: `$x${randomUUID().slice(-12)}` },
    ...(Object.fromEntries(TARGET_IDS.map((name) => [name, randomUUID()])) as TargetIds),
  });

  /** All that may be seen of the foreign tenant by itself. */
  async function everything(): Promise<unknown> {
    const { json } = await stranger.get(`/v1/accounts/${foreign.account.id}`);
    return [
      json,
      await walk(stranger, '/v1/transfers'),
      await walk(stranger, '/v1/bonuses'),
      await walk(stranger, '/v1/bonus_batches'),
      await walk(stranger, '/v1/payout_batches'),
      await walk(stranger, '/v1/payouts'),
      await walk(stranger, '/v1/events'),
      await walk(stranger, `/v1/accounts/${foreign.account.id}/movements`),
      await stranger.available(foreign.account),
      (await stranger.get(`/v1/accounts/${foreign.account.id}/approval_policies/DUSD`)).json,
      (await stranger.get(`/v1/accounts/${foreign.other.id}/approval_policies/DUSD`)).json,
      await walk(stranger, '/v1/webhook_endpoints'),
      await walk(stranger, '/v1/members'),
      (await walk(stranger, '/v1/tokens')).map(({ last_used_at: _, ...token }) => token),
    ];
  }

  for (const endpoint of ENDPOINTS.filter(
    ({ route, namesNothing }) =>
      (route.includes('{') || route.startsWith('POST')) && namesNothing !== true,
  ))
    it(`${endpoint.route} answers 404 as for a random id, to the byte, and changes nothing`, async () => {
      const theirs = await renewed(endpoint, foreign);
      const before = await everything();
      const ask = async (target: Target): Promise<unknown> => {
        const { path, ...asked } = endpoint.ask(target);
        return visible(
          answered(await bank.request(methodOf(endpoint), path, asked), 404, 'not_found'),
        );
      };
      const expected = await ask(missing());
      assert.deepEqual(await ask(theirs), expected);
      assert.deepEqual(await everything(), before);
    });

  for (const endpoint of ENDPOINTS.filter(
    ({ route, status }) => /^POST/.test(route) && status === 201,
  ))
    it(`a key that another tenant has used is free, and reveals nothing, in either direction: ${endpoint.route}`, async () => {
      const sides = [
        { of: bank, target: own },
        { of: stranger, target: foreign },
      ] as const;
      for (const [one, other] of [sides, [sides[1], sides[0]]] as const) {
        const key = randomUUID();
        const create = async ({ of, target }: (typeof sides)[number]): Promise<unknown> => {
          const { path, ...asked } = endpoint.ask(target);
          const answer = answered(await of.request('POST', path, { ...asked, key }), 201);
          assert.equal(answer.headers.get('svc-idempotent-replayed'), null);
          return answer.json.id ?? answer.json.key_id;
        };
        // Endpoints, accounts, members and tokens are not listed by a key.
        const found = async ({ of }: (typeof sides)[number], ...ids: unknown[]): Promise<void> => {
          if (endpoint.namesNothing === true || endpoint.route === 'POST /v1/tokens') return;
          // A refund of a transfer or bonus is a transfer.
          const collection = endpoint.route.endsWith('/refunds')
            ? '/v1/transfers'
            : endpoint.route.replace('POST ', '');
          const path = `${collection}?idempotency_key=${key}`;
          const { items } = answered(await of.get(path), 200).json;
          assert.deepEqual(
            list(items).map(({ id }) => id),
            ids,
          );
        };
        const made = await create(one);
        await found(one, made);
        await found(other);
        const theirs = await create(other);
        assert.notEqual(theirs, made);
        await found(one, made);
        await found(other, theirs);
      }
    });

  it('are in no list, with any filter', async () => {
    const empty = { items: [], next_cursor: null };
    const sourceOf = (id: string): string => `/v1/transfers?source_account=${id}`;
    for (const id of [foreign.account.id, missing().account.id])
      assert.deepEqual(answered(await bank.get(sourceOf(id)), 200).json, empty);
    const key = randomUUID();
    await stranger.sent({ from: foreign.account, to: foreign.other, raw: LEAST }, { key });
    assert.deepEqual(
      answered(await bank.get(`/v1/transfers?idempotency_key=${key}`), 200).json,
      empty,
    );
    const seen = JSON.stringify([
      await walk(bank, '/v1/transfers'),
      await walk(bank, '/v1/bonuses'),
      await walk(bank, '/v1/bonus_batches'),
      await walk(bank, '/v1/payout_batches'),
      await walk(bank, `/v1/payouts?batch=${foreign.payoutBatchId}`),
      await walk(bank, '/v1/events'),
      await walk(bank, '/v1/accounts'),
      await walk(bank, '/v1/webhook_endpoints'),
      await walk(bank, '/v1/members'),
      await walk(bank, '/v1/tokens'),
    ]);
    const { account, transferId, pendingId, bonusId, batchId, eventId, webhookId } = foreign;
    const { memberId, tokenKeyId, payoutBatchId } = foreign;
    const { id } = stranger.tenant.tenant;
    for (const own of [
      ...[account.id, transferId, pendingId, bonusId, batchId, eventId, webhookId, id],
      ...[memberId, tokenKeyId, payoutBatchId],
    ])
      assert(!seen.includes(own));
  });
});
