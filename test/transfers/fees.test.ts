import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { MAX_RAW } from '../../src/core/amount.js';
import { removeFeeSchedule, setFeeAccount } from '../../src/operations/fees.js';
import type { Account, FeeScheduleRow } from '../../src/db/entities/parties.js';
import { startTestApi } from '../helpers/api.js';
import {
  answered,
  type Bank,
  type Json,
  LEAST,
  list,
  object,
  openBank,
  walk,
  type WantedTransfer,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { feeSchedule, setFee, TEST_ACTOR } from '../helpers/world.js';

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

  it('is paid on top by the source, into the fee account, and shown on the transfer', async () => {
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

  it('is a separate movement, fee_out, and adjustment_in at the fee account, related to the transfer', async () => {
    await charge({ flatRaw: 700n });
    const { id, created_at: createdAt } = await bank.sent({
      from: payer,
      to: receiver,
      raw: LEAST,
      description: 'For two',
    });
    const shown = async (account: Account): Promise<Json[]> =>
      (await walk(bank, `/v1/accounts/${account.id}/movements`)).map(
        ({ id: _, ...movement }) => movement,
      );
    const party = (account: Account): Json => ({
      ...{ account_id: account.id, tenant: account.tenantId, alias: account.alias },
      ...{ display_name: account.name, type: 'business' },
    });
    const movement = (kind: string, raw: bigint, counterparty: Account, total: bigint): Json => ({
      ...{
        kind,
        amount: { raw: raw.toString(), asset: 'COPM' },
        counterparty: party(counterparty),
      },
      ...{ description: 'For two', related: { type: 'transfer', id }, created_at: createdAt },
      total_after: { raw: total.toString(), asset: 'COPM' },
    });
    assert.deepEqual((await shown(payer)).slice(0, 2), [
      movement('fee_out', 700n, feeAccount, 99n * LEAST - 700n),
      movement('transfer_out', LEAST, receiver, 99n * LEAST),
    ]);
    assert.deepEqual(await shown(feeAccount), [movement('adjustment_in', 700n, payer, 700n)]);
    assert.deepEqual(await shown(receiver), [movement('transfer_in', LEAST, payer, LEAST)]);
  });

  const feeOf = async (transfer: Partial<WantedTransfer> = {}): Promise<unknown> =>
    object((await bank.sent({ from: payer, to: receiver, raw: LEAST, ...transfer })).fee).raw;

  it('is flat plus basis points, rounded half up, not under the floor nor over the cap', async () => {
    for (const [schedule, raw, fee] of [
      // 250.475 and 250.5 of the smallest unit.
      [{ basisPoints: 25n }, 100_190n, '250'],
      [{ basisPoints: 25n }, 100_200n, '251'],
      [{ flatRaw: 10n, basisPoints: 1n }, 100_000n, '20'],
      [{ basisPoints: 1n, floorRaw: 500n }, 100_000n, '500'],
      [{ flatRaw: 10n, basisPoints: 10_000n, capRaw: 900n }, 100_000n, '900'],
    ] as readonly (readonly [Partial<FeeScheduleRow>, bigint, string])[]) {
      await charge(schedule);
      assert.equal(await feeOf({ raw }), fee);
    }
  });

  it('must be covered too: insufficient_funds asks for amount and fee', async () => {
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

  it('is charged only in the asset of its schedule', async () => {
    await charge({ flatRaw: 700n });
    assert.equal(await feeOf({ asset: 'DUSD' }), '0');
    await charge({ asset: 'DUSD', flatRaw: 9n });
    assert.equal(await feeOf({ asset: 'DUSD' }), '9');
    assert.equal(await bank.available(feeAccount, 'DUSD'), 9n);
  });

  it('is not paid by the fee account itself, but is paid on transfers to the fee account', async () => {
    await charge({ flatRaw: 700n });
    assert.equal(await feeOf({ to: feeAccount }), '700');
    assert.equal(await bank.available(feeAccount), LEAST + 700n);
    assert.equal(await feeOf({ from: feeAccount }), '0');
    assert.equal(await bank.available(feeAccount), 700n);
  });

  it('counts towards 64 bits, alone and together with an amount to the fee account', async () => {
    // The pay-ins of one tenant are too few for its own accounts to overflow.
    const network = `net-${randomUUID()}`;
    const [own, other] = [await openBank(api, { network }), await openBank(api, { network })];
    const full = await own.account({ funds: { COPM: MAX_RAW - LEAST } });
    const [from, to] = [await own.account(), await own.account()];
    const rich = await other.account({ funds: { COPM: 9n * LEAST } });
    await other.sent({ from: rich, to: from, raw: 9n * LEAST });
    const tenantId = own.tenant.tenant.id;
    await setFeeAccount(db.deps, tenantId, full.id, TEST_ACTOR);
    for (const [flatRaw, receives] of [
      [LEAST + 1n, to],
      [1n, full],
    ] as const) {
      await setFee(db.database, { tenantId, flatRaw });
      const refused = await own.send({ from, to: receives, raw: LEAST });
      assert.equal(answered(refused, 400, 'invalid_field').details?.reason, 'out_of_range');
    }
    await setFee(db.database, { tenantId, flatRaw: LEAST });
    await own.sent({ from, to, raw: LEAST });
    assert.equal(await own.available(full), MAX_RAW);
  });

  it('does not count in the month, nor against the maximum', async () => {
    await charge({ basisPoints: 10_000n });
    const person = await bank.account({ type: 'person', funds: { COPM: 3_000_000_000n } });
    await bank.sent({ from: person, to: receiver, raw: 1_200_000_000n });
    const { limits } = answered(await bank.get(`/v1/accounts/${person.id}/limits`), 200).json;
    assert.equal(object(list(limits)[0]?.month).used, '1200000000');
  });

  it('follows the schedule and the fee account at its creation: a changed or removed schedule affects neither earlier transfers nor replays', async () => {
    await charge({ flatRaw: 700n });
    const key = '0197a000-0000-7000-8000-00000000000a';
    const first = await bank.sent({ from: payer, to: receiver, raw: LEAST }, { key });
    await charge({ flatRaw: 5n });
    const next = await bank.account();
    await setFeeAccount(db.deps, bank.tenant.tenant.id, next.id, TEST_ACTOR);
    assert.equal(await feeOf(), '5');
    const schedule = feeSchedule({ tenantId: bank.tenant.tenant.id });
    await removeFeeSchedule(db.deps, schedule, TEST_ACTOR);
    assert.equal(await feeOf(), '0');
    const again = await bank.send({ from: payer, to: receiver, raw: LEAST }, { key });
    assert.deepEqual(answered(again, 200).json, first);
    assert.deepEqual((await bank.get(`/v1/transfers/${String(first.id)}`)).json, first);
    assert.deepEqual([await bank.available(feeAccount), await bank.available(next)], [700n, 5n]);
  });
});
