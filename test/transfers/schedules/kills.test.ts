import { killedWhileRunning, startProcesses } from '../../campaigns/schedule-kills.js';
import { ownDatabase } from '../../helpers/database.js';
import { testTemporal } from '../../helpers/temporal.js';
import { withCleanup } from '../../helpers/with-cleanup.js';

describe('schedules whose worker and API are killed', () => {
  it('create one transfer for each run, in order', () =>
    withCleanup(async (open) => {
      const db = await open(ownDatabase('schedules'), (own) => own.remove());
      const { api, worker } = await startProcesses(db, await testTemporal());
      await open(Promise.resolve(api), (own) => own.kill());
      await open(Promise.resolve(worker), (own) => own.kill());
      const wanted = { schedules: 5, runs: 4, kills: 2, betweenMs: 500 };
      await killedWhileRunning({ db, api }, [worker, api], wanted);
    }));
});
