import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Uuid } from '../../src/core/ids.js';
import type { BatchKindName } from '../../src/db/entities/batches.js';
import { WORKFLOW_ID_OF } from '../../src/temporal/contracts.js';
import { supplierCsv } from '../batches/payout-support.js';
import { csvOf } from '../batches/support.js';
import type { TestApi } from '../helpers/api.js';
import { answered, LEAST } from '../helpers/bank.js';
import { openPayrollBank, type PayrollBank } from '../helpers/batch-workflows.js';
import {
  detailsOf,
  stateOf,
  type TestTemporal,
  until,
  untilEnded,
  workflowOf,
} from '../helpers/temporal.js';
import { REASON, type Signature } from '../helpers/temporal-world.js';
import type { Played } from './scenarios.js';

/** Where batches go every way that their workflow takes. */
interface BatchStage {
  readonly api: TestApi;
  readonly temporal: TestTemporal;
  /** A signature of active staff. */
  readonly sign: () => Promise<Signature>;
}

interface Stage extends BatchStage {
  readonly payroll: PayrollBank;
}

/** After how long a workflow of the stage looks by itself. */
export const LOOK_AGAIN_S = 2;
/** Rows enough that a signal which is sent with the execution comes before the last. */
const MANY = 2_000;

function signal(
  { temporal, payroll: { kind } }: Stage,
  id: Uuid,
  action: string,
  ...input: readonly unknown[]
): Promise<void> {
  return workflowOf(temporal, id, `${kind}_batch`).signal<unknown[]>(action, ...input);
}

/** Each answers the batch, whose workflow ends. */
const WAYS: Readonly<Record<string, (stage: Stage) => Promise<Uuid>>> = {
  rejected: ({ payroll }) =>
    payroll.upload(
      payroll.kind === 'payout'
        ? supplierCsv({ country: 'XX' })
        : csvOf([['$nobody', LEAST.toString(), 'COPM', null, null]]),
    ),
  completed: async ({ payroll }) => {
    const id = await payroll.ready(3);
    await payroll.execute(id);
    return id;
  },
  'partially-failed': async ({ api, payroll: { kind } }) => {
    const poor = await openPayrollBank(api, 2n * LEAST, kind);
    const id = await poor.ready(3);
    await poor.execute(id);
    return id;
  },
  'refused-signals': async (stage) => {
    const { payroll, temporal, sign } = stage;
    const id = await payroll.ready(2);
    await signal(stage, id, 'pause');
    await signal(stage, id, 'cancel', { actor: 'Mallory', reason: REASON });
    await signal(stage, id, 'resume', await sign());
    await until('they are refused', async () =>
      /Refused/.test(await detailsOf(temporal, id, `${payroll.kind}_batch`)),
    );
    await payroll.execute(id);
    return id;
  },
  'paused-and-resumed': async (stage) => {
    const { payroll, temporal, sign } = stage;
    const id = await payroll.ready(MANY);
    await payroll.execute(id);
    await signal(stage, id, 'pause', await sign());
    await until(
      'it is paused',
      async () => (await stateOf(temporal, id, `${payroll.kind}_batch`))?.isPaused,
    );
    await signal(stage, id, 'resume', await sign());
    return id;
  },
  // It waits for so long that its workflow looks by itself, and finds nothing new.
  'looked-again': async ({ payroll }) => {
    const id = await payroll.ready(1);
    await sleep(LOOK_AGAIN_S * 1_500);
    await payroll.execute(id);
    return id;
  },
  'withdrawn-by-api': async ({ payroll }) => {
    const id = await payroll.ready(1);
    answered(await payroll.bank.request('POST', `${payroll.path}/${id}/cancel`), 200);
    return id;
  },
  'withdrawn-by-signal': async (stage) => {
    const id = await stage.payroll.ready(1);
    await signal(stage, id, 'cancel', await stage.sign());
    return id;
  },
  canceled: async (stage) => {
    const { payroll, sign } = stage;
    const id = await payroll.ready(MANY);
    await payroll.execute(id);
    await signal(stage, id, 'cancel', await sign());
    return id;
  },
};

const WITHDRAWN = /^Withdrawn before it was executed\. Nothing is waited for\.$/;
/** The details that the UI shows at the end. */
const DETAILS: Readonly<Record<string, RegExp>> = {
  rejected: /^Rejected: 1 of 1 row.* Nothing is waited for\.$/,
  completed:
    /^The batch is completed: 3 of 3 rows (paid|made into payouts), 0 failed\. Nothing is waited for\.$/,
  'withdrawn-by-api': WITHDRAWN,
  'withdrawn-by-signal': WITHDRAWN,
};

/** In these a signal must come before the last row is paid: no other batch is paid meanwhile. */
const SIGNALED = ['paused-and-resumed', 'canceled'];

/** Every way, each gone by a batch of its own. */
export async function playBatches(
  stage: BatchStage,
  kind: BatchKindName = 'bonus',
): Promise<readonly Played[]> {
  const payroll = await openPayrollBank(stage.api, undefined, kind);
  const play = async (way: string): Promise<Played> => {
    const id = await WAYS[way]!({ ...stage, payroll });
    await untilEnded(stage.temporal, id, `${kind}_batch`);
    assert.match(await detailsOf(stage.temporal, id, `${kind}_batch`), DETAILS[way] ?? /./);
    return { workflow: `${kind}Batch`, way, workflowId: WORKFLOW_ID_OF[`${kind}_batch`](id) };
  };
  const others = Object.keys(WAYS).filter((way) => !SIGNALED.includes(way));
  const played = await Promise.all(others.map(play));
  for (const way of SIGNALED) played.push(await play(way));
  return played;
}
