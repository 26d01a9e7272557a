import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { setPolicy } from '../../src/approvals/policies.js';
import { addMember } from '../../src/members/members.js';
import { systemClock } from '../../src/core/instant.js';
import { events, SUBSCRIBABLE_TYPES } from '../../src/db/entities/events.js';
import type { Staff } from '../../src/db/entities/staff.js';
import { recordRemark } from '../../src/staff/remarks.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { dailyTotalsSweep } from '../../src/support/totals-sweep.js';
import { proposeAdjustment } from '../../src/funding/service.js';
import { BatchWorld, payroll } from '../batches/support.js';
import { openPayoutBank, rowOf, submitAndRaise } from '../payouts/support.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { answered, idLiteral, LEAST, openBank, text } from '../helpers/bank.js';
import { type TestDatabase, testDatabase } from '../helpers/database.js';
import { proven } from '../helpers/staff.js';
import { assertLedgerSound, TEST_ACTOR } from '../helpers/world.js';
import { DESKTOP, openBrowser, PHONE, signInAt } from './browser.js';
import { startTestDesk, type TestDesk } from './desk.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Where the pictures of docs/support.md go; unset: none is made. */
const PICTURES = process.env.SCREENSHOTS;

/** Further transfers that need approval. */
const OTHERS = [
  [40n, 'Rent December'],
  [7n, 'Cleaning'],
  [120n, 'Supplier 88, second part'],
] as const;

