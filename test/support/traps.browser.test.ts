import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { idFromDigest, type Uuid } from '../../src/core/ids.js';
import type { Staff } from '../../src/db/entities/staff.js';
import { revokeSessions } from '../../src/staff/sessions.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { idLiteral, LEAST, text } from '../helpers/bank.js';
import { ownDatabase, type TestDatabase } from '../helpers/database.js';
import { type GuardedBank, openGuarded } from '../helpers/guarded.js';
import { proven } from '../helpers/staff.js';
import { DESKTOP, fillSignIn, openBrowser, signInAt } from './browser.js';
import { copyRows, startTestDesk, type TestDesk } from './desk.js';

const PAGE = 25;

describe('in a browser, the traps of the support desk', () => {
  let db: TestDatabase;
  let api: TestApi;
  let desk: TestDesk;
  let browser: Browser;
  let maria: Staff;
  let own: GuardedBank;

  before(async function () {
    const chromium = await openBrowser();
    if (chromium === null) return this.skip();
    browser = chromium;
    // A database of its own, because the auditor would report the copied rows.
    db = await ownDatabase('browser_traps');
    api = await startTestApi(db);
    desk = await startTestDesk(db);
    maria = await desk.hire('maria');
    own = await openGuarded(api);
  });

  after(async () => {
    await (browser as Browser | undefined)?.close();
    await (desk as TestDesk | undefined)?.stop();
    await (api as TestApi | undefined)?.stop();
  });

  let opened = 0;
  /** Opens a browser with an address of its own, because sign-ins are counted by address. */
  const newPage = async (options = {}): Promise<Page> => {
    const extraHTTPHeaders = { 'x-forwarded-for': `10.9.${(opened += 1)}.1` };
    const context = await browser.newContext({ viewport: DESKTOP, extraHTTPHeaders, ...options });
    return context.newPage();
  };

  for (const javaScriptEnabled of [true, false])
    it(`a session that ends while a form is open keeps what was written, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
      const id = text((await own.createPending()).id);
      const page = await newPage({ javaScriptEnabled });
      await signInAt(page, desk, maria);
      await page.goto(`${desk.url}/transfers/${id}`);
      await page.locator('summary', { hasText: 'Approve' }).click();
      const form = page.locator('details[open] form');
      await form.getByLabel('Reason').fill('Asked for in ticket 118 — ñ');
      await form.getByLabel('Code').fill('123456');
      await revokeSessions(desk.core, { staffId: maria.id }, proven(maria));
      await form.getByRole('button').click();
      await page.waitForURL(/sign-in/);
      assert.match(await page.locator('main').innerText(), /Your session has ended, and nothing/);
      await fillSignIn(page, desk, maria);
      assert.equal(new URL(page.url()).pathname, `/transfers/${id}/approve`);
      assert.equal(await form.getByLabel('Reason').inputValue(), 'Asked for in ticket 118 — ñ');
      assert.equal(await form.getByLabel('Code').inputValue(), '');
      assert.equal((await own.read(id)).status, 'pending_approval');
      await form.getByLabel('Code').fill(await desk.freshCode(maria));
      await form.getByRole('button').click();
      assert.match((await page.getByRole('status').textContent()) ?? '', /Approved\./);
      await page.goto(`${desk.url}/transfers/${id}/reject`);
      assert.equal(await page.locator('details[open]').count(), 0, 'a form that is not offered');
      await page.context().close();
    });

  it('Back leads to a form whose mistake was corrected, and sends nothing again', async () => {
    const id = text((await own.createPending()).id);
    const page = await newPage();
    await page.goto(`${desk.url}/transfers/${id}/approve`);
    await page.getByLabel('Name').fill(maria.name);
    await page.getByLabel('Code').fill('000000');
    await page.getByRole('button', { name: 'Sign in' }).click();
    assert.equal(await page.getByLabel('Name').inputValue(), maria.name);
    await fillSignIn(page, desk, maria);
    const form = page.locator('details[open] form');
    await form.getByLabel('Reason').fill('Asked for');
    for (const code of ['000000', await desk.freshCode(maria)]) {
      await form.getByLabel('Code').fill(code);
      await form.getByRole('button').click();
    }
    assert.match((await page.getByRole('status').textContent()) ?? '', /Approved\./);
    const methods: string[] = [];
    page.on('request', (request) => methods.push(request.method()));
    await page.goBack();
    assert.equal(new URL(page.url()).pathname, `/transfers/${id}/approve`);
    assert.match((await page.getByRole('alert').textContent()) ?? '', /not possible now/);
    await page.goBack();
    assert.equal(await page.locator('h1').textContent(), 'Transfer of 10,000.00 COPM');
    assert(!methods.includes('POST'), 'a form was sent again');
    await page.context().close();
  });

  it('the content has its width before the end of the page has arrived', async () => {
    const page = await newPage();
    await signInAt(page, desk, maria);
    const width = async (): Promise<number | undefined> =>
      (await page.locator('main').boundingBox())?.width;
    const whole = await width();
    await page.locator('footer').evaluate((footer) => {
      footer.remove();
    });
    assert.equal(await width(), whole);
    await page.context().close();
  });

  it('a note keeps its lines when the session ends, and whoever takes an item is named in the title of its page', async () => {
    const id = text((await own.createPending()).id);
    const page = await newPage();
    await signInAt(page, desk, maria);
    await page.goto(`${desk.url}/transfers/${id}`);
    await page.locator('summary', { hasText: 'Add a note' }).click();
    const note = page.locator('details[open]').getByLabel('Note');
    await note.fill('They called.\n\nThey call again.');
    await revokeSessions(desk.core, { staffId: maria.id }, proven(maria));
    await page.getByRole('button', { name: 'Add a note' }).click();
    await page.waitForURL(/sign-in/);
    await fillSignIn(page, desk, maria);
    assert.equal(await note.inputValue(), 'They called.\n\nThey call again.');
    await page.getByRole('button', { name: 'Add a note' }).click();
    await page.getByRole('status').waitFor();
    const notes = page.getByRole('region', { name: 'Notes' });
    assert.match(
      await notes.innerText(),
      /maria\s+20\S+ [^\n]*\s+They called\.\s+They call again\./,
    );
    await page.getByRole('button', { name: 'Take it' }).click();
    assert.match(await page.locator('.title').innerText(), /taken by maria since 20/);
    await page.getByRole('button', { name: 'Release it' }).click();
    assert.doesNotMatch(await page.locator('.title').innerText(), /taken/);
    await page.context().close();
  });

  it('a form of a session that another tab has replaced is refused, and can be opened again with what was written', async () => {
    const id = text((await own.createPending()).id);
    const page = await newPage();
    await signInAt(page, desk, maria);
    await page.goto(`${desk.url}/transfers/${id}/reject`);
    await page.locator('details[open]').getByLabel('Reason').fill('Not theirs');
    const other = await page.context().newPage();
    await other.goto(`${desk.url}/`);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await fillSignIn(other, desk, maria);
    await page.locator('details[open] button').click();
    await page.getByRole('link', { name: 'Open the form again' }).click();
    assert.equal(
      await page.locator('details[open]').getByLabel('Reason').inputValue(),
      'Not theirs',
    );
    await page.locator('details[open] button').click();
    assert.match((await page.getByRole('status').textContent()) ?? '', /Rejected\./);
    await page.context().close();
  });

  it('the address of every page leads to it after sign-in, with its filter, its text, and its open form', async () => {
    const id = text((await own.createPending()).id);
    for (const path of [
      '/waiting/transfers?tenant=acme+%26+co&amount=1%2C500.00&asset=COPM',
      '/search?text=a+%22quoted%22+text',
      `/transfers/${id}/approve`,
    ]) {
      const page = await newPage();
      await page.goto(desk.url + path);
      await fillSignIn(page, desk, maria);
      assert.equal(page.url(), desk.url + path);
      if (path.endsWith('approve'))
        assert.equal(await page.locator('details[open]').getByLabel('Code').count(), 1);
      await page.context().close();
    }
  });

  it('names that are written from right to left stay on their side of a payment', async () => {
    const arabic = await own.bank.account({ name: 'محمد' });
    const id = text((await own.createPending({ description: 'דמי שכירות' })).id);
    await db.sql(`UPDATE accounts SET name='فاطمة 2' WHERE id=${idLiteral(own.guarded.id)}`);
    await db.sql(
      `UPDATE transfers SET destination_account_id=${idLiteral(arabic.id)} WHERE id=${idLiteral(id)}`,
    );
    const page = await newPage();
    await signInAt(page, desk, maria);
    await page.goto(`${desk.url}/waiting/transfers`);
    const names = page.locator('tr', { has: page.locator(`a[href*="${id}"]`) }).locator('bdi');
    const [from, to] = await Promise.all([
      names.filter({ hasText: 'فاطمة' }).boundingBox(),
      names.filter({ hasText: 'محمد' }).boundingBox(),
    ]);
    assert(from !== null && to !== null);
    assert(from.x + from.width < to.x, 'the payer stands after the recipient');
    await page.goto(`${desk.url}/accounts/${arabic.id}`);
    assert.match(await page.title(), /^Account of محمد – Support desk$/);
    await page.context().close();
  });

  /** Copies a waiting transfer, each copy expiring a second after the one before. */
  async function copyPending(count: number): Promise<readonly Uuid[]> {
    const first = text((await own.createPending({ raw: 7_000_000n })).id) as Uuid;
    const ids = Array.from({ length: count }, (_, n) =>
      idFromDigest(Date.now() + n, randomBytes(16)),
    );
    const later = { expires_at: 't.expires_at+INTERVAL copy.n SECOND' };
    await copyRows(db, 'transfers', `t.id=${idLiteral(first)}`, ids, {
      id: 'copy.id',
      approval_expires_at: 't.approval_expires_at+INTERVAL copy.n SECOND',
    });
    await copyRows(db, 'holds', `t.resource_id=${idLiteral(first)}`, ids, {
      resource_id: 'copy.id',
      ...later,
    });
    return [first, ...ids];
  }

  it('the key N follows the filter and the page of the list, also from its ninth page', async () => {
    const ids = await copyPending(9 * PAGE);
    await (await openGuarded(api)).createPending({ raw: 8_000_000n });
    const page = await newPage();
    await signInAt(page, desk, maria);
    const { name } = own.bank.tenant.tenant;
    await page.goto(
      `${desk.url}/waiting/transfers?${new URLSearchParams({ tenant: name, amount: '70,000', asset: 'COPM' }).toString()}`,
    );
    for (let number = 2; number <= 9; number += 1) {
      const before = page.url();
      await page.getByRole('link', { name: 'Next page' }).click();
      await page.waitForURL((url) => url.href !== before);
    }
    const list = page.url();
    const current = (): string => new URL(page.url()).pathname.replace('/transfers/', '');
    for (const id of ids.slice(8 * PAGE, 8 * PAGE + 3)) {
      await page.keyboard.press('n');
      await page.waitForURL((url) => url.pathname === `/transfers/${id}`);
    }
    await page.keyboard.press('a');
    await page.keyboard.type('Asked for in ticket 118');
    await page.keyboard.press('Tab');
    await page.keyboard.type(await desk.freshCode(maria));
    const shown = page.waitForEvent('framenavigated');
    await page.keyboard.press('Enter');
    // The copies have no money on hold, so the approval is refused; the place in the list stays.
    await shown;
    await page.waitForLoadState();
    await page.locator('body').press('n');
    await page.waitForURL((url) => url.pathname === `/transfers/${ids[8 * PAGE + 3]}`);
    await page.getByRole('link', { name: 'Transfers to approve' }).click();
    await page.waitForURL(list);
    await page.goto(`${desk.url}/transfers/${ids.at(-1)}${new URL(list).search}&in=transfers`);
    await page.keyboard.press('n');
    await page.getByText('That was the last item of this list').waitFor();
    assert.equal(current(), ids.at(-1));
    await page.getByRole('link', { name: 'Back to the first' }).click();
    await page.waitForURL((url) => url.pathname === `/transfers/${ids[0]}`);
    await page.context().close();
  });

  it('a screen of 900 pixels shows at least twelve rows of a list', async () => {
    await copyPending(PAGE);
    await db.sql(`UPDATE tenants SET name=CONCAT('Acme ', LOWER(HEX(RIGHT(id, 2))))`);
    await db.sql(`UPDATE transfers SET description=REPEAT('Invoice 2231, November. ', 5)`);
    const page = await newPage();
    await signInAt(page, desk, maria);
    await page.goto(`${desk.url}/waiting/transfers`);
    const boxes = await Promise.all(
      (await page.locator('tbody tr').all()).map((row) => row.boundingBox()),
    );
    const seen = boxes.filter((box) => box !== null && box.y + box.height <= DESKTOP.height);
    assert(seen.length >= 12, `${seen.length} rows`);
    await page.context().close();
  });

  it('a page is printed without its forms, buttons and keys', async () => {
    const id = text((await own.createPending()).id);
    const { guarded: from, receiver: to } = own;
    const sent = text((await own.bank.sent({ from, to, raw: LEAST })).id);
    const page = await newPage({ colorScheme: 'dark' });
    await signInAt(page, desk, maria);
    for (const path of [`/transfers/${id}`, `/transfers/${sent}`]) {
      await page.goto(`${desk.url}${path}/note`);
      await page.locator('details[open]').getByLabel('Note').fill('Seen by two people');
      await page.getByRole('button', { name: 'Add a note' }).click();
      await page.getByRole('status').waitFor();
    }
    const controls = page.locator(
      'form, input, select, button, summary, nav, header, footer, .skip, a[rel=next], a[href$="/resend"]',
    );
    const PRINTED =
      /Printed by maria at [^+]* UTC-05:00\..*Filter: amount 1\.\.\. \d+ rows? on this page[^]*pending approval/;
    for (const [path, shown] of [
      ['/waiting/transfers?amount=1..', PRINTED],
      [`/transfers/${id}`, /pending approval[^]*Seen by two people/],
      [`/transfers/${sent}`, /completed[^]*Seen by two people[^]*transfer\.completed/],
    ] as const) {
      await page.emulateMedia({ media: 'screen' });
      await page.goto(desk.url + path);
      assert((await controls.filter({ visible: true }).count()) > 0);
      assert.equal(await page.getByText('Printed by').filter({ visible: true }).count(), 0);
      await page.emulateMedia({ media: 'print' });
      assert.equal(await controls.filter({ visible: true }).count(), 0, path);
      const printed = await page.locator('main').innerText();
      assert.match(printed, shown);
      assert.doesNotMatch(printed, /Reverse the order/);
      // Paper is light, also from a dark screen.
      const card = await page.evaluate(
        "getComputedStyle(document.documentElement).getPropertyValue('--card').trim()",
      );
      assert.equal(card, '#ffffff');
    }
    await page.context().close();
  });

  it('an open form has an address, and Escape leaves a field, so that keys work again', async () => {
    const id = text((await own.createPending()).id);
    const page = await newPage();
    await signInAt(page, desk, maria);
    const path = `${desk.url}/transfers/${id}`;
    await page.goto(`${path}?in=transfers&tenant=x`);
    await page.locator('body').press('a');
    const place = '?in=transfers&tenant=x';
    await page.waitForURL(({ href }) => href === `${path}/approve${place}`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    assert.equal(await page.evaluate('document.activeElement.name'), 'text');
    await page.reload();
    await page.locator('details[open] summary', { hasText: 'Approve' }).click();
    await page.waitForURL(({ href }) => href === path + place);
    await page.context().close();
  });

  it('the keys of a single letter can be turned off and on again', async () => {
    const id = text((await own.createPending()).id);
    const page = await newPage();
    await signInAt(page, desk, maria);
    await page.goto(`${desk.url}/transfers/${id}`);
    await page.getByRole('button', { name: 'Turn the keys off' }).click();
    await page.reload();
    await page.locator('body').press('a');
    assert.equal(await page.locator('details[open]').count(), 0);
    await page.getByRole('button', { name: 'Turn the keys on' }).click();
    await page.locator('body').press('a');
    assert.equal(await page.locator('details[open]').count(), 1);
    await page.context().close();
  });

  it('a selection shows its number and its sum in each asset before it is sent, also if all of the page is selected', async () => {
    const other = await openGuarded(api);
    await other.setPolicy({ asset: 'DUSD' });
    for (const wanted of [{ raw: 123_456_705n }, { raw: 2_000_000n }])
      await other.createPending(wanted);
    await other.createPending({ asset: 'DUSD', raw: 5_000_001n });
    const page = await newPage();
    await signInAt(page, desk, maria);
    const query = new URLSearchParams({ tenant: other.bank.tenant.tenant.name }).toString();
    await page.goto(`${desk.url}/waiting/transfers?${query}`);
    const selected = page.locator('#set output');
    const choose = (amount: string): Promise<void> =>
      page.locator('tr', { hasText: amount }).getByRole('checkbox').click();
    assert.equal(await selected.textContent(), '');
    await choose('1,234,567.05 COPM');
    await choose('20,000.00 COPM');
    assert.equal(await selected.textContent(), '2 selected, in total 1,254,567.05 COPM');
    await choose('20,000.00 COPM');
    await choose('5.000001 DUSD');
    const both = '2 selected, in total 1,234,567.05 COPM and 5.000001 DUSD';
    assert.equal(await selected.textContent(), both);
    await page.getByRole('link', { name: 'Select all on this page' }).click();
    await selected.filter({ hasText: '3 selected, in total 1,254,567.05 COPM' }).waitFor();
    await page.context().close();
  });

  it('a list refreshes by itself, but not while something is selected or written on it', async () => {
    const page = await newPage();
    await page.clock.install();
    await signInAt(page, desk, maria);
    await page.goto(`${desk.url}/waiting/transfers`);
    const rows = page.locator('tbody tr');
    const before = await page.title();
    const count = (await page.locator('p.soft', { hasText: 'in total' }).textContent()) ?? '';
    const link = page.locator('tbody a').first();
    await link.focus();
    await own.createPending({ raw: 9_000_000n });
    await page.clock.runFor(16_000);
    const total = page.locator('p.soft', { hasText: 'in total' });
    await total.filter({ hasNotText: count }).waitFor();
    assert.notEqual(await page.title(), before);
    assert.equal(await page.evaluate('document.activeElement.matches("tbody a")'), true);
    await rows.first().getByRole('checkbox').check();
    const selected = await page.title();
    await own.createPending({ raw: 9_000_000n });
    await page.clock.runFor(31_000);
    assert.equal(await rows.first().getByRole('checkbox').isChecked(), true);
    assert.equal(await page.title(), selected);
    await page.context().close();
  });
});
