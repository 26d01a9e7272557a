import { activitiesCampaign } from '../campaigns/approval-activities.js';
import { racesCampaign } from '../campaigns/approval-races.js';
import { bridgeFailpoints, bridgeKills, temporalAway } from '../campaigns/bridge.js';
import { staleTemporalCampaign } from '../campaigns/stale-temporal.js';
import { wrongCodesCampaign } from '../campaigns/wrong-codes.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { ApiProcess } from '../support/api-process.js';
import type { TestDatabase } from '../support/database.js';
import { PrivateTemporal } from '../support/private-temporal.js';

const CLIENTS = 64;
const TEN_MINUTES_MS = 600_000;

/** The long proofs of what waits: its ends, its activities, and the bridge to Temporal under faults. */
export const BRIDGE_PROOFS: Readonly<Record<string, (db: TestDatabase) => Promise<string[]>>> = {
  'approval-races': (db) =>
    withApi(db, async (api) => {
      const other = await ApiProcess.start(db.url);
      try {
        return [
          await racesCampaign({
            db,
            api,
            others: [other.baseUrl],
            rounds: 1_000,
            seed: Date.now(),
          }),
        ];
      } finally {
        await other.stop();
      }
    }),
  'approval-activities': (db) =>
    withApi(db, async (api) => [
      await activitiesCampaign({ db, api, transfers: 300, calls: 10_000, seed: Date.now() }),
    ]),
  'wrong-codes': async (db) => [await wrongCodesCampaign({ db, codes: 10_000 })],
  'bridge-failpoints': async (db) => {
    const server = await PrivateTemporal.start();
    try {
      return [
        await bridgeFailpoints({ db, temporal: server.temporal, clients: CLIENTS, rounds: 7 }),
      ];
    } finally {
      await server.remove();
    }
  },
  'bridge-kills': async () => [await bridgeKills({ kills: 52, clients: CLIENTS })],
  'stale-temporal': async (db) => [await staleTemporalCampaign({ db, each: 50, lookAgainS: 120 })],
  'temporal-away': async (db) => [
    await temporalAway({ db, awayMs: TEN_MINUTES_MS, clients: CLIENTS }),
  ],
};

async function withApi(
  db: TestDatabase,
  work: (api: TestApi) => Promise<string[]>,
): Promise<string[]> {
  const api = await startTestApi(db);
  try {
    return await work(api);
  } finally {
    await api.stop();
  }
}
