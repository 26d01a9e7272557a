import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { newId } from '../../src/core/ids.js';
import { startTestApi, type TestAnswer } from '../support/api.js';
import { answered, type Bank, LEAST, list, openBank, transferBody, walk } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { ENDPOINTS, makeTarget, methodOf, renewed, type Target } from './matrix-endpoints.js';

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
    account: { id: newId() },
    other: { id: newId() },
    transferId: randomUUID(),
    pendingId: randomUUID(),
    bonusId: randomUUID(),
    batchId: randomUUID(),
    payoutId: randomUUID(),
    rejectedBatchId: randomUUID(),
    readyBatchId: randomUUID(),
    eventId: randomUUID(),
    alias: `$x${randomUUID().slice(-12)}`,
    webhookId: randomUUID(),
    spareWebhookId: randomUUID(),
    statementId: randomUUID(),
    requestId: randomUUID(),
  });

  /** All that may be seen of the foreign tenant by itself. */
  async function everything(): Promise<unknown> {
    const { json } = await stranger.get(`/v1/accounts/${foreign.account.id}`);
    return [
      json,
      await walk(stranger, '/v1/transfers'),
      await walk(stranger, '/v1/bonuses'),
      await walk(stranger, '/v1/bonus_batches'),
      await walk(stranger, '/v1/events'),
      await walk(stranger, `/v1/accounts/${foreign.account.id}/movements`),
      await stranger.available(foreign.account),
      (await stranger.get(`/v1/accounts/${foreign.account.id}/approval_policies/DUSD`)).json,
      (await stranger.get(`/v1/accounts/${foreign.other.id}/approval_policies/DUSD`)).json,
      await walk(stranger, '/v1/webhook_endpoints'),
    ];
  }

  for (const endpoint of ENDPOINTS.filter(
    ({ route, namesNothing }) =>
      (route.includes('{') || route.startsWith('POST')) && namesNothing !== true,
  ))
    it(`another tenant's resources: ${endpoint.route} answers 404 as for a random id, to the byte, and changes nothing`, async () => {
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

  it("GET /v1/accounts/lookup finds none of another tenant's aliases", async () => {
    const lookUp = async (alias: string): Promise<unknown> => {
      const answer = await bank.request(
        'GET',
        `/v1/accounts/lookup?alias=${encodeURIComponent(alias)}`,
      );
      return visible(answered(answer, 404, 'not_found'));
    };
    assert.deepEqual(await lookUp(foreign.alias), await lookUp(missing().alias));
  });

  it("another tenant's resources are in no list, whatever they are filtered by", async () => {
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
      await walk(bank, '/v1/events'),
      await walk(bank, '/v1/accounts'),
      await walk(bank, '/v1/webhook_endpoints'),
    ]);
    const { account, transferId, pendingId, bonusId, batchId, eventId, webhookId } = foreign;
    const { id } = stranger.tenant.tenant;
    for (const own of [account.id, transferId, pendingId, bonusId, batchId, eventId, webhookId, id])
      assert(!seen.includes(own));
  });

  it("another tenant's resources are not paid from, though they can be paid to within the network", async () => {
    const before = await stranger.available(foreign.account);
    const theft = transferBody({ from: foreign.account, to: own.account, raw: LEAST });
    answered(await bank.request('POST', '/v1/transfers', { body: theft }), 404, 'not_found');
    await bank.sent({ from: own.account, to: foreign.account, raw: LEAST });
    assert.equal(await stranger.available(foreign.account), before + LEAST);
  });

  it("another tenant's idempotency keys reveal nothing: the same key is free here", async () => {
    const key = randomUUID();
    await stranger.sent({ from: foreign.account, to: foreign.other, raw: LEAST }, { key });
    answered(await bank.send({ from: own.account, to: own.other, raw: LEAST }, { key }), 201);
    const [transfer] = list((await bank.get(`/v1/transfers?idempotency_key=${key}`)).json.items);
    assert.equal(transfer?.source_account, own.account.id);
  });
});
