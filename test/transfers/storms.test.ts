import { refundStorm } from '../campaigns/refund-storms.js';
import { drainStorm, racingStorm, RIVALS, sameKeyStorm } from '../campaigns/storms.js';
import { startTestApi } from '../helpers/api.js';
import { ApiProcess } from '../helpers/api-process.js';
import { testDatabase } from '../helpers/database.js';

/** Short forms; `npm run prove` has the full counts. */
const ROUNDS = 4;
const CLIENTS = 64;

const db = await testDatabase();
const api = await startTestApi(db);
const other = await ApiProcess.start(db.url);
const storm = { api, others: [other.baseUrl] };

describe('POST /v1/transfers, at the same time', () => {
  after(() => other.stop());

  for (const rival of RIVALS)
    it(`100 simultaneous requests with one key over two processes act once if every other one is for ${rival}`, async () => {
      await sameKeyStorm({ ...storm, rival, rounds: ROUNDS, width: 100 });
    });

  it('64 clients that drain one account over two processes, fee included, succeed exactly as often as its funds allow', async () => {
    await drainStorm({ ...storm, clients: CLIENTS, transfers: 300, feeRaw: 333n });
  });

  it('concurrent transfers between all accounts over two processes never fail by a deadlock, and readers of the event log miss none', async () => {
    await racingStorm({ ...storm, clients: CLIENTS, rounds: 6 });
  });

  it('64 refunds of one transfer over two processes never exceed it, a held transfer ends once, and changes of metadata all hold', async () => {
    await refundStorm({ ...storm, width: CLIENTS, rounds: ROUNDS });
  });
});
