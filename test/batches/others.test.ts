import { strict as assert } from 'node:assert';
import { systemClock } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { OthersPosting } from '../../src/batches/others.js';
import { ownDatabase } from '../webhooks/support.js';
import type { TestDatabase } from '../support/database.js';
import { move, testKind } from '../support/kinds.js';
import {
  assertLedgerSound,
  makeAccount,
  makeTenant,
  openDesk,
  type WatchedDesk,
} from '../support/world.js';
import { BatchWorld, payroll } from './support.js';
import { LEAST } from '../support/bank.js';

describe('whether others post beside a batch', () => {
  let db: TestDatabase;
  let watched: WatchedDesk;
  let now = 0;
  let others: OthersPosting;
  const funds = { COPM: 1_000n * LEAST };

  before(async () => {
    db = await ownDatabase('others');
    watched = openDesk(db.database);
  });
  beforeEach(async () => {
    now = 0;
    others = new OthersPosting(db.database.reader, systemClock, () => now);
    await pass(1_000);
  });
  afterEach(() => assertLedgerSound(db.database));
  after(() => db.remove());

  const pass = (ms: number): Promise<boolean> => {
    now += ms;
    return others.areMany();
  };

  async function twoAccounts(): Promise<[Account, Account]> {
    const tenant = await makeTenant(db.database);
    const deps = { database: db.database, desk: watched.desk };
    return [await makeAccount(deps, tenant, { funds }), await makeAccount(deps, tenant)];
  }

  it('is so from twenty events a second on, of all tenants together', async () => {
    const pairs = await Promise.all([twoAccounts(), twoAccounts()]);
    await pass(1_000);
    const post = (count: number): Promise<unknown> =>
      Promise.all(
        Array.from({ length: count }, (_, index) => {
          const [from, to] = pairs[index % 2]!;
          return watched.desk.submit(testKind, move({ from, to, raw: 1n }));
        }),
      );
    await post(18);
    assert(!(await pass(1_000)));
    await post(20);
    assert(await pass(1_000));
    assert(await pass(100), 'it does not look again at once');
    assert(!(await pass(1_000)));
  });

  it('is not so while batches alone are paid', async () => {
    const world = await BatchWorld.open(db);
    await world.account({ alias: '$ana' });
    const payer = await world.account({ type: 'business', funds });
    const rows = Array.from({ length: 100 }, () => ['$ana', LEAST.toString(), 'COPM']);
    const batch = await world.executed(payer, payroll(rows));
    await pass(1_000);
    assert.equal(await world.pay(batch), 'over');
    assert(!(await pass(1_000)));
  });
});
