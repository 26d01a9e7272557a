import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { ASSETS, formatAmount } from '../../src/core/amount.js';
import { idFromDigest, newId, type Uuid } from '../../src/core/ids.js';
import { proposeAdjustment } from '../../src/funding/service.js';
import { uuid } from '../../src/db/columns.js';
import { WAITING_KINDS, type WaitingKind } from '../../src/support/reading/waiting.js';
import { batchServiceOf, BatchWorld, payroll, resourceOf, UNWATCHED } from '../batches/support.js';
import { openPayoutBank, railsOf, submitAndRaise } from '../payouts/support.js';
import { startTestApi } from '../helpers/api.js';
import { idLiteral, LEAST, openBank, text } from '../helpers/bank.js';
import { ownDatabase } from '../helpers/database.js';
import { openGuarded } from '../helpers/guarded.js';
import { proven } from '../helpers/staff.js';
import { register } from '../webhooks/support.js';
import { type Answer, copyRows, startTestDesk } from './desk.js';

/** No page, one page, two, and one in between. */
const COUNTS = [0, 1, 26, 60] as const;
const PAGE = 25;
/** Ends and begins with what an attribute without quotes would look like. */
const AWKWARD = '=a"b=\'c&d<e>=';
const DAY = '2026-11-20';
const NOON = Date.parse(`${DAY}T17:00:00Z`);

/** Each list of the desk: its table, the first part of its pages' paths, and its first row. */
interface Listed {
  readonly table: string;
  readonly path: string;
  readonly first: Uuid;
  readonly changes?: Readonly<Record<string, string>>;
}

// A database of its own, because the auditor would report the copied rows.
const db = await ownDatabase('every_page');
const api = await startTestApi(db);
const desk = await startTestDesk(db);
const maria = await desk.staffed('maria');

