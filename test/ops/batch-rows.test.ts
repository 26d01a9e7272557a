import assert from 'node:assert/strict';
import { SupplierBatches } from '../batches/payout-support.js';
import { startTestApi } from '../helpers/api.js';
import { testDatabase } from '../helpers/database.js';
import { assertLedgerSound } from '../helpers/world.js';
import { commandLine, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const test = await testDatabase();
const api = await startTestApi(test);
const people = new SignedInPeople(test);

describe('the rows of a batch, at the command line', () => {
  after(async () => {
    people.remove();
    await api.stop();
    await assertLedgerSound(test.database);
  });

  const { ops, rows } = commandLine(() => people.env);

  it('are listed in their order with their payouts, by status, and after a row', async () => {
    const batches = await SupplierBatches.open(api);
    const { id } = await batches.ended({ reference: 'INV-1' }, { reference: 'INV-2' });
    const list = words`batches rows ${id}`;
    const all = await rows(...list);
    assert.deepEqual(
      all.map(({ row, status, payout, reference }) => [row, status, payout, reference]),
      [
        ['2', 'paid', 'approved', 'INV-1'],
        ['3', 'paid', 'approved', 'INV-2'],
      ],
    );
    assert.deepEqual(await rows(...list, '--status', 'failed'), []);
    const begun = await ops(...list, '--limit', '1');
    assert.match(begun.stderr, /^The first 1\. For later ones add --cursor 2\n$/);
    assert.deepEqual(await rows(...list, '--cursor', '2'), all.slice(1));
  });
});
