import assert from 'node:assert/strict';
import { closeAccount, freezeAccount } from '../../src/accounts/status.js';
import { listAuditRows } from '../../src/access/audit-log.js';
import { setFeeAccount } from '../../src/operations/fees.js';
import { ApiError } from '../../src/core/errors.js';
import type { Uuid } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi } from '../helpers/api.js';
import { answered, type Bank, idLiteral, LEAST, openBank } from '../helpers/bank.js';
import { heldUp, testDatabase } from '../helpers/database.js';
import { openGuarded } from '../helpers/guarded.js';
import { reserve, testKind } from '../helpers/kinds.js';
import { charge, openPayoutBank, railsOf } from '../payouts/support.js';
import { until } from '../helpers/temporal.js';
import { refusalOf, setFee, TEST_ACTOR } from '../helpers/world.js';

const DECIDED = { actor: TEST_ACTOR, reason: 'asked for by its owner' };

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);

describe('closing and freezing', () => {
  const close = (account: Pick<Account, 'id'>) => closeAccount(db.deps, account.id, DECIDED);
  const stateOf = (work: Promise<unknown>) => refusalOf(work, 'current');

  it('a closed account can still be read, without alias and phone, but is neither destination nor source', async () => {
    const [account, other] = [
      await bank.account({ alias: '$closing', phone: '+573165550001' }),
      await bank.account({ funds: { COPM: LEAST } }),
    ];
    assert.equal((await close(account)).changed, true);
    assert.equal((await close(account)).changed, false);
    const { json } = answered(await bank.get(`/v1/accounts/${account.id}`), 200);
    assert.deepEqual(
      [json.status, json.alias, json.phone, json.can_send],
      ['closed', null, null, false],
    );
    answered(await bank.send({ from: other, to: account, raw: LEAST }), 404, 'not_found');
    const sourceAnswer = await bank.send({ from: account, to: other, raw: LEAST });
    const source = answered(sourceAnswer, 422, 'capability_cannot_send');
    assert.deepEqual(source.details, { reason: 'closed' });
    answered(await bank.get(`/v1/accounts/${account.id}/movements`), 200);
    await bank.account({ phone: '+573165550001' });
  });

  it('an account with money, available or held, is not closed', async () => {
    for (const asset of ['COPM', 'DUSD'] as const) {
      const account = await bank.account({ funds: { [asset]: 1n } });
      assert.deepEqual(await stateOf(close(account)), ['invalid_state', 'not_empty']);
    }
    const [account, other] = [await bank.account({ funds: { COPM: LEAST } }), await bank.account()];
    await api.core.writer.submit(testKind, reserve({ from: account, to: other, raw: LEAST }));
    assert.deepEqual(await stateOf(close(account)), ['invalid_state', 'funds_held']);
  });

  it('the fee account is not closed while it receives fees', async () => {
    const own = await openBank(api);
    const [fees, next] = [await own.account(), await own.account()];
    const use = (account: Account) =>
      setFeeAccount(db.deps, own.tenant.tenant.id, account.id, TEST_ACTOR);
    await use(fees);
    assert.deepEqual(await stateOf(close(fees)), ['invalid_state', 'fee_account']);
    await use(next);
    await close(fees);
    assert.deepEqual(await stateOf(use(fees)), ['invalid_state', 'closed']);
  });

  it('the old fee account can be closed only when no payout will pay a fee into it', async () => {
    const own = await openPayoutBank(api);
    const old = await charge(own, 1_000n);
    const refused = async (): Promise<void> =>
      assert.deepEqual(await stateOf(close(old)), ['invalid_state', 'fee_account']);
    const [approved, sent] = [await own.pay(), await own.pay('02')];
    await own.guard();
    const pending = await own.createPending();
    const next = await own.bank.account();
    await setFeeAccount(db.deps, own.bank.tenant.tenant.id, next.id, TEST_ACTOR);
    const { submissions } = railsOf(db);
    assert.equal((await submissions.submit(sent)).payout.status, 'in_progress');

    await refused();
    answered(await own.act('cancel', pending), 200);
    await refused();
    answered(await own.act('cancel', approved, own.bank.token), 200);
    await refused();
    await until(
      'the rail refuses it',
      async () => (await submissions.poll(sent)).payout.status === 'failed',
    );
    assert.equal((await close(old)).changed, true);
    assert.equal(await own.bank.available(old), 0n);
  });

  it('the old fee account cannot be closed while a waiting transfer will pay its fee into it; the fee arrives there', async () => {
    const own = await openGuarded(api);
    const { bank: guarded } = own;
    const tenantId = guarded.tenant.tenant.id;
    const [old, next] = [await guarded.account(), await guarded.account()];
    await setFeeAccount(db.deps, tenantId, old.id, TEST_ACTOR);
    await setFee(db.database, { tenantId, flatRaw: 7n });
    const { id } = await own.createPending();
    await setFeeAccount(db.deps, tenantId, next.id, TEST_ACTOR);
    assert.deepEqual(await stateOf(close(old)), ['invalid_state', 'fee_account']);
    assert.equal(answered(await own.act('approve', id, 'approver'), 200).json.status, 'completed');
    assert.deepEqual([await guarded.available(old), await guarded.available(next)], [7n, 0n]);
    assert.deepEqual(await stateOf(close(old)), ['invalid_state', 'not_empty']);
  });

  it('closing an account twice at the same time happens once, with one line in the audit log', async () => {
    for (const [act, action] of [
      [(id: Uuid) => closeAccount(db.deps, id, DECIDED), 'account.close'],
      [(id: Uuid) => freezeAccount(db.deps, id, DECIDED), 'account.freeze'],
    ] as const) {
      const { id } = await bank.account();
      const done = await Promise.all([act(id), act(id), act(id)]);
      assert.deepEqual(done.map(({ changed }) => changed).sort(), [false, false, true]);
      const lines = await listAuditRows(db.database.reader, { subjectId: id, action }, 10);
      assert.equal(lines.length, 1);
    }
  });

  it('of choosing and closing a fee account at the same time, exactly one succeeds', async () => {
    const own = await openBank(api);
    for (let round = 0; round < 8; round += 1) {
      const fees = await own.account();
      const ends = await Promise.allSettled([
        setFeeAccount(db.deps, own.tenant.tenant.id, fees.id, TEST_ACTOR),
        close(fees),
      ]);
      assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1);
    }
  });

  it('a transfer to an account that is being closed arrives before the closing or is 404 after it: a closed account has no money', async () => {
    const payer = await bank.account({ funds: { COPM: 100n * LEAST } });
    for (let round = 0; round < 10; round += 1) {
      const account = await bank.account();
      const [sent, closed] = await Promise.all([
        bank.send({ from: payer, to: account, raw: LEAST }),
        close(account).then(
          () => true,
          (failure: unknown) => {
            if (failure instanceof ApiError && failure.refusal.code === 'invalid_state')
              return false;
            throw failure;
          },
        ),
      ]);
      if (closed) answered(sent, 404, 'not_found');
      else answered(sent, 201);
      assert.equal(await bank.available(account), closed ? 0n : LEAST);
    }
  });

  it('no money leaves a frozen account', async () => {
    const [account, other] = [
      await bank.account({ funds: { COPM: 200n * LEAST } }),
      await bank.account(),
    ];
    let frozen = false;
    const late: number[] = [];
    const senders = Array.from({ length: 8 }, async () => {
      for (let count = 0; count < 10; count += 1) {
        const began = frozen;
        const { status } = await bank.send({ from: account, to: other, raw: LEAST });
        if (began) late.push(status);
      }
    });
    await freezeAccount(db.deps, account.id, DECIDED);
    frozen = true;
    await Promise.all(senders);
    assert.ok(late.length > 0 && late.every((status) => status === 422), String(late));
  });
});

/** Many times what a process has connections for. */
const CROWD = 200;

describe('a tenant whose requests crowd at one account', () => {
  const declare = (own: Bank, { id }: Pick<Account, 'id'>): Promise<unknown> =>
    own.request('PUT', `/v1/accounts/${id}/verification`, {
      body: {
        ...{ type: 'business', legal_name: 'Crowd SAS', document_type: 'NIT' },
        ...{ document_number: '901234567', country: 'CO' },
      },
    });

  it('keeps no transfer of another tenant from being made', async () => {
    const hurried = await startTestApi(db, { COMMAND_TIMEOUT_MS: '4000' });
    const [crowding, other] = [await openBank(hurried), await openBank(hurried)];
    const busy = await crowding.account();
    let ended = 0;
    const one = () => declare(crowding, busy).then(() => (ended += 1));
    const crowd = () => Promise.all(Array.from({ length: CROWD }, one));
    const from = await other.account({ funds: { COPM: LEAST } });
    const to = await other.account();
    await heldUp(db, `SELECT id FROM accounts WHERE id=${idLiteral(busy.id)}`, crowd, async () => {
      await other.sent({ from, to, raw: LEAST });
      assert.equal(ended, 0, 'it waited for the crowd');
    });
  });
});
