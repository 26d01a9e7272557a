import { twoOfEachCampaign } from '../campaigns/two-of-each.js';
import { Haproxy } from '../helpers/haproxy.js';

describe('two API processes behind a proxy and two workers', function () {
  this.timeout(1_800_000);
  /** The one schedule of faults in `npm test`. The campaigns of `npm run prove` repeat each fault by itself. */
  it('answer correctly and finish every operation once, although each process exits at every failpoint, commits are cut, and MySQL and Temporal fail', () =>
    twoOfEachCampaign({
      rounds: 1,
      apis: Haproxy.isPossible ? 2 : 1,
      clients: 4,
      pauseMs: 500,
      rest: 6,
      calmMs: 200,
      rows: 100,
      betweenBatchesMs: 3_000,
    }));
});
