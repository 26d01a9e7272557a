import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { grantRole } from '../../src/members/roles.js';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { accounts, SYSTEM_ROLES } from '../../src/db/entities/parties.js';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, type Bank, LEAST, openBank, setStatus } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';

const db = await testDatabase();
const api = await startTestApi(db);
const network = `net-${randomUUID()}`;
const bank = await openBank(api, { network });
const stranger = await openBank(api, { network: `${network}x` });
const payer = await bank.account({ funds: { COPM: 100n * LEAST } });
const receiver = await bank.account();
const foreign = await stranger.account({ funds: { COPM: 100n * LEAST } });
const tenantId = bank.tenant.tenant.id;
const systemIds = await Promise.all(
  SYSTEM_ROLES.map(
    async (systemRole) => (await db.database.reader.find(accounts, { tenantId, systemRole }))!.id,
  ),
);

describe('the source and the destination of POST /v1/transfers', () => {
  afterEach(async () => {
    assert.deepEqual(
      [await bank.available(payer), await stranger.available(foreign)],
      [100n * LEAST, 100n * LEAST],
    );
  });

  /** Everything that a client can see of an answer, but for what differs in every answer. */
  function visible({ status, headers, text, details }: TestAnswer) {
    const own = ['svc-request-id', 'date', 'ratelimit-remaining', 'ratelimit-reset'];
    return { status, text, details, headers: [...headers].filter(([name]) => !own.includes(name)) };
  }

  const random = (): { id: Uuid } => ({ id: asUuid(randomUUID()) });

  it('POST /v1/transfers to an account that cannot be reached is 404, to the byte as for one that does not exist', async () => {
    const closed = await bank.account();
    await setStatus(db, closed, 'closed');
    const missing = visible(
      answered(await bank.send({ from: payer, to: random(), raw: LEAST }), 404, 'not_found'),
    );
    const unreachable = [
      foreign,
      closed,
      ...systemIds.map((id) => ({ id })),
      { id: bank.tenant.tenant.id },
    ];
    for (const to of unreachable)
      assert.deepEqual(visible(await bank.send({ from: payer, to, raw: LEAST })), missing);
    assert.deepEqual(missing.details, { field: 'destination' });
    const noSource = visible(await bank.send({ from: random(), to: receiver, raw: LEAST }));
    assert.deepEqual(noSource.details, { field: 'source_account' });
    for (const from of [foreign, ...systemIds.map((id) => ({ id }))])
      assert.deepEqual(visible(await bank.send({ from, to: receiver, raw: LEAST })), noSource);
  });

  it('POST /v1/transfers to another tenant is 404 if neither tenant has a network', async () => {
    const [one, other] = [await openBank(api), await openBank(api)];
    const from = await one.account({ funds: { COPM: LEAST } });
    answered(await one.send({ from, to: await other.account(), raw: LEAST }), 404, 'not_found');
  });

  it('POST /v1/transfers answers 404 before 403 before 422, so without the right nothing is revealed about other accounts, limits and funds', async () => {
    const member = await bank.member();
    const token = await bank.issue(member);
    answered(
      await bank.send({ from: payer, to: foreign, raw: LEAST }, { token }),
      404,
      'not_found',
    );
    answered(
      await bank.send({ from: foreign, to: payer, raw: LEAST }, { token }),
      404,
      'not_found',
    );
    // Being owner of the destination gives no right to pay.
    await grantRole(db.database, systemClock, member, receiver.id, 'owner', TEST_ACTOR);
    for (const raw of [0n, LEAST, 10n ** 18n]) {
      const answer = await bank.send({ from: payer, to: receiver, raw }, { token });
      answered(answer, 403, 'authority_insufficient');
    }
  });

  it('POST /v1/transfers binds no key by a 400, 403, 404 or 409: the same key acts once the cause is gone', async () => {
    const own = await openBank(api);
    const member = await own.member();
    const token = await own.issue(member);
    const [from, to] = [await own.account({ funds: { COPM: 10n * LEAST } }), await own.account()];
    const key = randomUUID();
    const send = (raw: bigint | string): ReturnType<Bank['send']> =>
      own.send({ from, to, raw }, { key, token });
    await setStatus(db, to, 'closed');
    answered(await send('x'), 400, 'invalid_field');
    answered(await send(LEAST), 404, 'not_found');
    await setStatus(db, to, 'active');
    answered(await send(LEAST), 403, 'authority_insufficient');
    // Another body under the key: still nothing is bound to it.
    answered(await send(LEAST + 1n), 403, 'authority_insufficient');
    await grantRole(db.database, systemClock, member, from.id, 'operator', TEST_ACTOR);
    const made = answered(await send(LEAST), 201);
    answered(await send(LEAST + 1n), 409, 'idempotency_key_reused');
    assert.equal(answered(await send(LEAST), 200).json.id, made.json.id);
  });

  it('POST /v1/transfers checks the key first: a used key gets a replay or 409, never 404 or 403', async () => {
    const own = await openBank(api);
    const [from, to] = [await own.account({ funds: { COPM: 10n * LEAST } }), await own.account()];
    const key = randomUUID();
    answered(await own.send({ from, to, raw: LEAST }, { key }), 201);
    const nobody = await own.issue(await own.member());
    answered(await own.send({ from, to, raw: LEAST }, { key, token: nobody }), 200);
    answered(
      await own.send({ from, to: foreign, raw: LEAST }, { key }),
      409,
      'idempotency_key_reused',
    );
    // But not before the scope.
    const reader = await own.issue(own.tenant.owner, ['read']);
    answered(
      await own.send({ from, to, raw: LEAST }, { key, token: reader }),
      401,
      'insufficient_scope',
    );
  });
});
