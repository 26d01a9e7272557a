import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import { type Instant, instant } from '../../src/core/instant.js';
import { deactivateStaff } from '../../src/staff/people.js';
import { revokeSessions } from '../../src/staff/sessions.js';
import { proven } from '../helpers/staff.js';
import { testDatabase } from '../helpers/database.js';
import { TEST_ACTOR } from '../helpers/world.js';
import { formOf, startTestDesk, Visitor } from './desk.js';

const MINUTE_MS = 60_000;

const moved = { ms: 0 };
const clock = (): Instant => instant(Date.now() + moved.ms);
const db = await testDatabase();
const desk = await startTestDesk(db, {}, clock);

describe('signing in at the support desk', () => {
  let count = 0;
  const name = (): string => `somebody ${(count += 1)}`;

  beforeEach(() => (moved.ms = 0));

  const isIn = async (visitor: Visitor): Promise<boolean> =>
    (await visitor.get('/')).status === 200;
  const refusals = async (): Promise<number> =>
    Number(
      (await db.sql(`SELECT COUNT(*) AS n FROM audit_log WHERE action='staff.sign_in_refused'`))[0]
        ?.n,
    );

  it('shows only the form to anybody not signed in, and leads back to the requested page', async () => {
    const stranger = new Visitor(desk.url, await desk.hire(name()));
    for (const path of [
      ...['/', '/search?text=a', '/transfers/01a1feef-38a9-7169-8296-3070b51f3af4'],
      ...['/waiting/stuck'],
    ]) {
      const { status, headers, text } = await stranger.get(path);
      const next = encodeURIComponent(path);
      assert.deepEqual(
        [status, headers.get('location'), text],
        [303, `/sign-in?next=${next}`, ''],
        path,
      );
    }
    for (const [site, isLink] of [
      ...[['none', false] as const, ['same-origin', false] as const, ['cross-site', true] as const],
    ]) {
      const headers = { 'sec-fetch-site': site };
      const { text } = await stranger.request('GET', '/sign-in?next=/tenants', { headers });
      assert.match(text, /Sign in to open this page\./, site);
      assert.equal(text.includes('link from another site'), isLink, site);
    }
    const acted = await stranger.post('/transfers/01a1feef-38a9-7169-8296-3070b51f3af4/approve', {
      reason: 'a',
    });
    assert.equal(acted.status, 303);
    for (const next of [
      '/waiting/transfers?tenant=acme+%26+co&after=1.2',
      '/search?text=a',
      '/payout_batches/01a1fef7-8cc4-733d-8c26-f336fbbaebca/rows?status=failed',
      `/waiting/transfers/approve?${Array.from({ length: 25 }, () => `item=${newId()}`).join('&')}`,
    ])
      assert.equal(
        formOf((await stranger.get(`/sign-in?next=${encodeURIComponent(next)}`)).text, '/sign-in')
          .fields.next,
        next.replaceAll('&', '&amp;'),
      );
    for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', '/%2f%2fevil'])
      assert.equal(
        formOf((await stranger.get(`/sign-in?next=${encodeURIComponent(next)}`)).text, '/sign-in')
          .fields.next,
        '/',
      );
  });

  it("creates a session with a new id, and ends the browser's previous session", async () => {
    const visitor = await desk.staffed(name());
    const first = visitor.cookies.get('desk') ?? '';
    assert.match(first, /^sst_[A-Za-z0-9_-]{43}$/);
    const planted = new Visitor(desk.url, visitor.person);
    planted.cookies.set('desk', 'sst_' + 'A'.repeat(43));
    assert.equal(await isIn(planted), false);
    await planted.signIn(await desk.freshCode(planted.person));
    assert.notEqual(planted.cookies.get('desk'), 'sst_' + 'A'.repeat(43));
    // Signed in already, and once more by the form of before.
    const { fields } = formOf(
      (await new Visitor(desk.url, visitor.person).get('/sign-in')).text,
      '/sign-in',
    );
    assert.equal((await visitor.get('/sign-in')).status, 303);
    const again = new Visitor(desk.url, visitor.person);
    const form = formOf((await again.get('/sign-in')).text, '/sign-in').fields;
    again.cookies.set('desk', first);
    const code = await desk.freshCode(visitor.person);
    assert.equal(
      (await again.post('/sign-in', { ...form, name: visitor.person.name, code })).status,
      303,
    );
    assert.notEqual(again.cookies.get('desk'), first);
    assert.equal(await isIn(visitor), false, 'the session of before goes on');
    assert.equal(await isIn(again), true);
    assert.notDeepEqual(fields, form);
  });

  it('sets a cookie that no script reads and no other site sends, over TLS only for this host', async () => {
    const visitor = new Visitor(desk.url, await desk.hire(name()));
    const answer = await visitor.signIn(await desk.freshCode(visitor.person));
    assert.match(
      answer.headers.getSetCookie()[0] ?? '',
      /^desk=sst_[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800$/,
    );
    const secure = await startTestDesk(db, { SUPPORT_URL: 'https://desk.example' });
    try {
      const other = new Visitor(secure.url, visitor.person);
      const signed = await other.signIn(await desk.freshCode(visitor.person));
      assert.match(
        signed.headers.getSetCookie()[0] ?? '',
        /^__Host-desk=sst_[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800; Secure$/,
      );
      const session = other.cookies.get('__Host-desk') ?? '';
      other.cookies.clear();
      other.cookies.set('desk', session);
      assert.equal(await isIn(other), false, 'a cookie that another host may have set');
    } finally {
      await secure.stop();
    }
  });

  it('shows the same message for a wrong name and a wrong code, and records each attempt once', async () => {
    const known = new Visitor(desk.url, await desk.hire(name()));
    const before = await refusals();
    const texts = [
      await known.signIn('000000'),
      await known.signIn(await desk.freshCode(known.person), 'nobody at all'),
      await known.signIn('', known.person.name),
    ].map(({ status, text }) => [status, text.replaceAll(/value="[^"]*"/g, '')]);
    assert.equal(new Set(texts.map(String)).size, 1);
    assert.equal(texts[0]?.[0], 401);
    assert.equal(await refusals(), before + 3);
    assert.equal(known.cookies.has('desk'), false);
  });

  it('keeps the name after a wrong code', async () => {
    const visitor = new Visitor(desk.url, await desk.hire(name()));
    const { text } = await visitor.signIn('000000', 'Rosa & Co');
    assert.match(text, /name="name"[^>]*value="Rosa &amp; Co"/);
  });

  it('accepts a code once', async () => {
    const person = await desk.hire(name());
    const code = await desk.freshCode(person);
    assert.equal((await new Visitor(desk.url, person).signIn(code)).status, 303);
    assert.equal((await new Visitor(desk.url, person).signIn(code)).status, 401);
  });

  it('a session of the support desk ends after half an hour without use, after eight hours, by signing out, and when it is revoked or its person deactivated', async () => {
    const idle = await desk.staffed(name());
    moved.ms = 29 * MINUTE_MS;
    assert.equal(await isIn(idle), true);
    moved.ms = 58 * MINUTE_MS;
    assert.equal(await isIn(idle), true);
    moved.ms = 89 * MINUTE_MS;
    assert.equal(await isIn(idle), false);
    moved.ms = 0;
    const busy = await desk.staffed(name());
    for (let minutes = 20; minutes < 480; minutes += 20) {
      moved.ms = minutes * MINUTE_MS;
      assert.equal(await isIn(busy), true, `after ${minutes} minutes`);
    }
    moved.ms = 481 * MINUTE_MS;
    assert.equal(await isIn(busy), false);
    moved.ms = 0;
    const revoked = await desk.staffed(name());
    await revokeSessions(desk.core, { staffId: revoked.person.id }, proven(revoked.person));
    assert.equal(await isIn(revoked), false);
    const leaving = await desk.staffed(name());
    const session = leaving.cookies.get('desk') ?? '';
    const { fields } = formOf((await leaving.get('/')).text, '/sign-out');
    assert.equal((await leaving.post('/sign-out', fields)).headers.get('location'), '/sign-in');
    leaving.cookies.set('desk', session);
    assert.equal(await isIn(leaving), false);
    const gone = await desk.staffed(name());
    await deactivateStaff(db.database, clock, gone.person, TEST_ACTOR);
    assert.equal(await isIn(gone), false);
  });

  it('accepts only a few attempts from one address, whatever it claims, or from one IPv6 network; IPv4 written as IPv6 is IPv4', async () => {
    const visitor = new Visitor(desk.url, await desk.hire(name()));
    const { fields } = formOf((await visitor.get('/sign-in')).text, '/sign-in');
    const claim = { ...fields, name: 'nobody', code: '0' };
    const attempt = async (address: string): Promise<number> =>
      (await visitor.post('/sign-in', claim, { 'x-forwarded-for': address })).status;
    const before = await refusals();
    for (const [network, other] of [
      [() => '10.9.9.9, 203.0.113.7', '203.0.113.8'],
      [(host: number) => `2001:db8:1:2:${host}::${host}`, '2001:db8:1:3::1'],
      [(host: number) => (host % 2 === 0 ? '198.51.100.7' : '::ffff:198.51.100.7'), '198.51.100.8'],
    ] as const) {
      const statuses = [];
      for (let host = 0; host < 12; host += 1) statuses.push(await attempt(network(host)));
      assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 401), 429, 429], network(0));
      assert.equal(await attempt(other), 401);
    }
    assert.equal(await refusals(), before + 33);
  });
});
