import {
  drainStorm,
  mutualStorm,
  sameBodyStorm,
  twoBodiesStorm,
  unboundStorm,
} from '../campaigns/http-storms.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { testDatabase } from '../support/database.js';

/** Short forms; `npm run prove` has the full counts. */
const ROUNDS = 4;
const CLIENTS = 64;

const db = await testDatabase();
const api = await startTestApi(db);

describe('POST /v1/transfers, at the same time', () => {
  let other: TestApi;
  let storm: { api: TestApi; others: string[] };

  before(async () => {
    other = await startTestApi(db);
    storm = { api, others: [other.baseUrl] };
  });

  it('100 simultaneous requests with one key over two processes create one transfer, and all get it', async () => {
    await sameBodyStorm({ ...storm, rounds: ROUNDS, width: 100 });
  });

  it('simultaneous POST /v1/transfers with one key and two bodies do one of them once, and answer the other 409', async () => {
    await twoBodiesStorm({ api, rounds: ROUNDS, width: 100 });
    await twoBodiesStorm({ ...storm, rounds: ROUNDS, width: 100 });
  });

  it('simultaneous POST /v1/transfers with one key, half of them refused without binding it, act once for the others', async () => {
    await unboundStorm({ ...storm, rounds: ROUNDS, width: 60 });
  });

  it('64 clients that drain one account over two processes, fee included, succeed exactly as often', async () => {
    await drainStorm({ ...storm, clients: CLIENTS, transfers: 300, feeRaw: 333n });
  });

  it('transfers from everybody to everybody over two processes are never answered by a deadlock', async () => {
    await mutualStorm({ ...storm, clients: CLIENTS, rounds: 6 });
  });
});
