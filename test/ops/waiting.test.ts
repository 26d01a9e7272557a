import assert from 'node:assert/strict';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral, type Json, LEAST, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { openGuarded, THRESHOLD } from '../helpers/guarded.js';
import { addStaff, proven } from '../helpers/staff.js';
import { assertLedgerSound } from '../helpers/world.js';
import { payoutBody } from '../payouts/support.js';
import { newId } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { recordRemark } from '../../src/staff/remarks.js';
import { commandLine, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const test = await testDatabase();
const api = await startTestApi(test);
const own = await openGuarded(api);
const other = await openGuarded(api);
const people = new SignedInPeople(test);
const tenantOf = ({ bank }: typeof own): string => bank.tenant.tenant.name;

describe('what waits, at the command line', () => {
  after(async () => {
    for (const { bank } of [own, other])
      await test.change(`DELETE FROM outbox WHERE tenant_id=${idLiteral(bank.tenant.tenant.id)}`);
    people.remove();
    await api.stop();
    await assertLedgerSound(test.database);
  });

  const { ops, rows, fails } = commandLine(() => people.env);
  const payout = async (): Promise<string> => {
    const body = payoutBody({ from: own.guarded, raw: THRESHOLD });
    const options = { body, token: own.tokens.creator };
    return text(answered(await own.bank.request('POST', '/v1/payouts', options), 202).json.id);
  };
  const listed = (found: readonly Json[]): unknown[][] => found.map((row) => [row.list, row.id]);

  it('is listed of all tenants as at the support desk, and of one list or tenant', async () => {
    const first = text((await own.createPending()).id);
    const second = text((await other.createPending()).id);
    const paid = await payout();
    await own.bank.sent({ from: own.guarded, to: own.receiver, raw: LEAST });
    const by = proven(await addStaff(test.database, { name: 'tess', rights: ['read'] }));
    const subject = { tenantId: own.bank.tenant.tenant.id, subjectType: 'transfer' };
    const deps = { database: test.database, clock: systemClock };
    await recordRemark(deps, 'take', { ...subject, subjectId: first }, by, '', newId());
    const all = await rows('waiting');
    for (const [list, id] of [
      ['transfers', first],
      ['transfers', second],
      ['payouts', paid],
    ])
      assert.equal(all.filter((row) => row.list === list && row.id === id).length, 1, list);
    const taken = all.find(({ id }) => id === first);
    assert.deepEqual(
      [taken?.tenant, taken?.name, taken?.amount, taken?.taken_by],
      [tenantOf(own), own.guarded.name, { raw: `${THRESHOLD}`, asset: 'COPM' }, 'tess'],
    );
    assert.match(text(taken?.expires_at), /^20.*Z$/);
    const ofOwn = words`waiting --tenant ${tenantOf(own)}`;
    assert.deepEqual(listed(await rows(...ofOwn)), [
      ['transfers', first],
      ['payouts', paid],
    ]);
    assert.deepEqual(listed(await rows(...ofOwn, '--list', 'payouts')), [['payouts', paid]]);
    const few = await ops('waiting', '--list', 'transfers', '--limit', '1');
    assert.match(few.stderr, /^The first 1 of transfers; --limit shows more\.\n$/);
    await fails(2, /--list: must be one of transfers, payouts, /, 'waiting', '--list', 'all');
  });
});
