import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { Deadline } from '../../src/core/timers.js';
import { transferWorkflowId, type WorkflowType } from '../../src/temporal/contracts.js';
import { answered } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import {
  stateOf,
  type TestTemporal,
  until,
  untilEnded,
  untilWaiting,
} from '../helpers/temporal.js';
import {
  approvalsOf,
  assertEnds,
  type GuardedBank,
  moveExpiry,
  REASON,
  sendSignal,
  type Signature,
} from '../helpers/temporal-world.js';

/** A workflow that has gone a way and ended. */
export interface Played {
  readonly workflow: WorkflowType;
  readonly way: string;
  readonly workflowId: string;
}

/** Who ends a transfer, and how: every way that the workflow takes. Each answers the transfer, whose workflow has ended. */
interface Stage {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  /** One approval, and two. */
  readonly one: GuardedBank;
  readonly two: GuardedBank;
  /** A signature of active staff. */
  readonly sign: () => Promise<Signature>;
}

async function waiting({ temporal }: Stage, bank: GuardedBank): Promise<Uuid> {
  const id = await bank.createPending();
  await untilWaiting(temporal, id);
  return id;
}

/** Approves a transfer with manual capture, which is then held. */
async function held(stage: Stage): Promise<Uuid> {
  const id = await stage.one.createPending(undefined, { capture: 'manual' });
  await untilWaiting(stage.temporal, id);
  answered(await stage.one.act('approve', id), 200);
  await until('it is held', async () => (await stateOf(stage.temporal, id))?.status === 'held');
  return id;
}

async function bySignal(stage: Stage, action: 'approve' | 'reject' | 'cancel'): Promise<Uuid> {
  const id = await waiting(stage, stage.one);
  await sendSignal(stage.temporal, id, action, await stage.sign());
  return id;
}

async function byApi(stage: Stage, action: 'approve' | 'reject' | 'cancel'): Promise<Uuid> {
  const id = await waiting(stage, stage.one);
  answered(await stage.one.act(action, id), 200);
  return id;
}

/** Each way with the end that it comes to. */
const WAYS: Readonly<Record<string, readonly [end: string, go: (stage: Stage) => Promise<Uuid>]>> =
  {
    'approved-by-signal': ['completed', (stage) => bySignal(stage, 'approve')],
    'rejected-by-signal': ['rejected', (stage) => bySignal(stage, 'reject')],
    'canceled-by-signal': ['canceled', (stage) => bySignal(stage, 'cancel')],
    'approved-by-api': ['completed', (stage) => byApi(stage, 'approve')],
    'rejected-by-api': ['rejected', (stage) => byApi(stage, 'reject')],
    'canceled-by-api': ['canceled', (stage) => byApi(stage, 'cancel')],
    'held-then-captured': [
      'completed',
      async (stage) => {
        const id = await held(stage);
        const path = `/v1/transfers/${id}/capture`;
        answered(await stage.one.bank.request('POST', path, { body: {} }), 200);
        return id;
      },
    ],
    'held-then-canceled-by-signal': [
      'canceled',
      async (stage) => {
        const id = await held(stage);
        await sendSignal(stage.temporal, id, 'cancel', await stage.sign());
        return id;
      },
    ],
    // No sweeper runs on the stage.
    'expired-by-timer': [
      'expired',
      async (stage) => {
        const id = await waiting(stage, stage.one);
        await moveExpiry(stage.db, id, Date.now() + 500);
        await stage.temporal.client.workflow.getHandle(`transfer/${id}`).signal('changed');
        return id;
      },
    ],
    'refused-signals': [
      'rejected',
      async (stage) => {
        const { temporal, one } = stage;
        const id = await waiting(stage, one);
        const late = { ...(await stage.sign()), reason: 'x'.repeat(200) };
        await sendSignal(temporal, id, 'approve');
        await sendSignal(temporal, id, 'approve', { actor: 'Mallory', reason: REASON });
        await sendSignal(temporal, id, 'cancel', late);
        await until('they are refused', async () =>
          (await stateOf(temporal, id))?.lastRefusal?.includes('no reason'),
        );
        await sendSignal(temporal, id, 'reject', await stage.sign());
        return id;
      },
    ],
    // No signal notifies the workflow, which looks by itself.
    'looked-again': [
      'canceled',
      async (stage) => {
        const id = await waiting(stage, stage.one);
        const { tenant, owner } = stage.one.bank.tenant;
        const deadline = Deadline.afterMs(60_000);
        const caller = {
          tenantId: tenant.id,
          memberId: owner.id,
          tokenKeyId: '',
          scopes: [],
          deadline,
        };
        await approvalsOf(stage.db).end(caller, id, 'cancel', null);
        return id;
      },
    ],
    'two-approvals': [
      'completed',
      async (stage) => {
        const { temporal, two } = stage;
        const id = await waiting(stage, two);
        await sendSignal(temporal, id, 'approve', await stage.sign());
        await until('one is counted', async () => (await stateOf(temporal, id))?.received === 1);
        answered(await two.act('approve', id), 200);
        return id;
      },
    ],
  };

/** Every way, each gone by a transfer of its own. */
export function playTransfers(stage: Stage): Promise<readonly Played[]> {
  return Promise.all(
    Object.entries(WAYS).map(async ([way, [end, go]]) => {
      const id = await go(stage);
      await untilEnded(stage.temporal, id);
      await assertEnds(stage.db, new Map([[id, end]]));
      const { waitingFor } = (await stateOf(stage.temporal, id)) ?? {};
      assert.match(waitingFor ?? '', /^The transfer is \w+\. Nothing is waited for\.$/);
      return { workflow: 'transfer', way, workflowId: transferWorkflowId(id) } as const;
    }),
  );
}
