import { batchWorkerKills } from '../campaigns/batch-kills.js';
import { testDatabase } from '../support/database.js';
import { testTemporal } from '../support/temporal.js';

describe('a batch that is being paid', function () {
  this.timeout(180_000);

  it('is paid to its end, each row once, whenever its worker is killed', async () => {
    const [db, temporal] = [await testDatabase(), await testTemporal()];
    await batchWorkerKills({ db, temporal }, { rows: 600, kills: 2, betweenMs: 300 });
  });
});
