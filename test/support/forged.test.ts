import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../src/core/ids.js';
import { revokeSessions } from '../../src/staff/sessions.js';
import { text } from '../helpers/bank.js';
import { openGuarded } from '../helpers/guarded.js';
import { proven } from '../helpers/staff.js';
import { type Fields, findForm, formOf, openDesk, Visitor } from './desk.js';

const { api, desk, maria } = await openDesk();
const own = await openGuarded(api);

describe('the support desk', () => {
  const createPending = async (): Promise<string> => text((await own.createPending()).id);

  it("accepts a form only from its own pages and with the person's own token", async () => {
    const id = await createPending();
    const path = `/transfers/${id}/cancel`;
    const other = await desk.staffed('leo');
    const good = { ...(await maria.form(`/transfers/${id}`, 'cancel')), reason: 'ticket 1' };
    const theirs = await other.form(`/transfers/${id}`, 'cancel');
    const { form_token: _, ...without } = good as Record<string, string>;
    const { act: __, ...actless } = good as Record<string, string>;
    const foreign = await maria.form(`/transfers/${await createPending()}`, 'cancel');
    const forged: readonly (readonly [string, Fields, Fields])[] = [
      ['another site', good, { 'sec-fetch-site': 'cross-site' }],
      ['a sister site', good, { 'sec-fetch-site': 'same-site' }],
      ['typed', good, { 'sec-fetch-site': 'none' }],
      ['another origin', good, { origin: 'https://evil.example' }],
      ['no token', without, {}],
      ['an empty token', { ...good, form_token: '' }, {}],
      ["somebody else's token", { ...good, form_token: theirs.form_token ?? '' }, {}],
      ['no action', actless, {}],
      ['an action that was made up', { ...good, act: `${newId()}.x` }, {}],
      ["another transfer's act", { ...good, act: foreign.act ?? '' }, {}],
      ["somebody else's act", { ...good, act: theirs.act ?? '' }, {}],
    ];
    for (const [what, fields, headers] of forged) {
      const answer = await maria.post(path, fields, headers);
      assert.equal(answer.status, 403, what);
    }
    const typed = await maria.request('POST', path, {
      body: JSON.stringify(good),
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    });
    assert.equal(typed.status, 415);
    const old = await maria.request('POST', path, {
      body: new URLSearchParams(good).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' },
    });
    assert.equal(old.status, 403, 'a browser that says neither');
    assert.deepEqual([(await own.row(id)).status, await desk.acts(id)], ['pending_approval', []]);
    assert.equal((await maria.post(path, good)).status, 303, 'the same as the page sends it');
    assert.equal((await own.row(id)).status, 'rejected');
  });

  it('refuses a form whose session is revoked while it is sent', async () => {
    const id = await createPending();
    const late = await desk.staffed('late');
    const fields = { ...(await late.form(`/transfers/${id}`, 'cancel')), reason: 'ticket 2' };
    const body = new URLSearchParams(fields).toString();
    const cookie = Array.from(late.cookies, ([key, value]) => `${key}=${value}`).join('; ');
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': body.length,
      'sec-fetch-site': 'same-origin',
      origin: 'null',
      cookie,
    };
    const held = httpRequest(`${desk.url}/transfers/${id}/cancel`, { method: 'POST', headers });
    const response = once(held, 'response') as Promise<[IncomingMessage]>;
    held.write(body.slice(0, -1));
    // The session is looked for as soon as the headers are there.
    await sleep(300);
    await revokeSessions(desk.core, { staffId: late.person.id }, proven(late.person));
    held.end(body.slice(-1));
    const [answer] = await response;
    assert.equal(answer.resume().statusCode, 403);
    assert.deepEqual(await desk.acts(id), []);
  });

  it('shows a form whose session has ended only to the person who wrote it, and discards it if another person is there', async () => {
    const id = await createPending();
    const path = `/transfers/${id}/reject`;
    const reason = 'Only the writer knows this';
    const [writer, other] = [await desk.staffed('writer'), await desk.staffed('other')];
    const form = { ...(await writer.form(`/transfers/${id}`, 'reject')), reason };
    const isShownTo = async (visitor: Visitor): Promise<boolean> =>
      (await visitor.get(path)).text.includes(reason);
    // The cookie of the session may have expired too.
    writer.cookies.clear();
    assert.equal((await writer.post(path, form)).status, 303);
    const draft = writer.cookies.get('desk-draft') ?? '';
    assert.match((await writer.get(`/sign-in?next=${path}`)).text, /what you wrote is there again/);
    other.cookies.set('desk-draft', draft);
    assert.equal((await other.get('/')).status, 200);
    assert.equal(other.cookies.has('desk-draft'), false);
    // The other person's tab is signed in when the form is sent.
    assert.equal((await other.post(path, form)).status, 403);
    assert.deepEqual(
      [other.cookies.has('desk-draft'), await isShownTo(other), other.cookies.has('desk-draft')],
      [true, false, false],
    );
    await writer.signIn(await desk.freshCode(writer.person));
    assert.equal(await isShownTo(writer), true);
    writer.cookies.set('desk-draft', 'x');
    assert.deepEqual([await isShownTo(writer), writer.cookies.has('desk-draft')], [false, false]);
  });

  it('protects the sign-in form and signing out in the same way', async () => {
    const person = await desk.hire('nobody yet');
    const visitor = new Visitor(desk.url, person);
    const { fields } = formOf((await visitor.get('/sign-in')).text, '/sign-in');
    const claim = { name: person.name, code: await desk.freshCode(person) };
    const stolen = new Visitor(desk.url, person);
    assert.equal(
      (await stolen.post('/sign-in', { ...fields, ...claim })).status,
      403,
      'without the cookie of the form',
    );
    assert.equal((await visitor.post('/sign-in', claim)).status, 403);
    assert.equal(
      (await visitor.post('/sign-in', { ...fields, ...claim }, { 'sec-fetch-site': 'cross-site' }))
        .status,
      403,
    );
    assert.equal((await maria.post('/sign-out', {})).status, 403);
    assert.equal((await maria.get('/')).status, 200);
  });

  it('every page of the support desk has headers that forbid foreign content and frames', async () => {
    const id = await createPending();
    for (const path of [
      '/',
      '/sign-in',
      '/search',
      `/transfers/${id}`,
      '/no-such-page',
      '/transfers/nothing',
    ]) {
      const { headers } = await maria.get(path);
      assert.equal(
        headers.get('content-security-policy'),
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        path,
      );
      assert.deepEqual(
        ['x-frame-options', 'cache-control', 'referrer-policy', 'x-content-type-options'].map(
          (name) => headers.get(name),
        ),
        ['DENY', 'no-store', 'no-referrer', 'nosniff'],
        path,
      );
    }
    const page = (await maria.get(`/transfers/${id}`)).text;
    const [script = ''] =
      /<script defer src="\/assets\/[0-9a-f]{16}\.js"><\/script>/.exec(page) ?? [];
    assert.notEqual(script, '');
    assert.doesNotMatch(
      page.replace(script, ''),
      /<script|<style|\sstyle=|\son[a-z]+=|javascript:/i,
    );
  });

  it('shows a reader no button, and refuses forms that a reader sends anyway, with one line in the audit log', async () => {
    const id = await createPending();
    const reader = await desk.staffed('reader', ['read']);
    const page = `/transfers/${id}`;
    const shown = (await reader.get(page)).text;
    for (const verb of ['approve', 'reject', 'cancel'])
      assert.equal(findForm(shown, `${page}/${verb}`), null, verb);
    // What a form of theirs would have: they had the right when it was shown.
    await desk.hire('reader', ['approve', 'cancel']);
    const forms = [await reader.form(page, 'approve'), await reader.form(page, 'cancel')] as const;
    await desk.hire('reader', ['read']);
    const code = await desk.freshCode(reader.person);
    for (const [index, verb] of (['approve', 'cancel'] as const).entries()) {
      const answer = await reader.post(`${page}/${verb}`, {
        ...forms[index],
        reason: 'please',
        code,
      });
      assert.equal(answer.status, 403);
      assert.match(answer.text, /reader lacks the right to/);
    }
    assert.deepEqual(
      (await desk.acts(id)).map(({ action, actorClaimed }) => [action, actorClaimed]),
      [
        ['transfer.approve_refused', 'reader'],
        ['transfer.cancel_refused', 'reader'],
      ],
    );
    assert.equal((await own.row(id)).status, 'pending_approval');
  });

  it('answers 404 for ids of another kind, unknown ids and malformed ids', async () => {
    const id = await createPending();
    for (const path of [
      `/payouts/${id}`,
      `/accounts/${id}`,
      `/transfers/${newId()}`,
      '/transfers/1',
      `/batches/${id}`,
    ])
      assert.equal((await maria.get(path)).status, 404, path);
    const fields = await maria.form(`/transfers/${id}`, 'approve');
    assert.equal(
      (await maria.post(`/payouts/${id}/approve`, { ...fields, reason: 'a', code: '1' })).status,
      404,
    );
    assert.equal((await maria.request('POST', `/transfers/${id}`)).status, 404);
  });
});
