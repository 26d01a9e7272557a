import { payoutWorkflowId, QUERIES, type WaitingState } from '../../src/temporal/contracts.js';
import { openPayoutBank, type PayoutBank, untilStatus, workflowOf } from '../payouts/support.js';
import type { TestApi } from '../support/api.js';
import { answered } from '../support/bank.js';
import { type TestTemporal, until } from '../support/temporal.js';
import { type Signature } from '../support/temporal-world.js';
import type { Played } from './scenarios.js';

/** Where payouts go ways that their workflow takes; no sweeper reports for the rail. */
export interface PayoutStage {
  readonly api: TestApi;
  readonly temporal: TestTemporal;
  /** A signature of active staff. */
  readonly sign: () => Promise<Signature>;
}

/** Each answers the payout, whose workflow ends. */
const WAYS: Readonly<Record<string, (stage: PayoutStage, own: PayoutBank) => Promise<string>>> = {
  completed: (_, own) => own.pay(),
  'approved-and-completed': async ({ temporal, sign }, own) => {
    await own.guard(1);
    const id = await own.pend();
    await untilWaiting(temporal, id);
    await workflowOf(temporal, id).signal('approve', await sign());
    return id;
  },
  'rejected-by-api': async ({ temporal }, own) => {
    await own.guard(1);
    const id = await own.pend();
    await untilWaiting(temporal, id);
    answered(await own.act('reject', id), 200);
    return id;
  },
};

function untilWaiting(temporal: TestTemporal, id: string): Promise<unknown> {
  const state = () => workflowOf(temporal, id).query<WaitingState | null>(QUERIES.state);
  return until('it waits', async () => (await state().catch(() => null))?.status === 'pending_approval');
}

/** Every way, each gone by a payout of its own tenant. */
export async function playPayouts(stage: PayoutStage): Promise<readonly Played[]> {
  return Promise.all(
    Object.entries(WAYS).map(async ([way, go]) => {
      const own = await openPayoutBank(stage.api);
      const id = await go(stage, own);
      await untilStatus(own, id, ['completed', 'rejected']);
      await until(`${way} has ended`, async () => {
        const { status } = await workflowOf(stage.temporal, id).describe();
        return status.name === 'COMPLETED';
      });
      return { workflow: 'payout', way, workflowId: payoutWorkflowId(id) } as const;
    }),
  );
}
