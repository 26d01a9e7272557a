import assert from 'node:assert/strict';
import { removeFeeSchedule, setFeeAccount } from '../../src/accounts/fee.js';
import type { Account, FeeScheduleRow } from '../../src/db/entities/parties.js';
import { startTestApi } from '../support/api.js';
import {
  answered,
  type Bank,
  type Json,
  LEAST,
  list,
  object,
  openBank,
  walk,
} from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { feeSchedule, setFee, TEST_ACTOR } from '../support/world.js';

const db = await testDatabase();
const api = await startTestApi(db);

describe('the fee of a transfer', () => {
  let bank: Bank;
  let payer: Account;
  let receiver: Account;
  let feeAccount: Account;

  beforeEach(async () => {
    bank = await openBank(api);
    payer = await bank.account({
      funds: { COPM: 100n * LEAST, DUSD: 100n * LEAST },
      name: 'Payer',
      alias: '$payer',
    });
    receiver = await bank.account();
    feeAccount = await bank.account({ name: 'Fees Ltd', alias: '$fees' });
    await setFeeAccount(db.deps, bank.tenant.tenant.id, feeAccount.id, TEST_ACTOR);
  });

  const charge = (schedule: Partial<FeeScheduleRow>): Promise<void> =>
    setFee(db.database, { tenantId: bank.tenant.tenant.id, ...schedule });

  const movements = (account: Account): Promise<Json[]> =>
    walk(bank, `/v1/accounts/${account.id}/movements`);

  it('the fee of a transfer is paid on top by the source, into the fee account, and shown on the transfer', async () => {
    await charge({ flatRaw: 700n });
    const transfer = await bank.sent({ from: payer, to: receiver, raw: LEAST });
    assert.deepEqual(transfer.fee, { raw: '700', asset: 'COPM' });
    assert.deepEqual(
      [
        await bank.available(payer),
        await bank.available(receiver),
        await bank.available(feeAccount),
      ],
      [99n * LEAST - 700n, LEAST, 700n],
    );
    const [event] = list((await bank.get('/v1/events')).json.items);
    assert.deepEqual(object(object(event?.data).object).fee, { raw: '700', asset: 'COPM' });
  });

  it('the fee of a transfer is a separate movement, fee_out, and adjustment_in at the fee account, related to the transfer', async () => {
    await charge({ flatRaw: 700n });
    const { id, created_at: createdAt } = await bank.sent({
      from: payer,
      to: receiver,
      raw: LEAST,
      description: 'For two',
    });
    const shape = ({ id: own, ...movement }: Json): Json => {
      assert.equal(typeof own, 'string');
      return movement;
    };
    const party = (account: Account): Json => ({
      account_id: account.id,
      tenant: account.tenantId,
      alias: account.alias,
      display_name: account.name,
      type: 'business',
    });
    const common = {
      description: 'For two',
      related: { type: 'transfer', id },
      created_at: createdAt,
    };
    const leaving = (total: bigint): Json => ({
      ...common,
      total_after: { raw: total.toString(), asset: 'COPM' },
    });
    const [fee, out] = (await movements(payer)).map(shape);
    assert.deepEqual(
      [fee, out],
      [
        {
          kind: 'fee_out',
          amount: { raw: '700', asset: 'COPM' },
          counterparty: party(feeAccount),
          ...leaving(99n * LEAST - 700n),
        },
        {
          kind: 'transfer_out',
          amount: { raw: LEAST.toString(), asset: 'COPM' },
          counterparty: party(receiver),
          ...leaving(99n * LEAST),
        },
      ],
    );
    assert.deepEqual((await movements(feeAccount)).map(shape), [
      {
        kind: 'adjustment_in',
        amount: { raw: '700', asset: 'COPM' },
        counterparty: party(payer),
        ...leaving(700n),
      },
    ]);
    assert.deepEqual(
      (await movements(receiver)).map(({ kind }) => kind),
      ['transfer_in'],
    );
  });

  it('the fee of a transfer is flat plus basis points, rounded half up, not under the floor nor over the cap', async () => {
    for (const [schedule, raw, fee] of [
      [{ flatRaw: 0n }, LEAST, 0n],
      [{ basisPoints: 25n }, 100_000n, 250n],
      // 250.475 and 250.5 of the smallest unit.
      [{ basisPoints: 25n }, 100_190n, 250n],
      [{ basisPoints: 25n }, 100_200n, 251n],
      [{ flatRaw: 10n, basisPoints: 1n }, 100_000n, 20n],
      [{ basisPoints: 1n, floorRaw: 500n }, 100_000n, 500n],
      [{ flatRaw: 10n, basisPoints: 10_000n, capRaw: 900n }, 100_000n, 900n],
      [{ basisPoints: 10_000n }, 100_000n, 100_000n],
    ] as readonly (readonly [Partial<FeeScheduleRow>, bigint, bigint])[]) {
      await charge(schedule);
      const transfer = await bank.sent({ from: payer, to: receiver, raw });
      assert.deepEqual(transfer.fee, { raw: fee.toString(), asset: 'COPM' });
    }
  });

  it('the fee of a transfer must be covered too: insufficient_funds asks for amount and fee', async () => {
    await charge({ flatRaw: 700n });
    const poor = await bank.account({ funds: { COPM: LEAST + 699n } });
    const refused = answered(
      await bank.send({ from: poor, to: receiver, raw: LEAST }),
      422,
      'insufficient_funds',
    );
    assert.deepEqual(refused.details, { available: '100699', requested: '100700' });
    await bank.fund(poor, { raw: 1n, asset: 'COPM' });
    await bank.sent({ from: poor, to: receiver, raw: LEAST });
    assert.equal(await bank.available(poor), 0n);
  });

  it('the fee of a transfer is charged only in the asset of its schedule', async () => {
    await charge({ flatRaw: 700n });
    assert.deepEqual(
      (await bank.sent({ from: payer, to: receiver, raw: LEAST, asset: 'DUSD' })).fee,
      {
        raw: '0',
        asset: 'DUSD',
      },
    );
    await charge({ asset: 'DUSD', flatRaw: 9n });
    await bank.sent({ from: payer, to: receiver, raw: LEAST, asset: 'DUSD' });
    assert.deepEqual(
      [await bank.available(feeAccount), await bank.available(feeAccount, 'DUSD')],
      [0n, 9n],
    );
  });

  it('the fee of a transfer is not paid by the fee account itself, and is paid when the fee account is who receives', async () => {
    await charge({ flatRaw: 700n });
    assert.deepEqual((await bank.sent({ from: payer, to: feeAccount, raw: LEAST })).fee, {
      raw: '700',
      asset: 'COPM',
    });
    assert.equal(await bank.available(feeAccount), LEAST + 700n);
    assert.deepEqual((await bank.sent({ from: feeAccount, to: receiver, raw: LEAST })).fee, {
      raw: '0',
      asset: 'COPM',
    });
    assert.equal(await bank.available(feeAccount), 700n);
  });

  it('the fee of a transfer does not count in the month, nor against the maximum', async () => {
    await charge({ basisPoints: 10_000n });
    const person = await bank.account({ type: 'person', funds: { COPM: 20_000_000_000n } });
    const maximum = 1_200_000_000n;
    for (let sent = 0; sent < 4; sent += 1)
      await bank.sent({ from: person, to: receiver, raw: maximum });
    const refused = answered(
      await bank.send({ from: person, to: receiver, raw: maximum }),
      422,
      'monthly_limit_exceeded',
    );
    assert.equal(refused.details?.used, (4n * maximum).toString());
  });

  it('the fee of a transfer is the one of the moment: a changed or removed schedule touches no earlier transfer, and no replay', async () => {
    await charge({ flatRaw: 700n });
    const key = '0197a000-0000-7000-8000-00000000000a';
    const first = await bank.sent({ from: payer, to: receiver, raw: LEAST }, { key });
    await charge({ flatRaw: 5n });
    assert.deepEqual((await bank.sent({ from: payer, to: receiver, raw: LEAST })).fee, {
      raw: '5',
      asset: 'COPM',
    });
    const schedule = feeSchedule({ tenantId: bank.tenant.tenant.id });
    await removeFeeSchedule(db.deps, schedule, TEST_ACTOR);
    assert.deepEqual((await bank.sent({ from: payer, to: receiver, raw: LEAST })).fee, {
      raw: '0',
      asset: 'COPM',
    });
    assert.deepEqual(
      answered(await bank.send({ from: payer, to: receiver, raw: LEAST }, { key }), 200).json,
      first,
    );
    assert.deepEqual((await bank.get(`/v1/transfers/${String(first.id)}`)).json, first);
  });

  it('the fee of a transfer goes to the new fee account from the moment it is set', async () => {
    await charge({ flatRaw: 700n });
    await bank.sent({ from: payer, to: receiver, raw: LEAST });
    const next = await bank.account();
    await setFeeAccount(db.deps, bank.tenant.tenant.id, next.id, TEST_ACTOR);
    await bank.sent({ from: payer, to: receiver, raw: LEAST });
    assert.deepEqual([await bank.available(feeAccount), await bank.available(next)], [700n, 700n]);
  });

  it('the fee of a transfer is right for every transfer while schedule and fee account change under load', async () => {
    await charge({ flatRaw: 100n });
    const next = await bank.account();
    const sending = Promise.all(
      Array.from({ length: 16 }, async () => {
        const made: Json[] = [];
        for (let count = 0; count < 5; count += 1)
          made.push(await bank.sent({ from: payer, to: receiver, raw: LEAST }));
        return made;
      }),
    );
    for (let round = 0; round < 10; round += 1) {
      await setFeeAccount(
        db.deps,
        bank.tenant.tenant.id,
        round % 2 === 0 ? next.id : feeAccount.id,
        TEST_ACTOR,
      );
      await charge({ flatRaw: BigInt(round % 3) * 50n });
    }
    const made = (await sending).flat();
    const fees = made.reduce((sum, { fee }) => sum + BigInt(String(object(fee).raw)), 0n);
    assert.equal((await bank.available(feeAccount)) + (await bank.available(next)), fees);
  });
});