describe('every page of the support desk', () => {
  let lists: Readonly<Record<WaitingKind, Listed>>;
  /** The account, batch and endpoint whose pages have lists of their own. */
  let owners: { readonly account: Uuid; readonly batch: Uuid; readonly endpoint: Uuid };
  const made = new Map<WaitingKind, Uuid[]>(WAITING_KINDS.map((kind) => [kind, []]));

  /** One row of each list, made by the service. */
  async function makeFirst(): Promise<void> {
    const by = proven(await desk.hire('leo'), 'support');
    const own = await openGuarded(api);
    const transfer = text((await own.createPending({ description: AWKWARD })).id) as Uuid;
    const paying = await openPayoutBank(api);
    const stuck = await paying.pay('03', { description: AWKWARD });
    await submitAndRaise(db, stuck);
    const unanswered = await paying.pay('03');
    await railsOf(db).submissions.submit(unanswered);
    await db.sql('UPDATE payouts SET submitted_at=submitted_at-INTERVAL 2 MINUTE');
    await paying.guard();
    const payout = await paying.createPending();
    const { id: account, tenantId } = own.guarded;
    const { resource } = await proposeAdjustment(desk.core, {
      ...{ tenantId, accountId: account, direction: 'in', amount: { raw: LEAST, asset: 'COPM' } },
      ...{ reference: 'case-118', reason: AWKWARD, by },
    });
    const world = await BatchWorld.open(db);
    await world.account({ alias: '$ana' });
    const payer = await world.account({ funds: { COPM: 10n * LEAST } });
    const batch = await world.executed(payer, payroll([['$ana', LEAST.toString(), 'COPM']]));
    const { id: rejected } = resourceOf(
      await world.upload(payer, payroll([['$nobody', LEAST.toString(), 'COPM']])),
    );
    await batchServiceOf(world.deps).validate(rejected, UNWATCHED);
    const endpoint = text((await register(own.bank, ['transfer.completed'])).id) as Uuid;
    await db.sql(
      `UPDATE webhook_endpoints SET paused_at=NOW(3), paused_by='maria', url='https://a.example/?b='`,
    );
    await db.sql(`UPDATE batch_rows SET status='failed', code='refused', message='a='`);
    await db.sql(
      `INSERT INTO webhook_deliveries (endpoint_id, id, event_id, event_type, sequence, cause, round, state, steps, created_at, finished_at)
       VALUES (${idLiteral(endpoint)}, ${idLiteral(newId())}, ${idLiteral(newId())}, 'transfer.completed', 1, 'event', 1, 'failed', 1, NOW(3), NOW(3))`,
    );
    await db.sql(
      `INSERT INTO payout_resolutions (id, tenant_id, payout_id, outcome, reason, status, payout_status, contradictions, proposed_by, proposed_by_id, created_at)
       SELECT id, tenant_id, id, 'failed', 'r=', 'proposed', status, 0, 'leo', id, NOW(3) FROM payouts WHERE id=${idLiteral(stuck)}`,
    );
    owners = { account, batch: batch.id, endpoint };
    lists = {
      transfers: { table: 'transfers', path: 'transfers', first: transfer },
      payouts: { table: 'payouts', path: 'payouts', first: payout },
      stuck: { table: 'payouts', path: 'payouts', first: stuck },
      unanswered: { table: 'payouts', path: 'payouts', first: unanswered },
      // Each proposal has the id of its payout.
      proposals: {
        ...{ table: 'payout_resolutions', path: 'payouts', first: stuck },
        changes: { payout_id: 'copy.id' },
      },
      batches: { table: 'batches', path: 'batches', first: batch.id },
      rejected: { table: 'batches', path: 'batches', first: rejected },
      endpoints: { table: 'webhook_endpoints', path: 'endpoints', first: endpoint },
      adjustments: {
        ...{ table: 'adjustments', path: 'adjustments', first: resource.id },
        changes: { reference: 'HEX(copy.id)' },
      },
    };
    for (const kind of WAITING_KINDS) made.get(kind)?.push(lists[kind].first);
  }

  const copy = (
    ...copied: Parameters<typeof copyRows> extends [unknown, ...infer Rest] ? Rest : never
  ): Promise<void> => copyRows(db, ...copied);

  /** Fills every list, and the lists on the pages of single resources, up to this number of rows. */
  async function fill(count: number): Promise<void> {
    if (count === 0) return;
    if (made.get('transfers')?.length === 0) await makeFirst();
    const before = made.get('transfers')?.length ?? 0;
    const newIds = (): Uuid[] =>
      Array.from({ length: count - before }, (_, n) =>
        idFromDigest(NOON + before + n, randomBytes(16)),
      );
    if (count === before) return;
    for (const kind of WAITING_KINDS) {
      const { table, first, changes = {} } = lists[kind];
      const ids = kind === 'proposals' ? (made.get('stuck') ?? []).slice(before) : newIds();
      await copy(table, `t.id=${idLiteral(first)}`, ids, { id: 'copy.id', ...changes });
      if (kind === 'transfers')
        await copy('holds', `t.resource_id=${idLiteral(first)}`, ids, { resource_id: 'copy.id' });
      made.get(kind)?.push(...ids);
    }
    const { account, batch, endpoint } = owners;
    const next = `copy.n+${before}`;
    const first = '(SELECT MIN(number) FROM batch_rows)';
    for (const [table, where, changes] of [
      [
        'batch_rows',
        `t.batch_id=${idLiteral(batch)} AND t.number=${first}`,
        { number: `t.number+${next}` },
      ],
      ['entries', `t.account_id=${idLiteral(account)} AND t.seq=1`, { seq: `t.seq+${next}` }],
      [
        'webhook_deliveries',
        `t.endpoint_id=${idLiteral(endpoint)} AND t.round=1`,
        { round: `t.round+${next}` },
      ],
    ] as const)
      await copy(table, where, newIds(), { id: 'copy.id', ...changes });
  }

  async function page(path: string, status = 200): Promise<Answer> {
    const answer = await maria.get(path);
    assert.equal(answer.status, status, `${path}: ${answer.text}`);
    assert.doesNotMatch(answer.text, /undefined|\[object|NaN/, path);
    return answer;
  }

  const linked = (answer: Answer, path: string): string[] =>
    Array.from(
      answer.text.matchAll(
        new RegExp(
          `<th scope="row"[^>]*>\\s*(?:<input[^>]*>)?\\s*<a href="/${path}/([^"?]+)[^"]*"`,
          'g',
        ),
      ),
      ([, id = '']) => id,
    );

  async function assertListed(kind: WaitingKind): Promise<void> {
    const all = made.get(kind) ?? [];
    const seen: string[] = [];
    let pages = 0;
    for (let next: string | undefined = `/waiting/${kind}`; next !== undefined; pages += 1) {
      const answer = await page(next);
      const own = all.length === 0 ? [] : linked(answer, lists[kind].path);
      const back = linkedAs('prev', answer);
      assert.equal(back === undefined, pages === 0, next);
      if (back !== undefined)
        assert.deepEqual(linked(await page(back), lists[kind].path), seen.slice(-PAGE), next);
      seen.push(...own);
      const first = new RegExp(`rel="(?:prev|first)" href="/waiting/${kind}"`).test(answer.text);
      assert.equal(first, pages > 0, next);
      next = nextOf(answer);
    }
    assert.equal(pages, Math.max(1, Math.ceil(all.length / PAGE)), kind);
    assert.deepEqual(seen.sort(), [...all].sort(), kind);
    for (const wrong of ['0', '-1', '1.5', 'x='])
      await page(`/waiting/${kind}?after=${wrong}`, 404);
  }

  const linkedAs = (rel: string, { text: shown }: Answer): string | undefined =>
    new RegExp(`rel="${rel}"\\s+href="([^"]*)"`).exec(shown)?.[1]?.replaceAll('&amp;', '&');
  const nextOf = (answer: Answer): string | undefined => linkedAs('next', answer);

  /** Returns the first cells of a list of a resource, from its page to the last of the older ones. */
  async function listed(path: string): Promise<string[]> {
    const cells: string[] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const answer = await page(next);
      cells.push(
        ...Array.from(
          answer.text.matchAll(/<(?:th scope="row"[^>]*|h3)>(.*?)<\/(?:th|h3)>/gs),
          ([, one = '']) => one,
        ),
      );
      next = nextOf(answer);
    }
    return cells;
  }

  /** Follows a search to its end. */
  async function found(query: string, path: string): Promise<string[]> {
    const ids = new Set<string>();
    for (let next: string | undefined = `/search?${query}`; next !== undefined;) {
      const answer = await page(next);
      for (const id of linked(answer, path)) ids.add(id);
      next = /href="(\/search\?[^"]*)"/.exec(answer.text)?.[1]?.replaceAll('&amp;', '&');
    }
    return [...ids].sort();
  }

  for (const count of COUNTS) {
    it(`is shown with lists of ${count} items, on every page of every list`, async () => {
      await fill(count);
      await page('/');
      for (const kind of WAITING_KINDS) await assertListed(kind);
      if (count === 0) return;
      const { account, batch, endpoint } = owners;
      for (const path of [`/accounts/${account}`, `/batches/${batch}`, `/endpoints/${endpoint}`])
        await page(path);
      for (const kind of WAITING_KINDS) {
        const ids = made.get(kind) ?? [];
        for (const id of [ids.at(0), ids.at(-1)]) await page(`/${lists[kind].path}/${id}`);
      }
    });

    it(`the lists of a resource at the support desk show ${count} rows on all their pages, each once`, async () => {
      if (count === 0) return;
      await fill(count);
      const { account, batch, endpoint } = owners;
      const [{ tenantId = '' } = {}] = await db.sql(
        `SELECT LOWER(HEX(tenant_id)) AS tenantId FROM transfers WHERE id=${idLiteral(lists.transfers.first)}`,
      );
      const tenant = `/tenants/${String(tenantId).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`;
      for (const [path, name, rows] of [
        [tenant, 'transfers', count],
        // The account was funded twice.
        [`/accounts/${account}`, 'movements', count + 1],
        [`/endpoints/${endpoint}`, 'deliveries', count],
      ] as const) {
        const cells = await listed(`${path}/${name}`);
        assert.equal(cells.length, rows, `${path}/${name}`);
        const leadsOn = (await page(path)).text.includes(`href="${path}/${name}"`);
        assert.equal(leadsOn, rows > 10, `${path}/${name}`);
        await page(`${path}/${name}?after=x=`, 404);
      }
      assert.equal(new Set(await listed(`${tenant}/transfers`)).size, count);
      await page(`/batches/${batch}/transfers`, 404);
    });

    it(`the search of the support desk finds ${count} items by every filter`, async () => {
      await fill(count);
      const copies = (made.get('transfers') ?? []).slice(1);
      assert.deepEqual(await found(`day=${DAY}`, 'transfers'), [...copies].sort());
      const first = made.get('transfers')?.[0] ?? newId();
      const search = (query: Readonly<Record<string, string>>): Promise<Answer> =>
        page(`/search?${new URLSearchParams(query).toString()}`);
      for (const asset of ASSETS)
        for (const amount of [
          ...['', '1.00', '1000.00', '1,000', '1,000.00'],
          `1,000.00 ${asset}`,
          '12=',
          '=',
        ])
          await search({ day: DAY, amount, asset });
      for (const wanted of [
        first.slice(0, 13),
        newId(),
        '$ana',
        '+573001112233',
        'case-118',
        AWKWARD,
      ])
        await search({ text: wanted });
      for (const day of ['', 'x=', '2026-02-30', '2026-1-1']) await search({ day, amount: '1' });
      for (const from of ['', 'x=', first, newId()]) await search({ day: DAY, from });
    });
  }

  it('the search of the support desk finds each of 60 transfers of one millisecond', async () => {
    await fill(1);
    const day = '2026-11-10';
    const ids = Array.from({ length: 60 }, () =>
      idFromDigest(Date.parse(`${day}T17:00:00Z`), randomBytes(16)),
    );
    await copy('transfers', `t.id=${idLiteral(lists.transfers.first)}`, ids, { id: 'copy.id' });
    assert.deepEqual(await found(`day=${day}`, 'transfers'), ids.sort());
  });

  it('a filter of a long list at the support desk examines 10,000 rows, and continues on the next page', async () => {
    await fill(1);
    const account = owners.account;
    const transfer = `t.id=${idLiteral(lists.transfers.first)}`;
    const [tenant] = await db.sql(`SELECT tenant_id AS id FROM transfers t WHERE ${transfer}`);
    const tenantId = uuid.parse(tenant?.id);
    const ids = Array.from({ length: 10_001 }, (_, n) => idFromDigest(NOON + n, randomBytes(16)));
    await copy('transfers', transfer, ids, {
      ...{ id: 'copy.id', raw: '5', created_at: 'NOW(3)', description: "'new'" },
    });
    const newest = `t.account_id=${idLiteral(account)} AND t.seq=1`;
    await copy('entries', newest, ids, { id: 'copy.id', raw: '5', seq: 'copy.n+1000' });
    for (const [path, query, rest] of [
      [`/tenants/${tenantId}/transfers`, 'text=c%26d', lists.transfers.first],
      [`/accounts/${account}/movements`, 'amount=10000000', '>pay-in</th>'],
    ] as const) {
      const first = await page(`${path}?${query}`);
      assert.match(first.text, /Only a part of the list was searched/);
      const summed = /<a class="screen" href="([^"]*)">Count and sum all</.exec(first.text)?.[1];
      const { text } = await page((summed ?? '').replaceAll('&amp;', '&'));
      assert.match(text, />\d+ found, in total [\d,.]+ COPM\.</);
      assert.doesNotMatch(text, /Count and sum all/);
      assert(!first.text.includes(rest), path);
      assert((await page(nextOf(first) ?? '')).text.includes(rest), path);
    }
    await db.sql('DELETE FROM transfers WHERE raw=5');
    await db.sql('DELETE FROM entries WHERE raw=5');
  });

  it('the start page of the support desk counts the endpoints that fail or are paused', async () => {
    await fill(1);
    const shown = async (): Promise<boolean> =>
      /<strong>0<\/strong> Failing endpoints/.test((await page('/')).text);
    assert.equal(await shown(), false);
    await db.sql('UPDATE webhook_endpoints SET paused_at=NULL, paused_by=NULL');
    assert.equal(await shown(), true);
    await db.sql("UPDATE webhook_endpoints SET paused_at=NOW(3), paused_by='maria'");
  });

  it('the page of tenants at the support desk shows the totals moved, pending and failed today', async () => {
    await fill(1);
    await db.sql(
      `INSERT INTO daily_totals SELECT id, 'COPM', DATE_FORMAT(CONVERT_TZ(UTC_TIMESTAMP(),'+00:00','-05:00'),'%Y-%m-%d'),
       123400, 2, 56700, 1, 890000, 3 FROM tenants WHERE time_zone='America/Bogota'`,
    );
    const { text: shown } = await page('/tenants');
    for (const [heading, sum] of [
      ['Moved today', '1,234.00 COPM'],
      ['Pending', '8,900.00 COPM'],
      ['Failed today', '567.00 COPM'],
    ] as const)
      assert.match(
        shown,
        new RegExp(`data-label="${heading}" class="number"><div><p><span class="amount">${sum}<`),
      );
    await db.sql('DELETE FROM daily_totals');
  });

  it('an endpoint without deliveries has no list of them on its page of the support desk', async () => {
    const { bank } = await openGuarded(api);
    const path = `/endpoints/${text((await register(bank, ['transfer.completed'])).id)}`;
    assert(!(await page(path)).text.includes('Newest deliveries'));
    assert.match((await page(`${path}/deliveries`)).text, /Nothing here/);
  });

  it('the support desk lists every tenant once, in the order of their names', async () => {
    await fill(1);
    const where = `t.name=(SELECT MIN(name) FROM (SELECT name FROM tenants) named)`;
    const ids = Array.from({ length: 60 }, (_, n) => idFromDigest(NOON + n, randomBytes(16)));
    await copy('tenants', where, ids, { id: 'copy.id', name: `CONCAT('b&+ ', copy.n)` });
    const cells = await listed('/tenants');
    const known = await db.sql('SELECT name FROM tenants ORDER BY name');
    assert.equal(cells.length, known.length);
    const names = cells.map((cell) => />([^<]*)<\/a>/.exec(cell)?.[1]?.replaceAll('&amp;', '&'));
    assert.deepEqual(
      names,
      known.map(({ name }) => name),
    );
    assert.match((await page('/')).text, /href="\/tenants"/);
  });

  it('the search of the support desk finds an amount as it is printed, on the day of each tenant, and shows its times in that zone', async () => {
    await fill(1);
    const far = (await openBank(api, { timeZone: 'Pacific/Kiritimati' })).tenant.tenant.id;
    const at = '2026-11-18T23:00:00.000Z';
    const idThen = (): Uuid => idFromDigest(Date.parse(at), randomBytes(16));
    const [near, distant] = [idThen(), idThen()];
    const created = `'${at.slice(0, -1).replace('T', ' ')}'`;
    const changes = { id: 'copy.id', created_at: created, raw: '2500000' };
    const first = `t.id=${idLiteral(lists.transfers.first)}`;
    await copy('transfers', first, [near], changes);
    await copy('transfers', first, [distant], { ...changes, tenant_id: idLiteral(far) });
    for (const [day, id, shown] of [
      ['2026-11-18', near, ['2026-11-18 18:00:00', 'UTC-05:00']],
      ['2026-11-19', distant, ['2026-11-19 13:00:00', 'UTC+14:00']],
    ] as const) {
      const [clock, offset] = shown;
      const printed = formatAmount({ raw: 2_500_000n, asset: 'COPM' });
      for (const amount of ['25,000.00', printed, '25000']) {
        const answer = await page(`/search?${new URLSearchParams({ day, amount }).toString()}`);
        assert.deepEqual(linked(answer, 'transfers'), [id], `${day} ${amount}`);
        assert(answer.text.includes(printed), answer.text);
        assert(answer.text.includes(`>Requested, ${offset}</th>`), answer.text);
        assert(answer.text.includes(`>${clock}</time>`), answer.text);
      }
      const { text: own } = await page(`/transfers/${id}`);
      assert(own.includes(shown.join(' ')) && !own.includes('UTC+00:00'), own);
    }
    // The times of a column with several offsets have their own.
    const { text: both } = await page(
      `/search?${new URLSearchParams({ text: `${near.slice(0, 8)}` }).toString()}`,
    );
    for (const shown of ['2026-11-18 18:00:00 UTC-05:00', '2026-11-19 13:00:00 UTC+14:00'])
      assert(both.includes(shown), both);
    assert.match((await page('/search')).text, /<input name="day" type="date"/);
  });
});
