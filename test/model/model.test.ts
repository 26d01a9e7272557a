import { modelCampaign } from '../campaigns/model.js';
import { testDatabase } from '../helpers/database.js';

const db = await testDatabase();
/** Plays every ending within few operations. */
const SEED = 1;

describe('the service and a reference ledger in memory', () => {
  it('give the same result for every operation, refusal and read', async () => {
    // The short form, always with the same operations; `npm run prove -- model` plays a million others. MODEL_SEED
    // repeats a run that failed.
    const seed = Number(process.env.MODEL_SEED ?? SEED);
    await modelCampaign({ db, operations: 500, longest: 300, lanes: 1, seed });
  });
});
