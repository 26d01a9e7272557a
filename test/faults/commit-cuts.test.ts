import { commitCuts } from '../campaigns/commit-cuts.js';
import { testDatabase } from '../helpers/database.js';

/** Short forms; `npm run prove` has the full counts. */
const CUTS = 6;

const db = await testDatabase();

describe('requests whose COMMIT loses its connection', () => {
  for (const [fate, how] of [
    ['cut_before', 'before MySQL sees it'],
    ['cut_after', 'before its answer comes'],
    ['cut_racing', 'while it is on its way'],
  ] as const)
    it(`a client gets a correct response or a 503, and its key moves money once, if the connection to MySQL breaks at COMMIT ${how}`, () =>
      commitCuts({ db, cuts: CUTS, fate }));
});
