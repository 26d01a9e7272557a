import { Transfers } from '../../src/transfers/service.js';
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { operatorActor, listAuditRows, parseDetails } from '../../src/access/audit-log.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { type Staff, staff, type StaffRight } from '../../src/db/entities/staff.js';
import { RailBreakers } from '../../src/payouts/breaker.js';
import { RailCalls } from '../../src/payouts/rail-calls.js';
import { railMetrics } from '../../src/payouts/metrics.js';
import { deactivateStaff, listStaff, setService } from '../../src/staff/people.js';
import { rowRefusal } from '../../src/staff/rules.js';
import { findSession, listOpenSessions } from '../../src/staff/sessions.js';
import { findBySubject, linkSubject, unlinkSubject } from '../../src/staff/subjects.js';
import type { DeskSettings } from '../../src/support/desk.js';
import { waitingRoutes } from '../../src/support/routes.js';
import { sessionRoutes } from '../../src/support/sign-in.js';
import { CALLBACK_PATH, singleSignOnRoutes } from '../../src/support/single-sign-on/routes.js';
import { createSite } from '../../src/support/site.js';
import { createLogging } from '../../src/http/logging.js';
import { Registry } from 'prom-client';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { type TestDatabase, testDatabase } from '../helpers/database.js';
import { DeskBrowser, fieldOf, type Seen } from '../helpers/desk-browser.js';
import { approvalsOf } from '../helpers/guarded.js';
import { startProvider, type TestProvider } from '../helpers/identity-provider.js';
import { addStaff, codeOf, forgetCodes, proven, staffPartsOf } from '../helpers/staff.js';
import { assertLedgerSound } from '../helpers/world.js';
import { Approvals } from '../../src/approvals/service.js';
import { payoutApproval } from '../../src/payouts/decide.js';

const ALL: readonly StaffRight[] = ['read', 'approve', 'cancel', 'manage'];
const BY_GROUP = new Map<string, readonly StaffRight[]>([
  ['support', ['approve', 'pause']],
  ['leads', ['cancel']],
  ['auditors', ['read']],
]);

