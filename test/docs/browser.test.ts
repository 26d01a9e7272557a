import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { testDatabase } from '../helpers/database.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** Of pictures, which are to load fast. */
const SMALL = { width: 1280, height: 800 };
/** Where the pictures go; unset: none is made. */
const PICTURES = process.env.SCREENSHOTS;
const EVERY_COLOUR = ['/first-transfer', '/webhooks', '/reference/transfers', '/reference/bonuses'];
/** Each page in each size, with another colour in each. */
const SIZES = [
  { viewport: DESKTOP, colour: 'light', other: 'dark' },
  { viewport: PHONE, colour: 'dark', other: 'light' },
] as const;
const CONTRAST = "runOnly: ['color-contrast']";

describe('in a browser, the docs', () => {
  let api: TestApi;
  let browser: Browser;
  let paths: readonly string[];

  before(async function () {
    const executablePath = process.env.TEST_CHROMIUM;
    if (executablePath === undefined) return this.skip();
    api = await startTestApi(await testDatabase());
    // Root, which containers have, gets no sandbox.
    browser = await chromium.launch({
      executablePath,
      chromiumSandbox: false,
      args: ['--disable-dev-shm-usage'],
    });
    const index = (await (await fetch(`${api.baseUrl}/docs/assets/search.json`)).json()) as {
      href: string;
    }[];
    paths = [...new Set(index.map(({ href }) => href.split('#')[0] ?? ''))];
    assert.ok(paths.length > 20, paths.join());
  });

  after(async () => {
    await (browser as Browser | undefined)?.close();
    await (api as TestApi | undefined)?.stop();
  });

  /** A page whose faults are gathered: of its scripts, of its policy, of what it fails to load. */
  async function open(
    options: Parameters<Browser['newContext']>[0],
    faults: string[] = [],
  ): Promise<Page> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    page.on('pageerror', (fault) => faults.push(fault.message));
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    page.on('requestfailed', (request) => {
      const fault = request.failure()?.errorText;
      // A page that is left gives up what it still loads.
      if (fault !== 'net::ERR_ABORTED') faults.push(`${request.url()} ${fault}`);
    });
    return page;
  }

  const picture = async (page: Page, name: string): Promise<void> => {
    if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `docs-${name}.png`) });
  };

  /** The faults that axe finds on the page. `rules` are options of axe. */
  const faultsOf = (page: Page, rules = ''): Promise<readonly string[]> =>
    page.evaluate(`axe.run({ resultTypes: ['violations'], ${rules} }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html).join(' ')))`);

  const isSideways = (page: Page): Promise<boolean> =>
    page.evaluate('document.documentElement.scrollWidth > innerWidth');

  it('have no fault that axe finds on a desktop or a phone, with light or dark colours, and never scroll sideways', async () => {
    const faults: string[] = [];
    const page = await open({}, faults);
    for (const [index, path] of paths.entries()) {
      await page.goto(api.baseUrl + path);
      await page.evaluate(AXE);
      // One style sheet colours all pages: those with all kinds of frames and code are judged in every size and colour.
      const isWhole = index === 0 || EVERY_COLOUR.some((one) => path.endsWith(one));
      for (const { viewport, colour, other } of SIZES) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme: colour });
        const found = (await isSideways(page)) ? ['it scrolls sideways'] : [];
        if (isWhole || viewport === DESKTOP) found.push(...(await faultsOf(page)));
        if (isWhole) {
          await page.emulateMedia({ colorScheme: other });
          found.push(...(await faultsOf(page, CONTRAST)));
        }
        faults.push(...found.map((fault) => `${path} at ${viewport.width}: ${fault}`));
      }
    }
    assert.deepEqual(faults, []);
    await page.context().close();
  });

  it('are complete without JavaScript, including the menu on a phone', async () => {
    const page = await open({ viewport: PHONE, javaScriptEnabled: false });
    await page.goto(`${api.baseUrl}/docs`);
    assert.equal(await page.getByRole('link', { name: 'Payouts', exact: true }).isVisible(), false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: 'Payouts', exact: true })
      .click();
    assert.equal(await page.locator('h1').textContent(), 'Payouts');
    await page.context().close();
  });

  it('show the current page in the menu of the reference, however far down it is', async () => {
    for (const viewport of [DESKTOP, PHONE]) {
      const page = await open({ viewport });
      await page.goto(`${api.baseUrl}/docs/reference/webhook-endpoints#testWebhookEndpoint`);
      if (viewport === PHONE) await page.getByRole('button', { name: 'Menu' }).click();
      await page.waitForFunction(`(() => {
        const { top, bottom } = document.querySelector('#menu [aria-current]').getBoundingClientRect();
        return top > 0 && bottom < innerHeight;
      })()`);
      await page.getByRole('link', { name: 'Send a test', exact: true }).first().click();
      await page.context().close();
    }
  });

  it('show a sample in another language without JavaScript, and with it in all tabs and later pages', async () => {
    for (const javaScriptEnabled of [false, true]) {
      const page = await open({ viewport: PHONE, javaScriptEnabled });
      await page.goto(`${api.baseUrl}/docs/reference/transfers`);
      const sample = page.locator('#createTransfer pre', { hasText: 'import urllib.request' });
      assert.equal(await sample.isVisible(), false);
      await page.locator('#createTransfer').getByText('Python', { exact: true }).first().click();
      assert.equal(await sample.isVisible(), true);
      await page.goto(`${api.baseUrl}/docs/webhooks`);
      const receiver = page.locator('pre', { hasText: 'import hmac' });
      assert.equal(await receiver.isVisible(), javaScriptEnabled);
      await page.context().close();
    }
  });

  it('in a browser, a search of the docs for a common synonym shows the matching page first', async () => {
    const page = await open({ viewport: DESKTOP });
    await page.goto(`${api.baseUrl}/docs`);
    const results = page.getByRole('search').getByRole('link');
    for (const [title, words] of Object.entries({
      'A first transfer': ['api key', 'api keys', 'quickstart', 'whoami', 'who am i', 'transfer'],
      Concepts: [
        'pay-in',
        'top up',
        'topup',
        'deposit',
        'currencies',
        'currency',
        'multiple currencies',
        'USD',
      ],
      Testing: [
        'test card',
        'test account numbers',
        'simulate',
        'sandbox',
        'is there a sandbox?',
        'test mode',
      ],
      Accounts: ['delete account', 'rename account'],
      'Payouts › Failures': ['failing payout', 'approval_expired', 'failure codes'],
      'Payouts › How long it takes': ['holiday', 'holidays'],
      Metadata: ['metadata', 'custom fields'],
      'Holds and captures': [
        'preauthorization',
        'partial capture',
        'who may capture',
        'expired hold',
      ],
      Refunds: [
        'refund',
        'partial refund',
        'refund fee',
        'reverse',
        'reversal',
        'reverse a payment',
      ],
      'Concepts › Scopes': ['scopes', 'my scopes'],
      'Concepts › No currency exchange': ['currency exchange', 'how do I convert USD'],
      'Approvals › What waits for your approval': ['list pending approvals', 'pending approval'],
      'Approvals › How it ends': ['statuses', 'transfer states', 'transfer status'],
      'Approvals › Rejections': ['rejection codes'],
      'Approvals › Approve, reject, cancel': ['approve payout', 'how to cancel a payout'],
      'Members, roles and tokens': ['sub-accounts', 'subaccounts'],
      'Members, roles and tokens › GET /me': ['list roles', 'me', '/v1/me', 'GET /me'],
      'Members, roles and tokens › Audit log': ['audit log'],
      'Concepts › Networks': ['network', '$emil'],
      'Concepts › Giving money back': ['undo transfer'],
      'Schedules › Schedule it': ['daylight saving', 'dst'],
      'Limits › Sizes': ['maximum file size'],
      'Limits › How long things are kept': ['data retention', 'retention', 'GDPR'],
      'Reconciliation › What a movement has': ['movement kinds'],
      'Webhooks › Responses and retries': ['webhook retry', 'webhook retries'],
      'Webhooks › Verify before you read': ['replay attack'],
      'Webhooks › Without a response': ['webhook timeout'],
      'Payouts › States': ['payout returned'],
      'Payroll from a file › Withdraw or lapse': ['cancel a batch'],
      'Payroll from a file › The result file': ['download result file'],
      'Webhooks › What arrives': ['webhook ip addresses'],
      'Conventions › What became of a request': ['request id'],
      'Going live › Ask your operator': ['uptime', 'SLA'],
      'Going live': ['production checklist', 'go live'],
      'Concepts › Who opens accounts': ['create account', 'onboarding'],
      'Statements and reports › Other reports': ['balance'],
      Reconciliation: ['movements'],
      'Conventions › Pages': ['pagination', 'limit parameter', 'sort order'],
      Conventions: ['sort', 'sorting', 'filter', 'date range', 'timezone', 'time zone', 'contact'],
      'Idempotency and unknown results': [
        'idempotency',
        'duplicate',
        'retry',
        'timeout',
        '503',
        'idempotency key expiry',
      ],
      'Idempotency and unknown results › What the same request is': ['idempotency after 24 hours'],
      Webhooks: [
        'webhook',
        'webhook signature',
        'missed webhook',
        'duplicate webhook',
        'raw body',
        'callback',
        'hmac',
      ],
      'Clients and tools': [
        'sdk',
        'sdk python',
        'sdk java',
        'c#',
        'dotnet',
        'install',
        'ngrok',
        'local development',
      ],
      'Payroll from a file': ['payroll', 'excel', 'bulk'],
      Payouts: [
        'withdraw',
        'bank account',
        'beneficiary',
        'chargeback',
        'wire',
        'wire transfer',
        'ACH',
      ],
      'Statements and reports': ['statement', 'statement csv', 'export', 'report'],
      Events: ['event types', 'polling'],
      Reference: ['openapi', 'swagger'],
      Errors: ['error codes', 'error 422'],
      'Errors › unauthorized': ['401', 'why do I get 401', 'why do I get a 401?'],
      Limits: ['rate limit', 'monthly limit', 'rounding', 'pricing', '429'],
      Versions: ['deprecation', 'version header', 'breaking changes'],
      'Authentication and permissions': ['authentication', 'authenticate', 'ip allowlist', 'OAuth'],
    }))
      for (const word of words) {
        await page.getByRole('searchbox').fill(word);
        await results
          .first()
          .filter({ has: page.locator('b', { hasText: new RegExp(`^${title}( ›|$)`) }) })
          .waitFor();
      }
    await page.context().close();
  });

  it('are searchable by words, using only the keyboard', async () => {
    const faults: string[] = [];
    const page = await open({ viewport: SMALL }, faults);
    await page.goto(`${api.baseUrl}/docs`);
    await page.keyboard.press('/');
    await page.keyboard.type('unknown resul');
    const results = page.getByRole('search').getByRole('link');
    await results.first().waitFor();
    assert.match((await results.first().textContent()) ?? '', /^Idempotency and unknown results/);
    await page.evaluate(AXE);
    assert.deepEqual(
      await page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))'),
      [],
    );
    await picture(page, 'search');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/idempotency*');
    await page.getByRole('searchbox').fill('insufficent_funds');
    await results.first().waitFor();
    assert.match(
      (await results.first().textContent()) ?? '',
      /insufficient_funds/,
      'in spite of a letter that is missing',
    );
    await page.getByRole('searchbox').fill('transfer');
    await page.getByText(/^First 12 of \d+$/).waitFor();
    await page.getByRole('searchbox').fill('xyzzyxyzzy');
    await page.getByText('Nothing has').waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('status').isVisible(), false);
    assert.deepEqual(faults, []);
    await page.context().close();
  });

  it("keep the chosen colours rather than the system's", async () => {
    const page = await open({ viewport: DESKTOP, colorScheme: 'light' });
    const paper = (): Promise<string> =>
      page.evaluate('getComputedStyle(document.body).backgroundColor');
    await page.goto(`${api.baseUrl}/docs`);
    const light = await paper();
    await page.getByRole('button', { name: 'Dark colours' }).click();
    const dark = await paper();
    assert.notEqual(dark, light);
    await page.goto(`${api.baseUrl}/docs/webhooks`);
    assert.equal(await paper(), dark);
    await page.getByRole('button', { name: 'Light colours' }).click();
    assert.equal(await paper(), light);
    await page.context().close();
  });

  it('have a button that copies each command unchanged', async () => {
    const page = await open({
      viewport: DESKTOP,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.goto(`${api.baseUrl}/docs/first-transfer`);
    await page.getByRole('button', { name: 'Copy' }).first().click();
    const copied: string = await page.evaluate('navigator.clipboard.readText()');
    assert.match(copied, /^export SVC_URL=http:\/\/127\.0\.0\.1:8080\/v1\nexport SVC_TOKEN=/);
    await page.context().close();
  });

  it('in a browser, screenshots of the docs can be taken', async function () {
    if (PICTURES === undefined) return this.skip();
    for (const [name, path, viewport, colorScheme] of [
      ['home', '', SMALL, 'light'],
      ['batches', '/batches', SMALL, 'dark'],
      ['reference', '/reference/transfers', SMALL, 'light'],
      ['phone', '/first-transfer', PHONE, 'light'],
      ['phone-dark', '/limits', PHONE, 'dark'],
    ] as const) {
      const page = await open({ viewport, colorScheme });
      await page.goto(`${api.baseUrl}/docs${path}`);
      await picture(page, name);
      await page.context().close();
    }
  });
});
