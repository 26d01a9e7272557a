import { setTimeout as sleep } from 'node:timers/promises';
import { payoutWorkflowId } from '../../src/temporal/contracts.js';
import { instant } from '../../src/core/instant.js';
import { Cursors } from '../../src/http/cursor.js';
import { HolderChecks } from '../../src/payouts/routes-recipients.js';
import { openPayoutBank, payoutBody, type PayoutBank, untilStatus } from '../payouts/support.js';
import { TEST_KEYRING, type TestApi } from '../helpers/api.js';
import { answered, text } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import {
  stateOf,
  type TestTemporal,
  until,
  untilEnded,
  untilWaiting,
  workflowOf,
} from '../helpers/temporal.js';
import { type Signature } from '../helpers/temporal-world.js';
import type { Played } from './scenarios.js';

/** Where payouts go ways that their workflow takes; no sweeper reports for the rail. */
interface PayoutStage {
  readonly db: TestDatabase;
  readonly api: TestApi;
  readonly temporal: TestTemporal;
  /** A signature of active staff. */
  readonly sign: () => Promise<Signature>;
}

/** Longer than a worker takes a breaker for known. */
const KNOWN_MS = 600;
const LAST = instant(Date.UTC(2100, 0));

/** Each answers the payout, whose workflow ends. */
const WAYS: Readonly<Record<string, (stage: PayoutStage, own: PayoutBank) => Promise<string>>> = {
  completed: (_, own) => own.pay(),
  'approved-and-completed': async ({ temporal, sign }, own) => {
    await own.guard(1);
    const id = await own.createPending();
    await untilWaiting(temporal, id, 'payout');
    await workflowOf(temporal, id, 'payout').signal('approve', await sign());
    return id;
  },
  'rejected-by-api': async ({ temporal }, own) => {
    await own.guard(1);
    const id = await own.createPending();
    await untilWaiting(temporal, id, 'payout');
    answered(await own.act('reject', id), 200);
    return id;
  },
  'recipient-changed': (_, own) => payKey(own, '3001112209'),
  'unresolved-then-canceled': async ({ temporal }, own) => {
    const id = await payKey(own, '3001112210');
    const state = () => stateOf(temporal, id, 'payout').catch(() => null);
    await until('its rail was asked', async () => (await state())?.isUnresolved);
    answered(await own.act('cancel', id, own.bank.token), 200);
    return id;
  },
};

/** Pays a key whose holder was checked long ago. */
async function payKey(own: PayoutBank, key: string): Promise<string> {
  const holder = { rail: 'simulated', holder: 'SIM-HOLDER', expiresAt: LAST };
  const checks = new HolderChecks(new Cursors(TEST_KEYRING));
  const holderCheck = checks.write(own.bank.tenant.tenant.id, key, holder);
  const destination = { type: 'bre_b_key', key, holder_check: holderCheck };
  const body = { ...payoutBody({ from: own.source }), destination };
  return text(answered(await own.bank.request('POST', '/v1/payouts', { body }), 201).json.id);
}

/** The rail gives no answers at first; no other payout is under way meanwhile. */
async function held({ db, temporal }: PayoutStage, own: PayoutBank): Promise<string> {
  await db.change(
    `INSERT INTO rail_breakers (rail, state, since, failures, probes, probe_at)
     VALUES ('simulated', 'open', UTC_TIMESTAMP(3), 5, 0, '2999-01-01')`,
  );
  await sleep(KNOWN_MS);
  const id = await own.pay();
  const state = () => stateOf(temporal, id, 'payout').catch(() => null);
  await until('it is held', async () => (await state())?.isHeld);
  await db.change(`DELETE FROM rail_breakers`);
  await sleep(KNOWN_MS);
  await workflowOf(temporal, id, 'payout').signal('changed');
  return id;
}

/** Every way, each gone by a payout of its own tenant. */
export async function playPayouts(stage: PayoutStage): Promise<readonly Played[]> {
  const played = await Promise.all(Object.entries(WAYS).map(([way, go]) => play(stage, way, go)));
  return [...played, await play(stage, 'held-then-completed', held)];
}

async function play(stage: PayoutStage, way: string, go: (typeof WAYS)[string]): Promise<Played> {
  const own = await openPayoutBank(stage.api);
  const id = await go(stage, own);
  await untilStatus(own, id, ['completed', 'rejected', 'failed', 'canceled']);
  await untilEnded(stage.temporal, id, 'payout');
  return { workflow: 'payout', way, workflowId: payoutWorkflowId(id) };
}
