import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { transfers } from '../../src/db/entities/operations.js';
import { readerOver } from '../../src/db/reader.js';
import { proposeAdjustment } from '../../src/funding/service.js';
import { readDecisionContexts } from '../../src/operations/decision-context.js';
import { LEAST, text } from '../helpers/bank.js';
import { openGuarded } from '../helpers/guarded.js';
import { proven } from '../helpers/staff.js';
import { assertLedgerSound } from '../helpers/world.js';
import { openPayoutBank, railsOf } from '../payouts/support.js';
import { openDesk } from './desk.js';

const { db, api, desk, maria } = await openDesk();
const own = await openGuarded(api, { approvals: 2 });

describe('the page of an item that waits for a decision', () => {
  afterEach(() => assertLedgerSound(db.database));

  /** Returns the text of the section about the decision; '' without it. */
  async function context(path: string): Promise<string> {
    const { text: page, status } = await maria.get(path);
    assert.equal(status, 200);
    const [, section = ''] = /aria-labelledby="context">([\s\S]*?)<\/section>/.exec(page) ?? [];
    return section.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  }
  const pending = async (wanted = {}): Promise<string> =>
    text((await own.createPending(wanted)).id);
  const approve = async (id: string): Promise<void> => {
    const code = await desk.freshCode(maria.person);
    const answer = await maria.act(`/transfers/${id}`, 'approve', { reason: 'Agreed', code });
    assert.equal(answer.status, 303);
  };

  it('shows the balance of its account, what is left of the limit, who was paid before, and who approved what', async () => {
    const first = await pending({ raw: 2_000_000n });
    const before = await context(`/transfers/${first}`);
    assert.match(before, /Available [\d,]+\.00 COPM 20,000\.00 COPM is held/);
    assert.match(before, /Left this month [\d,]+\.00 COPM of [\d,]+\.00 COPM/);
    assert.match(before, /Paid before never to this recipient/);
    assert.match(before, /in the last 30 days: None\./);
    await approve(first);
    await own.act('approve', first, 'approver');
    const second = await pending();
    const after = await context(`/transfers/${second}`);
    assert.match(after, /Paid before 1 time to this recipient, last 20/);
    assert.match(after, /20,000\.00 COPM support: maria 20/);
    assert.match(after, /20,000\.00 COPM approver 20/);
    const other = await own.account();
    const elsewhere = await pending({ to: other });
    assert.match(await context(`/transfers/${elsewhere}`), /never to this recipient/);
    // What has been decided needs no more.
    assert.equal(await context(`/transfers/${first}`), '');
    for (const id of [second, elsewhere]) await own.act('reject', id, 'approver');
  });

  it('shows approvals of the last 30 days only', async () => {
    const shift = (days: number): Promise<unknown> =>
      db.sql(`UPDATE approvals SET created_at=created_at-INTERVAL ${days} DAY`);
    const id = await pending();
    assert.match(await context(`/transfers/${id}`), /support: maria/);
    await shift(30);
    assert.match(await context(`/transfers/${id}`), /in the last 30 days: None\./);
    await shift(-30);
  });

  it('shows for a payout whether one with the same name, bank and last digits was paid', async () => {
    const paying = await openPayoutBank(api);
    const paid = await paying.pay();
    await paying.guard();
    const id = await paying.createPending();
    assert.match(await context(`/payouts/${id}`), /Paid before never to a recipient of the same/);
    await railsOf(db).submissions.submit(paid);
    assert.match(await context(`/payouts/${id}`), /Paid before 1 time to a recipient of the same/);
    const other = await paying.createPending({ ending: '98' });
    assert.match(await context(`/payouts/${other}`), /never to a recipient of the same/);
  });

  it('shows the same for each item of a set, read with as many statements for a hundred items as for one', async () => {
    const [first, second] = [await pending(), await pending({ to: await own.account() })];
    const other = await openGuarded(api);
    const elsewhere = text((await other.createPending()).id);
    const ids = [first, second, elsewhere];
    const query = ids.map((id) => `item=${id}`).join('&');
    const { text: page } = await maria.get(`/waiting/transfers/approve?${query}`);
    for (const id of ids) {
      const row = page.split('<tr').find((one) => one.includes(`href="/transfers/${id}"`)) ?? '';
      const shown = row.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
      const alone = await context(`/transfers/${id}`);
      for (const part of [/[\d,.]+ COPM [\d,.]+ COPM is held/, /[\d,.]+ COPM of [\d,.]+ COPM/])
        assert(shown.includes(part.exec(alone)?.[0] ?? 'no such fact'), shown);
      const [, paid = ''] = /Paid before (.*? to this recipient)/.exec(alone) ?? [];
      assert(paid !== '' && shown.includes(paid), shown);
    }
    const rows = await desk.core.database.reader.select(transfers, { id: ids as Uuid[] });
    const decisions = rows.map(({ sourceAccountId, asset, destinationAccountId }) => ({
      ...{ accountId: sourceAccountId, asset, recipient: destinationAccountId },
    }));
    const statements = async (count: number): Promise<number> => {
      let sent = 0;
      const reader = readerOver((sql) => {
        sent += 1;
        return desk.core.database.reader.query(sql);
      });
      const all = Array.from({ length: count }, (_, n) => decisions[n % 3] ?? assert.fail());
      const found = await readDecisionContexts(reader, all, instant(Date.now()));
      assert.equal(found.filter((one) => one?.paid?.areAllExamined === true).length, count);
      return sent;
    };
    assert.equal(await statements(100), await statements(1));
    for (const id of [first, second]) await own.act('reject', id, 'approver');
  });

  it('shows for an adjustment what its account has', async () => {
    const { id: accountId, tenantId } = own.guarded;
    const { resource } = await proposeAdjustment(desk.core, {
      ...{ tenantId, accountId, direction: 'out', amount: { raw: LEAST, asset: 'COPM' } },
      ...{ reference: 'case-1', reason: 'Paid in twice', by: proven(maria.person, 'support') },
    });
    const shown = await context(`/adjustments/${resource.id}`);
    assert.match(shown, /Available [\d,]+\.00 COPM/);
    assert(!shown.includes('Paid before'));
  });
});
