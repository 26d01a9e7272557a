import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import { ownDatabase, type TestDatabase } from '../helpers/database.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { idLiteral, LEAST, text } from '../helpers/bank.js';
import { openGuarded } from '../helpers/guarded.js';
import { openPayoutBank, seen, submitAndRaise } from '../payouts/support.js';
import { proposeResolution } from '../../src/payouts/resolution/resolutions.js';
import { proposeAdjustment } from '../../src/funding/service.js';
import { BatchWorld, payroll } from '../batches/support.js';
import { proven } from '../helpers/staff.js';
import { register } from '../webhooks/support.js';
import { startTestDesk, type TestDesk, type Visitor } from './desk.js';

/** Every column that is shown at the desk and written by tenants, their files, receivers, rails or staff. */
const PLANTED = {
  tenants: ['name'],
  members: ['name'],
  accounts: ['name'],
  transfers: ['description', 'rejection_reason'],
  payouts: ['description', 'holder_name', 'rail_reference', 'failure_message'],
  payout_rail_events: ['rail_reference', 'callback_id'],
  payout_resolutions: ['reason', 'proposed_by'],
  adjustments: ['reason', 'reference', 'proposed_by', 'decided_by'],
  batches: ['description', 'paused_by', 'pause_reason'],
  batch_rows: ['recipient', 'message'],
  webhook_endpoints: ['url', 'paused_by'],
  webhook_attempts: ['message', 'response'],
  audit_log: ['actor_claimed'],
} as const;

describe('the support desk escapes all foreign text', () => {
  let db: TestDatabase;
  let api: TestApi;
  let desk: TestDesk;
  let maria: Visitor;
  const paths: string[] = [];

  before(async () => {
    // Of its own: what is planted here the auditor would tell.
    db = await ownDatabase('hostile');
    api = await startTestApi(db);
    desk = await startTestDesk(db);
    maria = await desk.staffed('maria');
    await makeAll();
  });

  /** One of everything. */
  async function makeAll(): Promise<void> {
    const by = proven(await desk.hire('leo'), 'support');
    const own = await openGuarded(api);
    const waiting = text((await own.createPending({ description: 'a' })).id);
    const approved = text((await own.createPending()).id);
    const code = await desk.freshCode(maria.person);
    await maria.act(`/transfers/${approved}`, 'approve', { reason: 'a', code });
    await maria.act(`/transfers/${waiting}`, 'reject', { reason: 'a' });
    const paying = await openPayoutBank(api);
    const payout = await paying.pay('03', { description: 'a' });
    const rails = await submitAndRaise(db, payout);
    const outcome = { outcome: 'completed', reason: 'a', by } as const;
    await proposeResolution(rails.writer, await seen(db, payout), outcome);
    const { id: accountId, tenantId } = own.receiver;
    const { resource } = await proposeAdjustment(desk.core, {
      ...{ tenantId, accountId, direction: 'in', amount: { raw: LEAST, asset: 'COPM' } },
      ...{ reference: 'a', reason: 'a', by },
    });
    const world = await BatchWorld.open(db);
    await world.account({ alias: '$ana' });
    const payer = await world.account({ funds: { COPM: 10n * LEAST } });
    const batch = await world.executed(payer, payroll([['$ana', LEAST.toString(), 'COPM']]));
    const endpoint = text((await register(own.bank, ['transfer.completed'])).id);
    await deliver(endpoint);
    paths.push(
      ...[
        '/',
        '/search?text=%24ana',
        `/search?text=${accountId.slice(0, 13)}`,
        `/transfers/${waiting}`,
      ],
      ...[`/transfers/${approved}`, `/payouts/${payout}`, `/adjustments/${resource.id}`],
      ...[`/accounts/${accountId}`, `/batches/${batch.id}`, `/endpoints/${endpoint}`],
      ...['stuck', 'adjustments', 'batches', 'endpoints'].map((list) => `/waiting/${list}`),
    );
  }

  /** An attempt with an answer. */
  async function deliver(endpoint: string): Promise<void> {
    const [own, delivery] = [idLiteral(endpoint), idLiteral(newId())];
    await db.sql(
      `INSERT INTO webhook_deliveries (endpoint_id, id, event_id, event_type, sequence, cause, round, state, steps, created_at, finished_at)
       VALUES (${own}, ${delivery}, ${idLiteral(newId())}, 'transfer.completed', 1, 'event', 1, 'failed', 1, NOW(3), NOW(3))`,
    );
    await db.sql(
      `INSERT INTO webhook_attempts (endpoint_id, delivery_id, id, at, status, duration_ms, response, message)
       VALUES (${own}, ${delivery}, ${idLiteral(newId())}, NOW(3), 500, 5, 'a', 'a')`,
    );
  }

  const marker = (table: string, column: string): string =>
    `"><b>${table}.${column}</b>'`.slice(0, 64);

  it('the support desk shows the text of tenants with all tags, quotes and hidden characters escaped, in every column', async () => {
    await db.sql(`UPDATE batch_rows SET status='failed', code='a', message='a'`);
    await db.sql('UPDATE batches SET paused_at=NOW(3), paused_by=1, pause_reason=1');
    await db.sql('UPDATE webhook_endpoints SET paused_at=NOW(3), paused_by=1');
    await db.sql(`UPDATE payouts SET failure_code='a'`);
    await db.sql(`UPDATE adjustments SET decided_by='a', decided_at=NOW(3), status='rejected'`);
    for (const [table, columns] of Object.entries(PLANTED))
      for (const column of columns) {
        const planted = `'${marker(table, column).replaceAll("'", "''")}'`;
        // Names of tenants are unique.
        const value = table === 'tenants' ? `CONCAT(HEX(id), ${planted})` : planted;
        await db.sql(`UPDATE IGNORE ${table} SET ${column}=${value}`);
      }
    const pages = await Promise.all(paths.map(async (path) => (await maria.get(path)).text));
    const all = pages.join('\n');
    assert.doesNotMatch(all, /<b>/);
    assert.doesNotMatch(all, /"><b/);
    for (const [table, columns] of Object.entries(PLANTED))
      for (const column of columns) {
        const escaped = `&quot;&gt;&lt;b&gt;${table}.${column}&lt;/b&gt;`.slice(0, 40);
        assert(all.includes(escaped), `${table}.${column} is not shown anywhere, so not tried`);
      }
    await db.sql(
      `UPDATE transfers SET description=CONCAT('pay ', CHAR(0x202e USING utf32), 'evil')`,
    );
    const shown = (await maria.get(paths[3] ?? '')).text;
    assert(
      shown.includes('pay \\u202eevil') && !shown.includes('\u202e'),
      'a sign that turns the direction of others',
    );
  });

  it('the support desk shows the text of a search escaped', async () => {
    for (const path of [
      ...['/search?text=', '/search?day=2026-11-22&amount=', '/search?day=', '/search?asset='],
    ]) {
      const { status, text: page } = await maria.get(path + encodeURIComponent('"><b>x</b>'));
      assert.equal(status, 200);
      assert.doesNotMatch(page, /<b>/);
    }
  });
});