describe("sign-in by the company's identity provider", () => {
  let db: TestDatabase;
  let api: TestApi;
  let server: Server;
  let home: string;
  let provider: TestProvider;
  let browser: DeskBrowser;
  let person: Staff;
  let count = 0;
  let now: Instant | null = null;
  const lines: string[] = [];

  before(async () => {
    db = await testDatabase();
    api = await startTestApi(db);
    server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    home = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    provider = await startProvider(home + CALLBACK_PATH);
    openWriter();
  });

  beforeEach(async () => {
    openWriter();
    Object.assign(provider, { tamper: null, isForged: false, isAway: false });
    now = null;
    count += 1;
    person = await addStaff(db.database, { name: `Maria ${count}`, rights: ALL });
    provider.person = { subject: `subject-${count}`, name: `maria ${count}` };
    browser = new DeskBrowser(home);
  });

  after(async () => {
    await provider.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await api.stop();
    await assertLedgerSound(db.database);
  });

  const deps = () => staffPartsOf(db.database, () => now ?? systemClock());

  function openWriter(change: Partial<DeskSettings> = {}, withRights = false): void {
    const { core } = api;
    const { database, writer, clock } = core;
    const notifier = { notify: () => undefined };
    const observer = railMetrics(new Registry(), () => undefined);
    const calls = new RailCalls({
      ...{ database, writer, clock, rails: new Map(), observer },
      breakers: new RailBreakers(database, clock),
    });
    const { logger } = createLogging('info', 'api', {
      write: (line: string) => void lines.push(line),
    });
    const { issuer, clientId, clientSecret } = provider;
    const app = createSite({
      deps: {
        ...deps(),
        writer,
        transfers: new Transfers({ writer, database, clock, notifier }),
        transferApprovals: approvalsOf(api),
        payoutApprovals: new Approvals(payoutApproval, { writer, database, clock, notifier }),
        release: { calls, quietMs: () => 0 },
      },
      settings: {
        ...{ url: home, workflowUrl: null, trustedProxies: [], withCode: true },
        provider: {
          ...{
            issuer,
            clientId,
            clientSecret,
            scope: 'openid profile',
            nameClaim: 'preferred_username',
          },
          rights: withRights ? { claim: 'groups', byValue: BY_GROUP } : null,
        },
        ...change,
      },
      logger,
      registry: new Registry(),
      routes: [sessionRoutes, waitingRoutes, singleSignOnRoutes],
    });
    const answer = app.callback();
    server.removeAllListeners('request');
    server.on('request', (request, response) => void answer(request, response));
  }

  const begin = (next = '/'): Promise<Seen> =>
    browser.get(`/sign-in/provider?next=${encodeURIComponent(next)}`);
  const actionOf = ({ text }: Seen): string =>
    /action="(\/sign-in\/provider\/bind[^"]*)"/.exec(text)?.[1] ?? '';
  /** The names of the browser's cookies of sign-ins that are under way. */
  const flows = (kind: 'flow' | 'bind'): string[] =>
    [...browser.cookies.keys()].filter((key) => key.includes(` desk-${kind}-`));
  const bind = async (page: Seen, code: string, origin?: string): Promise<Seen> =>
    browser.post(actionOf(page), { form_token: fieldOf(page, 'form_token'), code }, origin);
  /** The code of the moment, as if none was given before. */
  async function freshCode(of: Staff = person): Promise<string> {
    await forgetCodes(db.sql);
    return codeOf(of);
  }
  async function signedIn(): Promise<Seen> {
    const page = await begin();
    assert.match(page.text, /Is this you/);
    const seen = await bind(page, await freshCode());
    assert.equal(seen.status, 200, seen.text);
    return seen;
  }
  const session = () => findSession(deps(), browser.cookie('desk') ?? '', 'support');
  const isIn = async (): Promise<boolean> => (await browser.once('/')).status === 200;
  /** The callback from the provider to the desk, after it has proven a person. */
  async function callback(): Promise<URL> {
    let url = new URL('/sign-in/provider', home);
    let at: Seen = await browser.once(url.href);
    for (let step = 0; step < 10; step += 1) {
      url = new URL(at.headers.get('location') ?? '', url);
      if (url.pathname === CALLBACK_PATH) return url;
      at = await browser.once(url.href, false);
    }
    throw new Error('the provider never came back');
  }
  const refusals = async (subjectId: string): Promise<unknown[]> =>
    (await listAuditRows(db.database.reader, { subjectId }, 20))
      .filter(({ action }) => action.endsWith('_refused'))
      .map((act) => [act.action, act.channel, parseDetails(act).refused]);
  async function notIn(seen: Seen, status: number, text: RegExp): Promise<void> {
    assert.equal(seen.status, status, seen.text);
    assert.match(seen.text, text);
    assert.equal(browser.cookie('desk'), undefined);
    assert.equal(await isIn(), false);
  }

  it('asks for a code the first time, and from then on lets the account in without one', async () => {
    const seen = await signedIn();
    assert.equal(seen.headers.get('refresh'), '0; url=/');
    assert.equal(await isIn(), true);
    assert.match((await browser.once('/')).text, new RegExp(`Maria ${count}`));
    const own = await session();
    assert.deepEqual(
      [own?.identity.id, own?.identity.rights, own?.session.rights],
      [person.id, ALL, null],
    );
    browser = new DeskBrowser(home);
    const again = await begin('/waiting/transfers');
    assert.deepEqual(
      [again.status, again.headers.get('refresh')],
      [200, '0; url=/waiting/transfers'],
    );
    assert.equal((await session())?.identity.id, person.id);
    const acts = (await listAuditRows(db.database.reader, { subjectId: person.id }, 20)).map(
      ({ action }) => action,
    );
    assert.deepEqual(acts.reverse(), ['staff.set', 'staff.bind', 'staff.sign_in', 'staff.sign_in']);
  });

  it('ends the previous session of the browser, although its cookie is not sent with the callback', async () => {
    await signedIn();
    const before = browser.cookie('desk') ?? '';
    await begin();
    assert.notEqual(browser.cookie('desk'), before);
    assert.equal((await session())?.identity.id, person.id);
    assert.equal(await findSession(deps(), before, 'support'), null);
  });

  it('allows one IPv6 network no more sign-ins than one address', async () => {
    openWriter({ trustedProxies: ['127.0.0.1'] });
    const statuses = [];
    for (let host = 0; host < 22; host += 1) {
      const headers = { 'x-forwarded-for': `2001:db8:1:2:${host}::1` };
      statuses.push(
        (await fetch(`${home}/sign-in/provider`, { redirect: 'manual', headers })).status,
      );
    }
    assert.deepEqual(statuses, [...Array.from({ length: 20 }, () => 302), 429, 429]);
  });

  it("recognises a person whose name at the provider has changed, and never by another person\'s name", async () => {
    await signedIn();
    const other = await addStaff(db.database, { name: `Sofia ${count}`, rights: ['read'] });
    provider.person = { subject: `subject-${count}`, name: other.name };
    browser = new DeskBrowser(home);
    await begin();
    assert.equal((await session())?.identity.id, person.id);
  });

  it('gives no session before the code; a wrong code gives none, counts towards the lock-out, and is recorded once', async () => {
    const page = await begin();
    assert.equal(await isIn(), false);
    const wrong = await bind(page, '000000');
    await notIn(wrong, 401, /is wrong or was used before/);
    assert.deepEqual(await refusals(person.id), [
      ['staff.bind_refused', 'support', 'the code is wrong'],
    ]);
    assert.equal((await db.database.reader.find(staff, { id: person.id }))?.failedCodes, 1);
    assert.equal((await db.database.reader.find(staff, { id: person.id }))?.subjectHash, null);
    const other = await addStaff(db.database, { name: `Sofia ${count}`, rights: ALL });
    await notIn(await bind(page, await freshCode(other)), 401, /is wrong or was used before/);
    const seen = await bind(page, await freshCode());
    assert.equal(seen.status, 200);
    assert.deepEqual([flows('flow'), flows('bind')], [[], []]);
  });

  it('refuses an authenticator code that was used elsewhere', async () => {
    const code = await freshCode();
    const other = new DeskBrowser(home);
    const form = await other.get('/sign-in');
    const fields = { form_token: fieldOf(form, 'form_token'), name: person.name, code, next: '/' };
    assert.equal((await other.post('/sign-in', fields)).status, 303);
    await notIn(await bind(await begin(), code), 401, /is wrong or was used before/);
  });

  it('refuses a form of another site, and one of another sign-in', async () => {
    const page = await begin();
    await notIn(
      await bind(page, await freshCode(), 'http://evil.example'),
      403,
      /began in another browser/,
    );
    // From a neighbour below the same domain strict cookies come along.
    const forged = { form_token: fieldOf(page, 'form_token'), code: await freshCode() };
    await notIn(
      await browser.post(actionOf(page), forged, 'http://neighbour.example', true),
      403,
      /Not accepted/,
    );
    const other = await new DeskBrowser(home).get('/sign-in');
    const fields = { form_token: fieldOf(other, 'form_token'), code: await freshCode() };
    await notIn(await browser.post(actionOf(page), fields), 403, /Not accepted/);
  });

  it('refuses an account that is not of the staff, even with a similar name', async () => {
    for (const name of ['stranger', '', '<script>alert(1)</script>', 'x'.repeat(200), 'a\u202eb']) {
      provider.person = { subject: `stranger-${count}`, name };
      browser = new DeskBrowser(home);
      const seen = await begin();
      await notIn(seen, 403, /no active member of staff has this account/);
      assert(!seen.text.includes('<script>'));
    }
    assert.equal((await refusals('')).length >= 5, true);
  });

  it('refuses a deactivated person, at the provider and with an existing session', async () => {
    await signedIn();
    await deactivateStaff(db.database, systemClock, person, operatorActor('lead'));
    assert.equal(await isIn(), false);
    browser = new DeskBrowser(home);
    await notIn(await begin(), 403, /no active member of staff has this account/);
    assert.match(String(await refusals(person.id)), /is not active staff/);
  });

  it('refuses a second account under the name of a linked person, and a service', async () => {
    await signedIn();
    provider.person = { subject: `thief-${count}`, name: person.name };
    browser = new DeskBrowser(home);
    await notIn(await begin(), 403, /the name is linked to another account/);
    assert.match(String(await refusals(person.id)), /linked to another account/);
    const { service } = await setService(
      deps(),
      { name: `robot ${count}`, rights: ['approve'] },
      operatorActor('lead'),
    );
    provider.person = { subject: `robot-${count}`, name: service.name };
    browser = new DeskBrowser(home);
    await notIn(await begin(), 403, /Not signed in/);
  });

  it('links one account to one person, and one person to one account, under concurrent requests', async () => {
    const subject = (id: string, name = person.name) => ({
      ...{ issuer: provider.issuer, subject: `${id}-${count}`, name, rights: null },
    });
    const other = await addStaff(db.database, { name: `Sofia ${count}`, rights: ALL });
    await forgetCodes(db.sql);
    const raced = await Promise.all([
      linkSubject(deps(), person, subject('one'), codeOf(person)),
      linkSubject(deps(), other, subject('one', other.name), codeOf(other)),
    ]);
    assert.equal(raced.filter((one) => 'refusal' in one).length, 1);
    const bound = (await listStaff(db.database.reader)).filter(
      ({ subjectHash }) => subjectHash !== null,
    );
    const winner = bound.filter(({ id }) => id === person.id || id === other.id);
    assert.equal(winner.length, 1);
    const [first] = winner;
    assert(first !== undefined);
    await forgetCodes(db.sql);
    const second = await linkSubject(deps(), first, subject('two', first.name), codeOf(first));
    assert('refusal' in second);
    const found = await findBySubject(deps(), subject('one', 'anybody'));
    assert(found.found === 'person' && found.identity.id === first.id);
  });

  for (const [what, claims] of [
    ['another nonce', { nonce: 'another' }],
    ['another audience', { aud: 'another-client' }],
    ['another issuer', { iss: 'http://localhost:1' }],
    [
      'a time that is over',
      { exp: Math.floor(Date.now() / 1_000) - 60, iat: Math.floor(Date.now() / 1_000) - 120 },
    ],
    ['no subject', { sub: undefined }],
    ['no nonce', { nonce: undefined }],
    ['the signature of another key', null],
  ] as const)
    it(`refuses an ID token with ${what}`, async () => {
      if (claims === null) provider.isForged = true;
      else provider.tamper = (own) => ({ ...own, ...claims });
      await notIn(await begin(), 403, /did not identify you/);
    });

  it('accepts an ID token that is signed again with the same content, so the refusals above are for the content', async () => {
    provider.tamper = (own) => own;
    assert.match((await begin()).text, /Is this you/);
  });

  it('refuses a callback with another state, without a state, or with an error', async () => {
    for (const change of [
      (query: URLSearchParams) => query.set('state', 'another'),
      (query: URLSearchParams) => query.delete('state'),
      (query: URLSearchParams) => query.append('state', 'another'),
      (query: URLSearchParams) => query.set('iss', 'http://localhost:1'),
      (query: URLSearchParams) => query.set('code', 'another'),
      (query: URLSearchParams) => {
        query.delete('code');
        query.set('error', 'access_denied');
      },
    ]) {
      browser = new DeskBrowser(home);
      const url = await callback();
      change(url.searchParams);
      await notIn(
        await browser.once(url.href, false),
        403,
        /did not identify you|began in another browser/,
      );
    }
  });

  it('works in several tabs of a browser at once, also the first time', async () => {
    const urls = [await callback(), await callback(), await callback()];
    const pages = [];
    for (const url of [urls[1]!, urls[0]!]) pages.push(await browser.once(url.href, false));
    for (const page of pages) {
      assert.match(page.text, /Is this you/);
      assert.equal((await bind(page, await freshCode())).status, 200);
      assert.equal(await isIn(), true);
    }
    assert.equal((await browser.once(urls[2]!.href, false)).headers.get('refresh'), '0; url=/');
    assert.deepEqual([flows('flow'), flows('bind')], [[], []]);
  });

  it('keeps the latest sign-ins of a browser, so that its cookies stay few', async () => {
    const urls = [];
    for (let tab = 0; tab < 9; tab += 1) urls.push(await callback());
    assert.equal(flows('flow').length, 6);
    await notIn(await browser.once(urls[2]!.href, false), 403, /began in another browser/);
    assert.match((await browser.once(urls[3]!.href, false)).text, /Is this you/);
  });

  it('refuses a callback that is repeated, comes from another browser, or arrives after ten minutes', async () => {
    const url = await callback();
    const [name = ''] = flows('flow');
    const flow = browser.cookies.get(name);
    assert(flow !== undefined);
    assert.match((await browser.once(url.href, false)).text, /Is this you/);
    await notIn(await browser.once(url.href, false), 403, /began in another browser/);
    // With the cookie that it came with, put back: the provider knows that the code was used.
    browser.cookies.set(name, flow);
    await notIn(await browser.once(url.href, false), 403, /did not identify you/);
    const fresh = await callback();
    await notIn(
      await new DeskBrowser(home).once(fresh.href, false),
      403,
      /began in another browser/,
    );
    now = instant(Date.now() + 600_001);
    openWriter();
    await notIn(await browser.once(fresh.href, false), 403, /more than ten minutes ago/);
  });

  it('accepts neither a sealed cookie in place of another cookie nor a changed one', async () => {
    await begin();
    const bindCookie = browser.cookies.get(flows('bind')[0] ?? '');
    await callback();
    const other = browser.cookies.get(flows('flow')[0] ?? '');
    assert(bindCookie !== undefined && other !== undefined);
    browser.cookies.clear();
    const url = await callback();
    const [name = ''] = flows('flow');
    const own = browser.cookies.get(name)?.value ?? '';
    const flipped = `${own.slice(0, 40)}${own[40] === 'A' ? 'B' : 'A'}${own.slice(41)}`;
    for (const value of [
      bindCookie.value,
      other.value,
      flipped,
      own.slice(0, -4),
      '',
      'AA',
      '____',
    ]) {
      browser.cookies.set(name, { value, isStrict: false });
      assert.equal((await browser.once(url.href, false)).status, 403);
    }
  });

  it('redirects only to pages of the desk', async () => {
    await signedIn();
    for (const next of [
      ...['https://evil.example/', '//evil.example', '/\\evil.example', '/sign-in'],
      ...['javascript:alert(1)', '/; url=https://evil.example'],
      ...['/\r\nLocation: https://evil.example', '/.evil.example'],
    ])
      assert.equal((await begin(next)).headers.get('refresh'), '0; url=/', next);
    openWriter();
    assert.equal((await begin('/transfers/0190')).headers.get('refresh'), '0; url=/transfers/0190');
  });

  it('shows on a separate page that the provider is unavailable; name and code still work', async () => {
    provider.isAway = true;
    openWriter();
    await notIn(await begin(), 503, /does not answer now.*sign in with your name and a code/s);
    provider.isAway = false;
    const url = await callback();
    provider.isAway = true;
    await notIn(await browser.once(url.href, false), 503, /does not answer now/);
    const form = await browser.get('/sign-in');
    const fields = {
      form_token: fieldOf(form, 'form_token'),
      name: person.name,
      code: await freshCode(),
      next: '/',
    };
    assert.equal((await browser.post('/sign-in', fields)).status, 303);
    assert.equal(await isIn(), true);
  });

  it('is the only way in if name and code are switched off, and no way without a provider', async () => {
    openWriter({ withCode: false });
    const page = await browser.get('/sign-in');
    assert(!page.text.includes('name="code"'));
    assert.match(page.text, /href="\/sign-in\/provider\?next=%2F"/);
    const other = await new DeskBrowser(home).get('/sign-in');
    assert.equal(other.status, 200);
    const fields = { form_token: 'x', name: person.name, code: await freshCode(), next: '/' };
    await notIn(await browser.post('/sign-in', fields), 404, /does not exist/);
    await signedIn();
    openWriter({ provider: null });
    const without = await new DeskBrowser(home).get('/sign-in');
    assert.match(without.text, /name="code"/);
    assert(!without.text.includes('/sign-in/provider'));
    for (const path of ['/sign-in/provider', `${CALLBACK_PATH}?code=x&state=y`])
      assert.equal((await new DeskBrowser(home).once(path)).status, 404);
  });

  it('limits a session to rights that both the person and a group have, and opens none without a right', async () => {
    openWriter({}, true);
    const own = provider.person;
    assert(own !== null);
    provider.person = { ...own, groups: ['support', 'unheard-of'] };
    await signedIn();
    const first = await session();
    assert.deepEqual(first?.identity.rights, ['approve']);
    const row = await db.database.reader.find(staff, { id: person.id });
    assert.equal(rowRefusal('transfer.approve', first.identity, row), null);
    assert.match(
      rowRefusal('transfer.cancel', first.identity, row)?.message ?? '',
      /lacks the right to cancel/,
    );
    provider.person = { ...own, groups: ['leads', 'support'] };
    browser = new DeskBrowser(home);
    await begin();
    assert.deepEqual((await session())?.identity.rights, ['approve', 'cancel']);
    for (const groups of [[], ['unheard-of'], ['Support']]) {
      provider.person = { ...own, groups };
      browser = new DeskBrowser(home);
      await notIn(await begin(), 403, /none of its groups gives a right/);
    }
  });

  it("lets a manager unlink an account: its sessions end, and only the person\'s code links a new one", async () => {
    await signedIn();
    const lead = proven(await addStaff(db.database, { name: `Lead ${count}`, rights: ['manage'] }));
    const clerk = proven(
      await addStaff(db.database, { name: `Clerk ${count}`, rights: ['approve'] }),
    );
    await assert.rejects(unlinkSubject(deps(), person, clerk), /lacks the right to manage/);
    assert.equal(await unlinkSubject(deps(), person, lead), true);
    assert.equal(await unlinkSubject(deps(), person, lead), false);
    assert.equal(await isIn(), false);
    assert.equal(
      (await listOpenSessions(db.database.reader, systemClock())).some(
        ({ name }) => name === person.name,
      ),
      false,
    );
    provider.person = { subject: `new-${count}`, name: person.name };
    browser = new DeskBrowser(home);
    await signedIn();
  });

  it('brings a real browser back from the provider signed in, whose strict cookies no other site has sent', async function () {
    const executablePath = process.env.TEST_CHROMIUM;
    if (executablePath === undefined) return this.skip();
    const chrome = await chromium.launch({ executablePath, chromiumSandbox: false });
    try {
      const page = await chrome.newPage();
      await page.goto(`${home}/waiting/transfers`);
      await page.getByRole('link', { name: "Sign in with your company's account" }).click();
      await page.getByLabel(/^Code/).fill(await freshCode());
      await page.getByRole('button', { name: 'This is me' }).click();
      await page.waitForURL(`${home}/waiting/transfers`);
      await page.getByText(person.name, { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('link', { name: "Sign in with your company's account" }).click();
      await page.waitForURL(`${home}/`);
      await page.getByText(person.name, { exact: true }).waitFor();
    } finally {
      await chrome.close();
    }
  });

  it('logs no code, token, name or subject', () => {
    const all = lines.join('');
    assert.match(all, /has not identified a person/);
    for (const secret of ['subject-', 'Maria', 'maria', 'code=', provider.clientSecret, 'eyJ'])
      assert(!all.includes(secret), secret);
  });
});
