import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addMember } from '../../src/access/members.js';
import { systemClock } from '../../src/core/instant.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, type Bank, openBank, text } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { FakeReceiver } from '../support/receiver.js';
import { TEST_ACTOR } from '../support/world.js';
import { newUrl, register } from './support.js';

const PATH = '/v1/webhook_endpoints';

const db = await testDatabase();

describe('the host of an endpoint is looked up', () => {
  let api: TestApi;
  let receiver: FakeReceiver;
  let bank: Bank;
  let powerless: string;

  before(async () => {
    receiver = new FakeReceiver();
    api = await startTestApi(db, {}, { receiver });
    bank = await openBank(api);
    await bank.account();
    powerless = await bank.issue(
      await addMember(db.database, systemClock, bank.tenant.tenant.id, 'no manager', TEST_ACTOR),
    );
  });
  beforeEach(() => void (receiver.resolved.length = 0));

  const body = (url = newUrl()): object => ({ url, events: ['transfer.completed'] });

  it('the host of an endpoint is looked up for a registration only by one who may register', async () => {
    answered(
      await bank.request('POST', PATH, { body: body(), token: powerless }),
      403,
      'authority_insufficient',
    );
    assert.deepEqual(receiver.resolved, []);
    await register(bank, ['transfer.completed']);
    assert.equal(receiver.resolved.length, 1);
  });

  it('the host of an endpoint is looked up for a change only if the endpoint exists and the member manages it', async () => {
    const { id } = await register(bank, ['transfer.completed']);
    const stranger = await openBank(api);
    await stranger.account();
    const change = { body: { url: newUrl() } };
    receiver.resolved.length = 0;
    answered(await bank.request('PATCH', `${PATH}/${randomUUID()}`, change), 404, 'not_found');
    answered(await stranger.request('PATCH', `${PATH}/${text(id)}`, change), 404, 'not_found');
    answered(
      await bank.request('PATCH', `${PATH}/${text(id)}`, { ...change, token: powerless }),
      403,
      'authority_insufficient',
    );
    assert.deepEqual(receiver.resolved, []);
    answered(await bank.request('PATCH', `${PATH}/${text(id)}`, change), 200);
    assert.equal(receiver.resolved.length, 1);
  });

  it('the host of an endpoint is looked up not for an address that is wrong as written, which is 400 whoever sends it', async () => {
    for (const token of [bank.token, powerless])
      answered(
        await bank.request('POST', PATH, { body: body('http://plain.example/'), token }),
        400,
        'invalid_field',
      );
    assert.deepEqual(receiver.resolved, []);
  });

  it('the host of an endpoint is looked up not for a key that is bound to another request, which is 409', async () => {
    const key = randomUUID();
    answered(await bank.request('POST', PATH, { body: body(), key }), 201);
    receiver.resolved.length = 0;
    answered(
      await bank.request('POST', PATH, { body: body(), key }),
      409,
      'idempotency_key_reused',
    );
    assert.deepEqual(receiver.resolved, []);
  });
});
