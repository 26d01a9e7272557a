import assert from 'node:assert/strict';
import { parseDetails } from '../../src/access/audit-log.js';
import { openGuarded } from '../helpers/guarded.js';
import { createConnection } from 'mysql2/promise';
import { randomUUID } from 'node:crypto';
import { LISTS, WAITING_KINDS } from '../../src/support/reading/waiting.js';
import { answered, idLiteral, text } from '../helpers/bank.js';
import { assertLedgerSound } from '../helpers/world.js';
import { type Fields, findForm, formOf, openDesk, startTestDesk } from './desk.js';

const { db, api, desk, maria } = await openDesk();
const own = await openGuarded(api);

describe('approving at the support desk', () => {
  afterEach(() => assertLedgerSound(db.database));

  const createPending = async (): Promise<string> => text((await own.createPending()).id);

  it('a waiting transfer is on the first page, and approved with a reason and a code', async () => {
    const id = await createPending();
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
    for (const part of [
      'Approved. 10,000.00 COPM moved to ',
      'Approved</strong>, by maria (support desk)',
      'transfer out',
      'transfer.completed',
    ])
      assert(story.includes(part), `${part} is missing in ${story}`);
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
      ['/decided', 'Decided today'],
      ['/tenants', 'Tenants'],
      ['/search', 'Search'],
    ];
    for (const [path = ''] of [...links, [`/transfers/${await createPending()}`]]) {
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
      const id = await createPending();
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

  it('the support desk says that the approval of a transfer with manual capture holds its amount, and later what moved', async () => {
    const { id } = await own.createPending({ capture: 'manual' });
    const page = `/transfers/${text(id)}`;
    const before = (await maria.get(page)).text;
    assert(
      before.includes('Your approval holds 10,000.00 COPM until a member captures it.'),
      before,
    );
    const code = await desk.freshCode(maria.person);
    const answer = await maria.act(page, 'approve', { reason: 'ticket 124', code });
    const location = answer.headers.get('location') ?? '';
    const held = `Approved. 10,000.00 COPM is held in ${own.guarded.name} until it is captured.`;
    const after = (await maria.get(location)).text;
    assert(after.includes(held), after);
    answered(
      await own.bank.request('POST', `/v1/transfers/${text(id)}/capture`, {
        token: own.tokens.creator,
        body: { amount: { raw: '400000', asset: 'COPM' } },
      }),
      200,
    );
    const { text: captured } = await maria.get(location);
    assert(captured.includes('Approved. 4,000.00 COPM moved to '), captured);
  });

  it('the support desk says before and after an approval how many more are needed', async () => {
    const id = await createPending();
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

  it('the support desk lists what needs approval by tenant and amount, with who may approve it', async () => {
    const id = text((await own.createPending({ raw: 7_654_321n })).id);
    const list = async (query: Record<string, string>): Promise<string> =>
      (await maria.get(`/waiting/transfers?${new URLSearchParams(query).toString()}`)).text;
    const { name } = own.bank.tenant.tenant;
    const found = await list({ tenant: name, amount: '76,543.21', asset: 'COPM' });
    assert(found.includes(`href="/transfers/${id}?in=transfers&amp;`), found);
    assert((await list({ tenant: name.toUpperCase() })).includes(`href="/transfers/${id}?`));
    assert.match(found, /1 more approval, by support or a member/);
    assert.match(found, /<td data-label="Expires[^>]*><div><span class="due">in 59 min/);
    for (const [amount, asset] of [
      ['76,543.22', 'COPM'],
      ['1', 'DUSD'],
    ] as const)
      assert(!(await list({ tenant: name, amount, asset })).includes(`href="/transfers/${id}`));
    assert.match(
      await list({ tenant: 'nobody' }),
      /&quot;nobody&quot; is not the name of a tenant/,
    );
    assert(!(await list({ tenant: 'nobody' })).includes(`href="/transfers/`));
    assert.match(await list({ amount: '1.x' }), /&quot;1\.x&quot; is not an amount/);
    const page = (await maria.get(`/tenants/${own.bank.tenant.tenant.id}`)).text;
    assert(page.includes(`href="/transfers/${id}"`), 'the tenant’s newest transfers');
  });

  for (const [seconds, isShown] of [
    [0, false],
    [120, true],
  ] as const)
    it(`a workflow that has not been notified for ${seconds} s is ${isShown ? '' : 'not '}reported on the page of its transfer`, async () => {
      const id = await createPending();
      await db.sql(
        `UPDATE outbox SET created_at=created_at-INTERVAL ${seconds} SECOND WHERE resource_id=${idLiteral(id)}`,
      );
      const { text: page } = await maria.get(`/transfers/${id}`);
      assert.equal(page.includes('not notified yet'), isShown, page);
    });

  it('a person without a right is told which one is missing, also at the address of a form', async () => {
    const page = `/transfers/${await createPending()}`;
    const reader = await desk.staffed('rita', ['cancel']);
    const { text: shown } = await reader.get(page);
    assert.match(shown, /rita lacks the right to approve\./);
    assert.equal(findForm(shown, `${page}/approve`), null);
    assert.doesNotMatch(shown, /This action is not possible now/);
    assert.match((await reader.get(`${page}/approve`)).text, /This action is not possible now/);
    assert.doesNotMatch((await maria.get(`${page}/approve`)).text, /not possible now|lacks the/);
  });

  it('a reason with invisible characters is refused with these words, and one that is missing with others', async () => {
    const page = `/transfers/${await createPending()}`;
    for (const [reason, words] of [
      ['ticket\u202e118', /the reason is not valid: the text has invisible characters/],
      ['x'.repeat(141), /the reason is not valid: at most 140 characters/],
      [' ', /a reason of 1 to 140 characters is needed/],
    ] as const) {
      const answer = await maria.act(page, 'reject', { reason });
      assert.equal(answer.status, 400);
      assert.match(answer.text, words);
    }
  });

  it('the form of an adjustment selects no direction', async () => {
    const { text: shown } = await maria.get(`/accounts/${own.guarded.id}`);
    assert.match(shown, /<select name="direction" required><option value="">Choose</);
  });

  it('requests are counted by the route of their page, refused ones too', async () => {
    await maria.get(`/transfers/${await createPending()}`);
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
    const id = await createPending();
    for (const done of ['approve', 'Approve', 'approve.AAAA', ''])
      assert.doesNotMatch((await maria.get(`/transfers/${id}?done=${done}`)).text, /role="status"/);
  });

  it('a form that is sent twice, even at the same time, acts once and shows the same result', async () => {
    const id = await createPending();
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

  it('a form with a field that is not valid uses up no code, so that the corrected form needs no other', async () => {
    const page = `/accounts/${own.receiver.id}`;
    const fields = {
      ...{ direction: 'in', asset: 'COPM', amount: '12,345.00', reason: 'ticket 121' },
      ...{ reference: `kept-${randomUUID()}`, code: await desk.freshCode(maria.person) },
    };
    for (const [wrong, words] of [
      [{ amount: '12.345' }, /amount is not valid: write it as .* A point is not a thousands mark/],
      [{ amount: '0' }, /amount is not valid/],
      [{ reference: 'case 1/2' }, /reference is not valid/],
      [{ direction: 'up' }, /direction is not valid/],
      [{ asset: 'EUR' }, /asset is not valid/],
    ] as const) {
      const refused = await maria.act(page, 'adjust', { ...fields, ...wrong });
      assert.equal(refused.status, 400, refused.text);
      assert.match(refused.text, words);
    }
    const answer = await maria.act(page, 'adjust', fields);
    assert.equal(answer.status, 303, answer.text);
    const { text: done } = await maria.get(answer.headers.get('location') ?? '');
    const [, made = ''] =
      /role="status">Proposed\.[^<]*<a href="([^"]*)">Adjustment of 12,345\.00 COPM</.exec(done) ??
      [];
    const leo = await desk.staffed('leo-posts');
    const code = await desk.freshCode(leo.person);
    assert.equal((await leo.act(made, 'approve', { reason: 'checked', code })).status, 303);
    const { text: posted } = await leo.get(made);
    assert.match(posted, /<strong>Posted<\/strong>, by leo-posts/);
    assert.doesNotMatch(posted, /<strong>Approved</);
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
    const id = await createPending();
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

  it('a decision made elsewhere meanwhile is shown, and is not changed', async () => {
    const id = await createPending();
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
});
