import assert from 'node:assert/strict';
import type { RAIL_FAILPOINTS } from '../../src/core/failpoints.js';
import type { Uuid } from '../../src/core/ids.js';
import { assertSameStory, openPayoutBank, paidTimes, untilStatus } from '../payouts/support.js';
import type { TestApi } from '../helpers/api.js';
import { LEAST } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { serving, type TestTemporal } from '../helpers/temporal.js';
import { WorkerProcess } from '../helpers/worker-process.js';
import { assertLedgerSound } from '../helpers/world.js';

const AT_ONCE = 50;

interface KillCampaign {
  readonly db: TestDatabase;
  readonly api: TestApi;
  readonly temporal: TestTemporal;
  /** The worker dies at each in turn. */
  readonly failpoints: readonly (typeof RAIL_FAILPOINTS)[number][];
  readonly payouts: number;
  readonly kills: number;
}

/** Recovering from a kill takes as long as Temporal waits for the activity that was cut off. */
export const RECOVERY_MS = 600_000;
/** Account numbers by which the simulated rail pays at once, late, and without a readable answer. */
export const RAIL_ENDINGS = ['99', '06', '07', '04'] as const;

/** A worker that dies at every few calls of the rail: each payout is paid once, and all come to their end. */
export async function killedAroundRail(campaign: KillCampaign): Promise<string> {
  const { db, api, temporal, failpoints, payouts, kills } = campaign;
  const own = await openPayoutBank(api, 2n * BigInt(payouts) * LEAST);
  const worker = await WorkerProcess.prepare(db.url, temporal, serving('payouts'));
  const ids: Uuid[] = [];
  try {
    for (let killed = 0; killed < kills; killed += 1) {
      const failpoint = failpoints[killed % failpoints.length]!;
      const many = Math.floor(payouts / kills) + (killed < payouts % kills ? 1 : 0);
      const pay = async (): Promise<void> => {
        for (let at = 0; at < many; at += AT_ONCE)
          ids.push(
            ...(await Promise.all(
              Array.from({ length: Math.min(AT_ONCE, many - at) }, (_, index) =>
                own.pay(RAIL_ENDINGS[index % RAIL_ENDINGS.length]),
              ),
            )),
          );
      };
      await Promise.all([worker.endAt(failpoint, 3 + (killed % 5)), pay()]);
    }
    await worker.start();
    for (const id of ids) await untilStatus(own, id, ['completed'], RECOVERY_MS);
  } finally {
    await worker.stop();
  }
  const paid = await paidTimes(db, ids);
  assert.deepEqual(
    paid,
    ids.map(() => 1),
  );
  for (const id of ids) await assertSameStory(own, id);
  await assertLedgerSound(db.database);
  return `${kills} kills at ${failpoints.join(' and ')}, ${ids.length} payouts: the rail received ${ids.length} keys and paid ${paid.length}, none twice`;
}
