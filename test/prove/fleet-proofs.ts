import { composedCampaign } from '../campaigns/composed.js';
import { mixedLoadCampaign } from '../campaigns/mixed-load.js';
import { rollingCampaign } from '../campaigns/rolling.js';
import { freshDatabase } from '../support/database.js';
import { twoOfEachCampaign } from '../campaigns/two-of-each.js';
import { upgradeCampaign } from '../campaigns/upgrade.js';
import type { TestDatabase } from '../support/database.js';
import { PrivateTemporal } from '../support/private-temporal.js';
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
  upgrade: async ({ adminUrl }) => [
    await alone(adminUrl, (stage) => upgradeCampaign({ ...stage, open: 1_000, perSecond: 100 })),
  ],
};

interface Stage {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
}

/** With a database and a Temporal of its own. */
async function alone(adminUrl: string, work: (stage: Stage) => Promise<string>): Promise<string> {
  const server = await PrivateTemporal.start();
  const db = await freshDatabase(adminUrl, 'money_alone');
  try {
    return await work({ db, temporal: server.temporal });
  } finally {
    await db.remove();
    await server.remove();
  }
}
