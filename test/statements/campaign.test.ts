import { statementsCampaign } from '../campaigns/statements.js';
import { testDatabase } from '../support/database.js';

describe('statements while money moves', () => {
  it('statements while money moves agree with the balances read at their moments', async () => {
    const db = await testDatabase();
    await statementsCampaign({ db, accounts: 20, statements: 24, clients: 4, speed: 20 });
  });
});