describe('in a browser, the support desk', () => {
  let db: TestDatabase;
  let api: TestApi;
  let desk: TestDesk;
  let browser: Browser;
  let maria: Staff;
  let leo: Staff;

  before(async function () {
    const opened = await openBrowser();
    if (opened === null) return this.skip();
    browser = opened;
    db = await testDatabase();
    api = await startTestApi(db);
    desk = await startTestDesk(db, { SUPPORT_TEMPORAL_UI_URL: 'http://127.0.0.1:8233' });
    maria = await desk.hire('maria');
    leo = await desk.hire('leo');
  });

  after(async () => {
    await (browser as Browser | undefined)?.close();
    await (desk as TestDesk | undefined)?.stop();
    await (api as TestApi | undefined)?.stop();
  });

  const signIn = (page: Page, person: Staff): Promise<void> => signInAt(page, desk, person);
  const picture = async (page: Page, name: string, fullPage = false): Promise<void> => {
    if (PICTURES !== undefined)
      await page.screenshot({ path: join(PICTURES, `desk-${name}.png`), fullPage });
  };
  /** Opens the form under this button's name, fills it in and sends it. */
  const send = async (
    page: Page,
    label: string,
    reason: string,
    person: Staff,
    shot?: string,
  ): Promise<void> => {
    await page.locator('summary', { hasText: label }).click();
    const form = page.locator('details[open] form');
    await form.getByLabel('Reason').fill(reason);
    await form.getByLabel('Code').fill(await desk.freshCode(person));
    await form.getByRole('button').scrollIntoViewIfNeeded();
    if (shot !== undefined) await picture(page, shot);
    await form.getByRole('button').click();
  };

  /** A transfer that waits, a stuck payout, a batch, an adjustment that waits. */
  async function makeWorld() {
    const bank = await openBank(api, { name: 'acme' });
    const { tenant } = bank.tenant;
    const asker = await addMember(desk.core.database, systemClock, tenant.id, 'Paula', TEST_ACTOR);
    const roles = [{ memberId: asker.id, role: 'operator' as const }];
    const from = await bank.account({
      name: 'Acme Guarded',
      funds: { COPM: 9_000n * LEAST },
      roles,
    });
    const to = await bank.account({ name: 'Ana María Pérez', type: 'person', alias: '$ana' });
    const settings = { threshold: LEAST, approvals: 1, expiresInS: 3_600, refusesBatches: false };
    const policy = { accountId: from.id, asset: 'COPM' as const, ...settings };
    await setPolicy(desk.core.database, systemClock, policy, TEST_ACTOR);
    const token = await bank.issue(asker);
    const wanted = { from, to, raw: 15n * LEAST, description: 'Invoice 2231' };
    const transfer = answered(await bank.send(wanted, { token }), 202).json;
    for (const [raw, description] of OTHERS)
      answered(await bank.send({ from, to, raw: raw * LEAST, description }, { token }), 202);
    const paying = await openPayoutBank(api);
    const payoutId = await paying.pay('03');
    await submitAndRaise(db, payoutId);
    // Names that fit a picture, and a Temporal that has heard of everything.
    const [globex, treasury] = [paying.bank.tenant.tenant.id, paying.source.id].map(idLiteral);
    await db.sql(`UPDATE tenants SET name='globex' WHERE id=${globex}`);
    await db.sql(`UPDATE accounts SET name='Globex Treasury' WHERE id=${treasury}`);
    await db.sql('DELETE FROM outbox');
    await addTotals(tenant.id);
    const [tenantId, accountId, transferId] = [tenant.id, to.id, text(transfer.id)];
    const { resource } = await proposeAdjustment(desk.core, {
      ...{ tenantId, accountId, direction: 'in', amount: { raw: 5n * LEAST, asset: 'COPM' } },
      ...{ reference: 'case-118', reason: 'Paid in twice', by: proven(leo) },
    });
    const subject = { tenantId, subjectType: 'transfer', subjectId: transferId };
    const note = 'They asked for it today.\nThe invoice is in ticket 118.';
    await recordRemark(desk.core, 'note', subject, proven(leo), note, newId());
    await recordRemark(desk.core, 'take', subject, proven(leo), '', newId());
    const batches = await BatchWorld.open(db);
    await batches.account({ alias: '$dora' });
    const payer = await batches.account({ funds: { COPM: 10n * LEAST } });
    const { id: batchId } = await batches.executed(
      payer,
      payroll([['$dora', LEAST.toString(), 'COPM']]),
    );
    const adjustmentId = resource.id;
    return { transferId, payoutId, accountId, adjustmentId, tenantId, batchId };
  }

  /** Totals of today by the sweep, and some for the days before it. */
  async function addTotals(tenantId: Uuid): Promise<void> {
    await dailyTotalsSweep(desk.core).run(new AbortController().signal);
    await db.sql(
      `INSERT INTO daily_totals WITH RECURSIVE days AS (SELECT 1 AS n UNION ALL SELECT n+1 FROM days WHERE n<13)
       SELECT ${idLiteral(tenantId)}, 'COPM', DATE_FORMAT(CONVERT_TZ(UTC_TIMESTAMP(),'+00:00','-05:00')-INTERVAL n DAY,'%Y-%m-%d'), 30000000+(n*7919 MOD 11)*9000000,
         200+n, (n MOD 3)*400000, n MOD 3, 2000000+(n MOD 4)*900000, n MOD 4 FROM days`,
    );
  }

  it('works without JavaScript, has no fault that axe finds, and never scrolls sideways', async () => {
    const { transferId, payoutId, accountId, adjustmentId, tenantId, batchId } = await makeWorld();
    await assertShortcuts(transferId);
    const plain = await browser.newContext({ javaScriptEnabled: false, viewport: DESKTOP });
    const page = await plain.newPage();
    await page.goto(`${desk.url}/`);
    await picture(page, 'sign-in');
    await signIn(page, maria);
    await picture(page, 'start');
    await page.goto(`${desk.url}/search?text=${encodeURIComponent('$ana')}`);
    assert.equal(await page.getByRole('link', { name: 'Ana M. P.' }).count(), 1);
    await page.goto(`${desk.url}/waiting/transfers`);
    await picture(page, 'list');
    await page.goto(`${desk.url}/`);
    await page.locator(`a[href="/transfers/${transferId}"]`).first().click();
    const [sent] = await db.database.reader.select(events, { type: SUBSCRIBABLE_TYPES });
    const event = `/events/${sent?.id}`;
    await page.goto(`${desk.url}${event}/resend`);
    assert.equal(await page.locator('details[open]').getByLabel('Reason').count(), 1);
    await page.goBack();
    await assertFine(await plain.storageState(), [
      ...['/', '/search', '/search?text=%24ana', '/waiting/transfers?tenant=acme&amount=1..'],
      ...[
        '/waiting/stuck',
        '/waiting/endpoints',
        '/waiting/unanswered',
        '/waiting/rejected',
        `/tenants/${tenantId}`,
      ],
      ...[
        '/tenants',
        '/decided',
        `/tenants/${tenantId}/transfers`,
        `/accounts/${accountId}/movements`,
      ],
      ...[`/transfers/${transferId}`, `/payouts/${payoutId}`, `/accounts/${accountId}`],
      ...[`/adjustments/${adjustmentId}`, '/no-such-page'],
      ...[`/batches/${batchId}`, `/batches/${batchId}/rows?status=paid`],
      ...[`/batches/${batchId}/problems`, `${event}/resend`],
      `/waiting/transfers/approve?item=${transferId}`,
    ]);
    await send(page, 'Approve', 'Asked for in ticket 118', maria, 'approve');
    assert.match((await page.getByRole('status').textContent()) ?? '', /Approved\./);
    await db.sql('DELETE FROM outbox');
    await page.reload();
    await picture(page, 'story', true);
    await page.goto(`${desk.url}/accounts/${accountId}`);
    await picture(page, 'account', true);
    assert.equal(
      (await api.core.database.reader.query(`SELECT 1 FROM transfers WHERE status='completed'`))
        .length,
      1,
    );
    await page.goto(`${desk.url}/payouts/${payoutId}`);
    await page.locator('summary', { hasText: 'Propose the outcome' }).click();
    await page.getByLabel('Outcome').selectOption('completed');
    await page.locator('summary', { hasText: 'Propose the outcome' }).click();
    await send(page, 'Propose the outcome', 'Bank statement of today', maria, 'propose');
    assert.equal(
      await page.locator('summary', { hasText: 'Apply the proposal' }).count(),
      0,
      'to whoever proposed it',
    );
    await resolveAsSecond(payoutId);
    await plain.close();
    await assertLedgerSound(db.database);
  });

  /** A second person, on a phone. */
  async function resolveAsSecond(payoutId: string): Promise<void> {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: PHONE });
    const page = await context.newPage();
    await signIn(page, leo);
    await page.goto(`${desk.url}/payouts/${payoutId}`);
    await send(page, 'Apply the proposal', 'Seen on the statement too', leo, 'phone');
    assert.match(
      (await page.getByRole('status').textContent()) ?? '',
      /Applied: completed\. .* was paid to/,
    );
    assert.equal((await rowOf(db, payoutId as Parameters<typeof rowOf>[1])).status, 'completed');
    await context.close();
  }

  type State = Awaited<ReturnType<BrowserContext['storageState']>>;

  /** Opens the first waiting transfer's form by "a" and the next transfer by "n". */
  async function assertShortcuts(transferId: string): Promise<void> {
    const context = await browser.newContext({ viewport: DESKTOP });
    const page = await context.newPage();
    await signIn(page, leo);
    await page.goto(`${desk.url}/transfers/${transferId}`);
    await page.keyboard.press('a');
    const reason = page.locator('details[open] input[name=reason]');
    assert.equal(await page.evaluate('document.activeElement.name'), 'reason');
    await page.keyboard.type('an');
    assert.equal(await reason.inputValue(), 'an', 'letters typed into a field');
    await page.reload();
    await page.keyboard.press('n');
    await page.waitForURL((url) => !url.pathname.includes(transferId));
    assert.match(new URL(page.url()).pathname, /^\/transfers\//);
    await page.goto(`${desk.url}/`);
    assert.equal(await page.locator('footer').isVisible(), true);
    await page.keyboard.press('n');
    await page.waitForURL(/\/transfers\//);
    assert.equal((await page.getByRole('button', { name: /^Copy / }).count()) > 0, true);
    await context.close();
  }

  /** Every page at both widths and in both colour schemes. */
  async function assertFine(storageState: State, paths: readonly string[]): Promise<void> {
    const faults: string[] = [];
    const context = await browser.newContext({ storageState });
    const page = await context.newPage();
    page.on('pageerror', (fault) => faults.push(fault.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('404'))
        faults.push(message.text());
    });
    const open = async (path: string): Promise<void> => {
      await page.goto(desk.url + path);
      for (const summary of await page.locator('summary').all()) await summary.click();
      await page.evaluate(AXE);
      for (const [size, viewport] of [
        ['wide', DESKTOP],
        ['phone', PHONE],
      ] as const) {
        await page.setViewportSize(viewport);
        // All but contrast is the same in both colours.
        for (const [colorScheme, rules] of [
          ['light', ''],
          ['dark', "{ runOnly: ['color-contrast'] }"],
        ] as const) {
          await page.emulateMedia({ colorScheme });
          const found = await look(page, rules);
          faults.push(...found.map((fault) => `${path} (${size}, ${colorScheme}): ${fault}`));
          if (path === '/' && colorScheme === 'dark') await picture(page, `start-${size}-dark`);
        }
      }
      for (const width of [1280, 1024]) {
        await page.setViewportSize({ ...DESKTOP, width });
        if (await page.evaluate('document.documentElement.scrollWidth > innerWidth'))
          faults.push(`${path} (${width} pixels): it scrolls sideways`);
      }
    };
    for (const path of paths) await open(path);
    await context.clearCookies();
    await open('/sign-in');
    await context.close();
    assert.deepEqual(faults, []);
  }

  async function look(page: Page, rules: string): Promise<readonly string[]> {
    return page.evaluate(`axe.run(${rules}).then(({ violations }) => [
      ...violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')),
      ...(document.documentElement.scrollWidth > innerWidth ? ['it scrolls sideways'] : []),
    ])`);
  }
});
