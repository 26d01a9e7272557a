import assert from 'node:assert/strict';
import { parseDetails } from '../../src/access/audit-log.js';
import type { TestApi } from '../helpers/api.js';
import type { TestDatabase } from '../helpers/database.js';
import { type GuardedBank, openGuarded } from '../helpers/guarded.js';
import { createConnection } from 'mysql2/promise';
import { randomUUID } from 'node:crypto';
import { instant, localTime } from '../../src/core/instant.js';
import { LISTS, WAITING_KINDS } from '../../src/support/reading/waiting.js';
import { HOLDER, openPayoutBank, railsOf, submitAndRaise } from '../payouts/support.js';
import { answered, idLiteral, text } from '../helpers/bank.js';
import { assertLedgerSound } from '../helpers/world.js';
import {
  actFields,
  type DeskWorld,
  type Fields,
  findForm,
  formOf,
  openDesk,
  startTestDesk,
  type TestDesk,
  type Visitor,
} from './desk.js';

describe('at the support desk', () => {
  let world: DeskWorld;
  let db: TestDatabase;
  let api: TestApi;
  let desk: TestDesk;
  let own: GuardedBank;
  let maria: Visitor;

  before(async () => {
    world = await openDesk();
    ({ db, api, desk, maria } = world);
    own = await openGuarded(api);
  });
  afterEach(() => assertLedgerSound(db.database));
  after(() => world.close());

  const pend = async (): Promise<string> => text((await own.pend()).id);

  it('a waiting transfer is on the first page, and approved with a reason and a code', async () => {
    const id = await pend();
    assert.match((await maria.get('/')).text, new RegExp(`href="/transfers/${id}"`));
    const page = `/transfers/${id}`;
    const listLink = 'href="/waiting/transfers">Transfers to approve<';
    assert((await maria.get(page)).text.includes(listLink));
    const code = await desk.freshCode(maria.person);
    const answer = await maria.act(page, 'approve', { reason: 'ticket 118', code });
    const location = answer.headers.get('location') ?? '';
    assert.deepEqual(
      [answer.status, location.replace(/=.*/, '')],
      [303, `${page}?done`],
      answer.text,
    );
    assert.equal((await own.read(id)).status, 'completed');
    const story = (await maria.get(location)).text;
    assert(!story.includes(listLink), story);
    for (const told of [
      ...[
        'Approved. 10,000.00 COPM moved to ',
        'Approved</strong>, by maria (support desk)',
        'transfer out',
      ],
      ...['transfer.completed'],
    ])
      assert(story.includes(told), `${told} is missing in ${story}`);
    const acts = await desk.acts(id);
    assert.deepEqual(
      acts.map((act) => [act.action, act.channel, act.actorClaimed, parseDetails(act).reason]),
      [['transfer.approve', 'support', 'maria', 'ticket 118']],
    );
  });

  it('every page of the support desk has the same navigation, and each of its links leads to a page', async () => {
    const navigation = ({ text }: { readonly text: string }): readonly (readonly string[])[] => {
      const [nav = ''] = /<nav aria-label="Desk">.*?<\/nav>/s.exec(text) ?? [];
      return Array.from(
        nav.matchAll(/href="([^"]*)"[^>]*>([^<]*)</g),
        ([, href = '', label = '']) => [href, label],
      );
    };
    const links = [
      ['/', 'Needs attention'],
      ['/tenants', 'Tenants'],
      ['/search', 'Search'],
    ];
    for (const [path = ''] of [...links, [`/transfers/${await pend()}`]]) {
      const answer = await maria.get(path);
      assert.deepEqual([answer.status, navigation(answer)], [200, links], path);
    }
    const counts = (await maria.get('/')).text;
    for (const kind of WAITING_KINDS) {
      assert(counts.includes(`href="/waiting/${kind}"`), kind);
      const { text } = await maria.get(`/waiting/${kind}`);
      assert.match(text, new RegExp(`href="/waiting/${kind}" aria-current="page"`));
      assert(text.includes(`<h1>${LISTS[kind].title}</h1>`), kind);
    }
  });

  for (const [verb, banner] of [
    ['reject', 'Rejected'],
    ['cancel', 'Canceled'],
  ] as const)
    it(`the support desk says after "${verb}" that the money is available again`, async () => {
      const id = await pend();
      const answer = await maria.act(`/transfers/${id}`, verb, { reason: 'ticket 122' });
      assert.equal(answer.status, 303, answer.text);
      const { text } = await maria.get(answer.headers.get('location') ?? '');
      const name = own.guarded.name;
      assert(
        text.includes(
          `role="status">${banner}. 10,000.00 COPM is available in ${name} again.</div>`,
        ),
        text,
      );
      assert.equal((await own.read(id)).status, 'rejected');
    });

  it('the support desk says before and after an approval how many more are needed', async () => {
    const id = await pend();
    await db.sql(`UPDATE transfers SET approvals_required=3 WHERE id=${idLiteral(id)}`);
    const page = `/transfers/${id}`;
    assert.match(
      (await maria.get(page)).text,
      /After yours, 2 more approvals must come from the account&#39;s members\./,
    );
    const code = await desk.freshCode(maria.person);
    const answer = await maria.act(page, 'approve', { reason: 'ticket 123', code });
    const { text } = await maria.get(answer.headers.get('location') ?? '');
    assert(text.includes('role="status">Approved; 2 more approvals are needed.</div>'), text);
    assert.match(text, /2 more approvals: by a member of its account/);
    assert.equal(findForm(text, `${page}/approve`), null, 'support approves once');
  });

  it('the support desk lists what needs approval by tenant and smallest amount, with who may approve it', async () => {
    const id = text((await own.pend({ raw: 7_654_321n })).id);
    const list = async (query: Record<string, string>): Promise<string> =>
      (await maria.get(`/waiting/transfers?${new URLSearchParams(query).toString()}`)).text;
    const { name } = own.bank.tenant.tenant;
    const found = await list({ tenant: name, least: '76,543.21', asset: 'COPM' });
    assert(found.includes(`href="/transfers/${id}"`), found);
    assert.match(found, /1 more approval, by support or a member/);
    assert.match(found, /<td data-label="Expires[^>]*><div><span class="due">in 59 min/);
    for (const [least, asset] of [
      ['76,543.22', 'COPM'],
      ['1', 'DUSD'],
    ] as const)
      assert(!(await list({ tenant: name, least, asset })).includes(`href="/transfers/${id}"`));
    assert.match(
      await list({ tenant: 'nobody' }),
      /&quot;nobody&quot; is not the name of a tenant/,
    );
    assert(!(await list({ tenant: 'nobody' })).includes(`href="/transfers/`));
    assert.match(await list({ least: '1.x' }), /&quot;1\.x&quot; is not an amount/);
    const page = (await maria.get(`/tenants/${own.bank.tenant.tenant.id}`)).text;
    assert(page.includes(`href="/transfers/${id}"`), 'the tenant’s newest transfers');
  });

  for (const [seconds, isShown] of [
    [0, false],
    [120, true],
  ] as const)
    it(`a workflow that has not been notified for ${seconds} s is ${isShown ? '' : 'not '}reported on the page of its transfer`, async () => {
      const id = await pend();
      await db.sql(
        `UPDATE outbox SET created_at=created_at-INTERVAL ${seconds} SECOND WHERE resource_id=${idLiteral(id)}`,
      );
      const { text: page } = await maria.get(`/transfers/${id}`);
      assert.equal(page.includes('not notified yet'), isShown, page);
    });

  it('requests are counted by the route of their page, refused ones too', async () => {
    await maria.get(`/transfers/${await pend()}`);
    await maria.get('/transfers/12');
    const metrics = await (await fetch(`${desk.adminUrl}/metrics`)).text();
    const routes = new Set(
      Array.from(
        metrics.matchAll(/_duration_seconds_count\{.*route="([^"]*)"/g),
        ([, route]) => route,
      ),
    );
    assert(routes.has('/transfers/{id}') && routes.has('/'), [...routes].join(' '));
    for (const route of routes)
      assert.match(route ?? '', /^(?:unknown|\/[a-z-]*(?:\/(?:[a-z-]+|\{[a-zA-Z]+\}))*)$/);
  });

  it('a forged link cannot make the support desk show that an action was done', async () => {
    const id = await pend();
    for (const done of ['approve', 'Approve', 'approve.AAAA', ''])
      assert.doesNotMatch((await maria.get(`/transfers/${id}?done=${done}`)).text, /role="status"/);
  });

  it('a form that is sent twice, even at the same time, acts once and shows the same result', async () => {
    const id = await pend();
    const page = `/transfers/${id}`;
    const fields = {
      ...(await maria.form(page, 'approve')),
      reason: 'ticket 119',
      code: await desk.freshCode(maria.person),
    };
    const both = await Promise.all([
      maria.post(`${page}/approve`, fields),
      maria.post(`${page}/approve`, fields),
    ]);
    const again = await maria.post(`${page}/approve`, fields);
    assert.deepEqual(
      [...both, again].map(({ status }) => status),
      [303, 303, 303],
    );
    assert.equal((await desk.acts(id)).length, 1);
    assert.equal((await own.row(id)).approvalsReceived, 1);
  });

  it('a code makes one proposal: if the form is sent again with another amount, it asks for another code', async () => {
    const page = `/accounts/${own.guarded.id}`;
    const fields = {
      ...(await maria.form(page, 'adjust')),
      ...{
        direction: 'in',
        asset: 'COPM',
        amount: '10.00',
        reference: `once-${randomUUID()}`,
        reason: 'ticket 121',
      },
      code: await desk.freshCode(maria.person),
    };
    assert.equal((await maria.post(`${page}/adjust`, fields)).status, 303);
    const more = await maria.post(`${page}/adjust`, {
      ...fields,
      amount: '99.00',
      reference: `twice-${randomUUID()}`,
    });
    assert.match(more.text, /the code was used before/);
    const made = await db.sql(
      `SELECT COUNT(*) AS n FROM adjustments WHERE account_id=${idLiteral(own.guarded.id)}`,
    );
    assert.equal(Number(made[0]?.n), 1);
    const [, proposed = ''] =
      /href="(\/adjustments\/[^"]+)"/.exec((await maria.get(page)).text) ?? [];
    const { text: shown } = await maria.get(proposed);
    assert.match(shown, /<strong>Proposed<\/strong>, by maria/);
    assert.doesNotMatch(shown, /direction: in/, 'the timeline repeats the facts');
  });

  it('the support desk says that the result is unknown if the ledger does not answer, and the same form later shows it', async () => {
    const id = await pend();
    const page = `/transfers/${id}`;
    const hasty = await startTestDesk(db, { COMMAND_TIMEOUT_MS: '3000' });
    const lock = await createConnection({ uri: db.adminUrl });
    try {
      const leo = await hasty.staffed('leo');
      const code = await hasty.freshCode(leo.person);
      const fields: Fields = { ...(await leo.form(page, 'approve')), reason: 'ticket 120', code };
      await lock.query('START TRANSACTION');
      await lock.query(`SELECT id FROM accounts WHERE id=${idLiteral(own.guarded.id)} FOR UPDATE`);
      const first = await leo.post(`${page}/approve`, fields);
      assert.equal(first.status, 503);
      assert.match(first.text, /It is not known whether this was done/);
      assert.doesNotMatch(first.text, /Nothing was changed|Approved\. The status/);
      await lock.query('ROLLBACK');
      const { fields: again } = formOf(first.text, `${page}/approve`);
      assert.equal(again.act, fields.act, 'the same action');
      const second = await leo.post(`${page}/approve`, { ...again, reason: 'ticket 120', code });
      assert.equal(second.status, 303, second.text);
      assert.equal((await own.read(id)).status, 'completed');
      assert.equal((await desk.acts(id)).length, 1);
    } finally {
      await lock.end();
      await hasty.stop();
    }
  });

  it('a resolution is applied or rejected by a form that showed it, not by one that showed another', async () => {
    const paying = await openPayoutBank(api);
    const id = await paying.pay('03');
    await submitAndRaise(db, id);
    const page = `/payouts/${id}`;
    const reason = 'statement of today';
    const sofia = await desk.staffed('sofia');
    const by = async (who: Visitor, verb: string, given: Fields) =>
      who.post(`${page}/${verb}`, { ...given, reason, code: await desk.freshCode(who.person) });
    const ask = async (verb: string, given: Fields = {}) =>
      by(maria, verb, { ...(await maria.form(page, verb)), ...given });
    assert.equal((await ask('propose', { outcome: 'failed' })).status, 303);
    const [apply, dismiss] = [await sofia.form(page, 'apply'), await sofia.form(page, 'dismiss')];
    assert.equal((await ask('dismiss')).status, 303);
    assert.equal((await ask('propose', { outcome: 'completed' })).status, 303);
    for (const [verb, seen] of [
      ['apply', apply],
      ['dismiss', dismiss],
    ] as const) {
      const answer = await by(sofia, verb, seen);
      assert.equal(answer.status, 409, answer.text);
      assert.match(
        answer.text,
        /Nothing was changed.*another resolution is proposed in its place/s,
      );
    }
    assert.equal((await paying.get(id)).status, 'in_progress');
    assert.equal((await by(sofia, 'apply', await sofia.form(page, 'apply'))).status, 303);
    assert.equal((await paying.get(id)).status, 'completed');
  });

  it('a resolution is proposed only for the state of the payout that the page showed', async () => {
    const paying = await openPayoutBank(api);
    const id = await paying.pay('03');
    const rails = railsOf(db);
    await rails.submissions.submit(id);
    const page = `/payouts/${id}`;
    const [form, edited] = [await maria.form(page, 'propose'), await maria.form(page, 'propose')];
    const said = { status: 'failed', reference: null, failureCode: 'account_closed' } as const;
    await rails.callbacks.report('simulated', { key: id, ...said, callbackId: `failed-${id}` });
    const wanted = { outcome: 'completed', reason: 'statement of today' };
    for (const [fields, status, text] of [
      [form, 409, /Nothing was changed.*the payout has become failed since you looked at it/s],
      [{ ...edited, state: 'paid 0' }, 400, /state/],
    ] as const) {
      const code = await desk.freshCode(maria.person);
      const answer = await maria.post(`${page}/propose`, { ...fields, ...wanted, code });
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.text, text);
    }
    assert.equal((await paying.get(id)).status, 'failed');
    const { text: failed } = await maria.get(page);
    assert(failed.includes(' went back to ') && failed.includes('<summary>Correct the outcome'));
    assert.match(failed, /Sent to the rail: .*Reported by the rail: failed</s);
  });

  it('a payout is resolved by two people, never by one, with any form', async () => {
    const paying = await openPayoutBank(api);
    const id = await paying.pay('03');
    await submitAndRaise(db, id);
    const page = `/payouts/${id}`;
    const reason = 'statement of today';
    const propose = { reason, outcome: 'completed', code: await desk.freshCode(maria.person) };
    assert.equal((await maria.act(page, 'propose', propose)).status, 303);
    const shown = (await maria.get(page)).text;
    assert.match(shown, /a second person, who applies or rejects/);
    assert.match(shown, /sent 1 time, asked 0 times, no answer/);
    assert.equal(findForm(shown, `${page}/apply`), null, 'the button of the second person');
    const sofia = await desk.staffed('sofia');
    const stolen = await sofia.form(page, 'apply');
    assert.match(
      (await sofia.get(page)).text,
      /The outcome will be <strong>completed: the bank has paid it<\/strong>/,
    );
    const code = await desk.freshCode(maria.person);
    assert.equal((await maria.post(`${page}/apply`, { ...stolen, reason, code })).status, 403);
    // Her own session and her own form, which the page does not show her: the act is made for the test.
    const fields = { ...actFields(maria, 'apply', id), resolution: stolen.resolution ?? '' };
    const own2 = await maria.post(`${page}/apply`, {
      ...fields,
      reason,
      code: await desk.freshCode(maria.person),
    });
    assert.equal(own2.status, 403);
    assert.match(own2.text, /a second person does/);
    const applied = { ...stolen, reason, code: await desk.freshCode(sofia.person) };
    assert.equal((await sofia.post(`${page}/apply`, applied)).status, 303);
    assert.equal((await sofia.post(`${page}/apply`, applied)).status, 303, 'a reload');
    assert.equal((await paying.get(id)).status, 'completed');
    assert.deepEqual(
      (await desk.acts(id)).map(({ action, actorClaimed }) => [action, actorClaimed]),
      [
        ['payout.resolve_propose', 'maria'],
        ['payout.resolve_approve_refused', 'maria'],
        ['payout.resolve_approve', 'sofia'],
      ],
    );
  });

  it('a decision made elsewhere meanwhile is shown, and is not changed', async () => {
    const id = await pend();
    const page = `/transfers/${id}`;
    const fields = {
      ...(await maria.form(page, 'approve')),
      reason: 'late',
      code: await desk.freshCode(maria.person),
    };
    await own.act('reject', id, 'approver');
    const answer = await maria.post(`${page}/approve`, fields);
    assert.equal(answer.status, 409);
    assert.match(answer.text, /Nothing was changed.*it is rejected, and waits for no approval/s);
    assert.equal((await desk.acts(id)).at(-1)?.action, 'transfer.approve_refused');
  });

  it('a search finds resources by id, event, key, alias, amount and day, and requests by their time', async () => {
    const key = randomUUID();
    const transfer = await own.pend({ raw: 1_234_567n }, { key });
    const id = text(transfer.id);
    const value = `A-17 é ${randomUUID()}`;
    const labelled = { body: { metadata: { invoice: value, raw: 'x<b>' } } };
    answered(await own.bank.request('PATCH', `/v1/transfers/${id}`, labelled), 200);
    const account = await own.account({ alias: '$customer' });
    const named = await own.account({ name: 'Quetzal Ramírez' });
    const day = localTime(instant(Date.parse(text(transfer.created_at))), 'America/Bogota').slice(
      0,
      10,
    );
    const found = async (query: Record<string, string>): Promise<string> =>
      (await maria.get(`/search?${new URLSearchParams(query).toString()}`)).text;
    const opened = await maria.get(`/search?text=${id}`);
    assert.deepEqual([opened.status, opened.headers.get('location')], [303, `/transfers/${id}`]);
    for (const query of [
      { text: id.slice(0, 13) },
      { text: key },
      { text: value.normalize('NFD') },
      { day, amount: '12345.67', asset: 'COPM' },
    ])
      assert((await found(query)).includes(`href="/transfers/${id}"`), JSON.stringify(query));
    const { text: shown } = await maria.get(`/transfers/${id}`);
    assert.match(shown, new RegExp(`Metadata.*invoice: ${value}.*raw: x&lt;b&gt;`, 's'));
    assert((await found({ text: '$customer' })).includes(`href="/accounts/${account.id}"`));
    assert(!(await found({ day, amount: '12345.68', asset: 'COPM' })).includes(id));
    const request =
      answered(await own.bank.get(`/v1/transfers/${id}`), 200).headers.get('svc-request-id') ?? '';
    assert.match(await found({ text: request }), /the request arrived at/);
    for (const unknown of ['nothing has this', 'María Peña', '😀', 'ﬀ'])
      assert.match(await found({ text: unknown }), /No results.*cannot be searched/s, unknown);
    const ofFuture = 'ffffffff-ffff-7fff-bfff-ffffffffffff';
    assert.match(await found({ text: ofFuture }), /the request arrived at.*No results/s);
    assert.match(await found({ amount: '1.x' }), /is not an amount/);
    // A customer's amount is no beginning of a key.
    await own.pend({}, { key: `12345${randomUUID().slice(5)}` });
    for (const text of ['12,345.6', '12,345', '12345', '12345.67 COPM', key.slice(0, 12)])
      assert((await found({ text })).includes(`href="/transfers/${id}"`), text);
    for (const text of ['quetzal ra', 'QUÉTZAL RAMIREZ'])
      assert((await found({ text })).includes(`href="/accounts/${named.id}"`), text);
    assert.match(await found({ day: '2026-02-30' }), /Choose the day/);
  });

  it('a search by text and by amount or day finds only resources that match both', async () => {
    const transfer = await own.pend({ raw: 2_345_678n });
    const { id: other } = await own.pend({ raw: 2_345_679n });
    const id = text(transfer.id);
    const { id: account } = await own.account({ alias: '$narrow' });
    const day = localTime(instant(Date.parse(text(transfer.created_at))), 'America/Bogota').slice(
      0,
      10,
    );
    const [amount, asset] = ['23,456.78', 'COPM'];
    const payer = own.guarded.id;
    for (const [query, isFound] of [
      [{ text: id, amount }, true],
      [{ text: id, amount: '23,456.79' }, false],
      [{ text: id, amount, asset: 'DUSD' }, false],
      [{ text: id, amount, asset, day: '2020-01-01' }, false],
      [{ text: id, amount, asset, day }, true],
      [{ text: payer, amount }, true],
      [{ text: own.bank.tenant.tenant.name, amount }, true],
      [{ text: '$narrow', amount }, false],
      [{ text: account, day }, false],
      [{ text: 'nothing has this', amount }, false],
    ] as const) {
      const { text: shown } = await maria.get(`/search?${new URLSearchParams(query).toString()}`);
      const hint = `${JSON.stringify(query)} ${shown}`;
      assert.equal(shown.includes(`href="/transfers/${id}"`), isFound, hint);
      if ('amount' in query && query.amount === amount)
        assert(!shown.includes(`href="/transfers/${text(other)}"`), hint);
    }
  });

  it("operations of the last days are found by any part of their description, and payouts by their holder and rail's reference, in any case and without accents", async () => {
    const paying = await openPayoutBank(api);
    const id = await paying.pay('03', { description: 'Nómina 12' });
    const transfer = text((await own.pend({ raw: 3_456_789n, description: 'Pago de Año' })).id);
    for (const [query, isFound] of [
      [{ text: 'de ano' }, true],
      [{ text: 'DE AÑO', amount: '34,567.89' }, true],
      [{ text: 'de ano', amount: '34,567.88' }, false],
      [{ text: 'de ano', day: '2020-01-01' }, false],
      [{ text: 'de mes' }, false],
    ] as const) {
      const { text: shown } = await maria.get(`/search?${new URLSearchParams(query).toString()}`);
      assert.equal(shown.includes(`href="/transfers/${transfer}"`), isFound, query.text + shown);
    }
    await db.sql(`UPDATE payouts SET rail_reference='RAIL-77%' WHERE id=${idLiteral(id)}`);
    for (const [query, isFound] of [
      [{ text: 'Holder' }, true],
      [{ text: HOLDER.toUpperCase() }, true],
      [{ text: 'maria holder nunez' }, true],
      [{ text: 'nomina' }, true],
      [{ text: 'rail-77%' }, true],
      [{ text: 'RAIL_77' }, false],
      [{ text: HOLDER, day: '2020-01-01' }, false],
      [{ text: HOLDER, amount: '0.01' }, false],
    ] as const) {
      const { text: shown } = await maria.get(`/search?${new URLSearchParams(query).toString()}`);
      assert.equal(shown.includes(`href="/payouts/${id}"`), isFound, `${query.text} ${shown}`);
    }
    await db.sql(`UPDATE payouts SET rail_reference=NULL WHERE id=${idLiteral(id)}`);
  });
});
