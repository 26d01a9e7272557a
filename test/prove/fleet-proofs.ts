import assert from 'node:assert/strict';
import { composedCampaign } from '../campaigns/composed.js';
import { countWaiting, leaveWaiting } from '../campaigns/left-waiting.js';
import { mixedLoadCampaign } from '../campaigns/mixed-load.js';
import { rollingCampaign } from '../campaigns/rolling.js';
import { freshDatabase } from '../support/database.js';
import { twoOfEachCampaign } from '../campaigns/two-of-each.js';
import { upgradeCampaign } from '../campaigns/upgrade.js';
import type { TestDatabase } from '../support/database.js';
import { startTestApi } from '../support/api.js';
import { HttpReceiver } from '../support/http-receiver.js';
import { PrivateTemporal } from '../support/private-temporal.js';
import { loadRelease, recordRelease } from '../support/release-dump.js';
import type { TestTemporal } from '../support/temporal.js';
import { counts } from './counts.js';

/** The long proofs of several processes behind a proxy. */
export const FLEET_PROOFS: Readonly<Record<string, (db: TestDatabase) => Promise<string[]>>> = {
  rolling: async (db) => {
    const server = await PrivateTemporal.start();
    try {
      const load = counts('ROLLING_COUNTS', { perSecond: 500, rounds: 3 });
      return [await rollingCampaign({ db, temporal: server.temporal, ...load })];
    } finally {
      await server.remove();
    }
  },
  'mixed-load': async ({ adminUrl }) => {
    const load = counts('MIXED_LOAD_COUNTS', { seconds: 7_200, clients: 8, pauseMs: 250 });
    const batches = { rows: 500, betweenBatchesMs: 30_000 };
    return [
      await alone(adminUrl, (stage) =>
        mixedLoadCampaign({ ...stage, ...load, ...batches, isTimed: true }),
      ),
    ];
  },
  'two-of-each': async () => [
    await twoOfEachCampaign({ rounds: 10, apis: 2, clients: 32, calmMs: 1_500, rows: 500 }),
  ],
  composed: async () => [await composedCampaign()],
  upgrade: async ({ adminUrl }) => {
    const load = counts('UPGRADE_COUNTS', { open: 1_000, perSecond: 100 });
    if (process.env.RECORD_RELEASE !== undefined) await alone(adminUrl, recordWaiting);
    return [
      await alone(adminUrl, async (stage) => {
        await loadRelease(stage.db);
        assert((await countWaiting(stage.db)) > 0, 'nothing waits in the dump of the release');
        return upgradeCampaign({ ...stage, ...load });
      }),
    ];
  },
};

/** Writes test/releases/1.0.0.sql.gz: much waits in it, since no worker runs. */
async function recordWaiting({ db }: Stage): Promise<void> {
  const receiver = await new HttpReceiver().open();
  const api = await startTestApi(db, {}, { receiver: 'real' });
  try {
    await leaveWaiting(api, receiver);
    await recordRelease(db);
  } finally {
    await api.stop();
    await receiver.close();
  }
}

interface Stage {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
}

/** With a database and a Temporal of its own. */
async function alone<T>(adminUrl: string, work: (stage: Stage) => Promise<T>): Promise<T> {
  const server = await PrivateTemporal.start();
  const db = await freshDatabase(adminUrl, 'money_alone');
  try {
    return await work({ db, temporal: server.temporal });
  } finally {
    await db.remove();
    await server.remove();
  }
}
