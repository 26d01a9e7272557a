import assert from 'node:assert/strict';
import { railsCampaign } from '../campaigns/rails.js';
import { startTestApi, TEST_KEYRING, type TestApi } from '../helpers/api.js';
import { BankGateway } from '../helpers/bank-gateway.js';
import { testDatabase } from '../helpers/database.js';
import {
  serving,
  stateOf,
  temporalEnvironment,
  testTemporal,
  until,
  workflowOf,
} from '../helpers/temporal.js';
import { newSignature } from '../helpers/temporal-world.js';
import { startTestWorker } from '../helpers/temporal-worker.js';
import { assertSameStory, openPayoutBank, rowOf, untilStatus } from './support.js';

/** A gateway that takes every request, and does nothing and answers nothing while it hangs. */
class HangingGateway extends BankGateway {
  isHanging = false;

  protected override async respond(...[asked, response]: Parameters<BankGateway['respond']>) {
    if (this.isHanging) response.destroy();
    else await super.respond(asked, response);
  }
}

const HANGING = { destination: { country: 'MX' } } as const;

const db = await testDatabase();
const temporal = await testTemporal();

describe('a rail that hangs', () => {
  it('delays no payout of another rail; its own payouts stay approved, staff can cancel one by a signal, and the remaining payouts are paid once it answers', async () => {
    await db.change('DELETE FROM rail_breakers');
    const [well, hanging] = [
      new BankGateway('well', TEST_KEYRING),
      new HangingGateway('hanging', TEST_KEYRING),
    ];
    await Promise.all([well.start(), hanging.start()]);
    const [key] = TEST_KEYRING;
    const shared = `${key.id}:${key.secret.toString('base64')}`;
    const environment = {
      ...temporalEnvironment(temporal),
      PAYOUT_RAILS: '*/CO=http:well,*/MX=http:hanging',
      PAYOUT_RAIL_URLS: `well=${well.url},hanging=${hanging.url}`,
      PAYOUT_RAIL_KEYS: `well=${shared},hanging=${shared}`,
      PAYOUT_RAIL_PROBE_S: '2',
      ...serving('payouts', 'approvals'),
    };
    const api: TestApi = await startTestApi(db, environment);
    const worker = await startTestWorker(db, temporal, { environment });
    try {
      hanging.isHanging = true;
      const own = await openPayoutBank(api);
      const lost = await Promise.all(Array.from({ length: 5 }, () => own.pay(undefined, HANGING)));
      await until('it is left alone', async () => {
        const [row] = await db.sql(`SELECT state FROM rail_breakers WHERE rail='http:hanging'`);
        return row !== undefined && row.state !== 'closed';
      });
      const held = [await own.pay(undefined, HANGING), await own.pay(undefined, HANGING)] as const;
      const beside = await own.pay();
      const state = (id: string) => stateOf(temporal, id, 'payout').catch(() => null);
      for (const id of held) {
        await until('it is held', async () => (await state(id))?.isHeld);
        assert.match(
          (await state(id))?.waitingFor ?? '',
          /^Its rail does not respond: it is submitted as soon as the rail responds/,
        );
        const { status, attempts } = await rowOf(db, id);
        // One of them may have been handed over to see whether the rail answers.
        assert(status === 'approved' ? attempts === 0 : attempts === 1, `${status} ${attempts}`);
      }
      await untilStatus(own, beside, ['completed']);
      const last = await own.pay(undefined, HANGING);
      await until('it is held', async () => (await state(last))?.isHeld);
      await workflowOf(temporal, last, 'payout').signal('cancel', await newSignature(db.database));
      const { status } = await untilStatus(own, last, ['canceled', 'in_progress'], 20_000);
      hanging.isHanging = false;
      for (const id of [...lost, ...held]) {
        await untilStatus(own, id, ['completed']);
        assert.equal(hanging.paidTimes(id), 1);
        await assertSameStory(own, id);
      }
      assert.equal(hanging.paidTimes(last), status === 'canceled' ? 0 : 1);
    } finally {
      await worker.stop();
      await api.stop();
      well.stop();
      hanging.stop();
    }
  });
});

describe('a rail that loses, delays, repeats, reorders and contradicts', () => {
  it('agrees with the ledger except about flagged payouts, whatever people decide, statements list and workers crash', async () => {
    await railsCampaign({
      db,
      temporal,
      payouts: 40,
      kills: 1,
      longestMs: 3_000,
      settlingMs: 5_000,
      seed: 12,
    });
  });
});
