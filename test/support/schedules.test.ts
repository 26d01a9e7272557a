import assert from 'node:assert/strict';
import { openBank, text } from '../helpers/bank.js';
import { makeDue, runAll, scheduled } from '../transfers/schedules/support.js';
import { openDesk } from './desk.js';

const { db, api, maria } = await openDesk();

describe('a schedule at the support desk', () => {
  it('has a page with its next run and its newest transfers, and is in the list of its tenant and in the search', async () => {
    const bank = await openBank(api);
    const wanted = { description: 'Rent', metadata: { invoice: 'A-17' } };
    const id = text((await scheduled(bank, wanted)).id);
    await makeDue(db, id, 1.5);
    await runAll(bank, id);
    const page = `/schedules/${id}`;
    const { text: shown } = await maria.get(page);
    for (const words of [
      /Schedule of 1,000\.00 COPM/,
      /<dt>Next run<\/dt><dd>/,
      /<dt>Every<\/dt><dd>1 day<\/dd>/,
      /<dt>Runs<\/dt><dd>1<\/dd>/,
      /Rent/,
      /invoice: A-17/,
      /Newest runs[^]*href="\/transfers\/[^]*completed/,
    ])
      assert.match(shown, words);
    const tenant = `/tenants/${bank.tenant.tenant.id}`;
    for (const path of [tenant, `${tenant}/schedules`])
      assert((await maria.get(path)).text.includes(`href="${page}"`), path);
    const found = await maria.get(`/search?text=${id}`);
    assert.equal(found.headers.get('location'), page);
  });
});
