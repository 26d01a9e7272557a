import { generatedCalls } from '../campaigns/generated-calls.js';
import { httpCommitCuts } from '../campaigns/http-commit-cuts.js';
import { followingStorm } from '../campaigns/http-following.js';
import {
  drainStorm,
  mutualStorm,
  sameBodyStorm,
  type Storm,
  twoBodiesStorm,
  unboundStorm,
} from '../campaigns/http-storms.js';
import { modelCampaign } from '../campaigns/model.js';
import { PATIENT, startTestApi } from '../support/api.js';
import { ApiProcess } from '../support/api-process.js';
import type { TestDatabase } from '../support/database.js';

const CLIENTS = 64;

/** The long proofs of what clients see over HTTP, with two API processes on the database. */
export const HTTP_PROOFS: Readonly<Record<string, (db: TestDatabase) => Promise<string[]>>> = {
  'http-same-key': (db) =>
    twoProcesses(db, async (storm) => [
      await sameBodyStorm({ ...storm, rounds: 100, width: 100 }),
      await twoBodiesStorm({ ...storm, rounds: 100, width: 100 }),
      await unboundStorm({ ...storm, rounds: 100, width: 100 }),
    ]),
  'http-drain': (db) =>
    twoProcesses(db, async (storm) => [
      await drainStorm({ ...storm, clients: CLIENTS, transfers: 20_000, feeRaw: 0n }),
      await drainStorm({ ...storm, clients: CLIENTS, transfers: 20_000, feeRaw: 333n }),
    ]),
  'http-racing': (db) =>
    twoProcesses(db, async (storm) => [
      await mutualStorm({ ...storm, clients: CLIENTS, rounds: 400 }),
    ]),
  'http-following': (db) =>
    twoProcesses(db, async (storm) => [
      await followingStorm({ ...storm, writers: CLIENTS, transfers: 300 }),
    ]),
  'http-commit-cuts': async (db) => [
    await httpCommitCuts({ db, cuts: 500, fate: 'cut_before' }),
    await httpCommitCuts({ db, cuts: 500, fate: 'cut_after' }),
    await httpCommitCuts({ db, cuts: 500, fate: 'cut_racing' }),
  ],
  schemathesis: async (db) => [
    await generatedCalls({ db, calls: 1_000, seed: Date.now() % 2 ** 31 }),
  ],
  // A million takes hours: MODEL_OPERATIONS=100000 plays so many, as the summary then says.
  model: async (db) => [
    await modelCampaign({
      db,
      operations: Number(process.env.MODEL_OPERATIONS ?? 1_000_000),
      longest: 300,
      lanes: 4,
    }),
  ],
};

async function twoProcesses(
  db: TestDatabase,
  work: (storm: Storm & { readonly others: readonly string[] }) => Promise<string[]>,
): Promise<string[]> {
  const api = await startTestApi(db);
  const other = await ApiProcess.start(db.url, PATIENT);
  try {
    return await work({ api, others: [other.baseUrl] });
  } finally {
    await other.stop();
    await api.stop();
  }
}
