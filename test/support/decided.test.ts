import assert from 'node:assert/strict';
import { instant, localTime } from '../../src/core/instant.js';
import { parseDetails } from '../../src/access/audit-log.js';
import { idLiteral, openBank, text } from '../helpers/bank.js';
import { openGuarded } from '../helpers/guarded.js';
import { assertLedgerSound } from '../helpers/world.js';
import { actFields, formOf, openDesk, type Visitor } from './desk.js';

const { db, api, desk, maria } = await openDesk();
const own = await openGuarded(api);

describe('the decisions of a day at the support desk', () => {
  let leo: Visitor;
  before(async () => {
    leo = await desk.staffed('leo');
  });
  afterEach(() => assertLedgerSound(db.database));

  async function reject(who: Visitor, reason: string): Promise<string> {
    const description = 'November rent';
    const id = text((await own.createPending({ raw: 1_234_500n, description })).id);
    assert.equal((await who.act(`/transfers/${id}`, 'reject', { reason })).status, 303);
    return id;
  }
  const rowsOf = async (query: string): Promise<readonly string[]> => {
    const { text: page, status } = await maria.get(`/decided${query}`);
    assert.equal(status, 200);
    return page.split('<tr>').slice(2);
  };
  const today = localTime(instant(Date.now()), 'America/Bogota').slice(0, 10);

  it('name who decided what and why, newest first, with links, for each person and in total', async () => {
    const [first, second] = [await reject(maria, 'Not theirs'), await reject(leo, 'Twice')];
    const member = text((await own.createPending()).id);
    await own.act('reject', member, 'approver');
    await maria.act(`/transfers/${member}`, 'note', { reason: 'Seen' });
    const late = actFields(maria, 'approve', member);
    await maria.post(`/transfers/${member}/approve`, { ...late, reason: 'Late', code: '000000' });
    const [newest = '', oldest = '', ...others] = await rowsOf('');
    assert.deepEqual(others, []);
    assert(newest.includes(`href="/transfers/${second}">transfer of 12,345.00 COPM</a>`), newest);
    assert.match(newest, /→ .*November rent.*Rejected<.*leo \(support desk\).*“Twice”/s);
    assert(oldest.includes(`href="/transfers/${first}"`));
    const { text: page } = await maria.get('/decided');
    for (const choice of ['Everybody: 2', 'leo: 1', 'maria: 1']) assert(page.includes(choice));
    for (const query of ['?person=leo', `?person=leo&day=${today}`]) {
      const rows = await rowsOf(query);
      assert(rows.length === 1 && rows[0]?.includes(second), query);
    }
    assert.deepEqual(await rowsOf('?person=nobody'), []);
    assert.match((await maria.get('/decided?person=nobody')).text, /selected>nobody: 0/);
  });

  it('are those of the day in the time zone of each tenant, also if their forms were opened the day before', async () => {
    const id = await reject(leo, 'A day of their own');
    const [line] = (await desk.acts(id)).filter(({ action }) => action === 'transfer.reject');
    assert(line !== undefined);
    const day = new Date(line.at - 86_400_000).toISOString().slice(0, 10);
    // In Bogotá, the day begins five hours after midnight in UTC.
    const begins = Date.parse(`${day}T05:00:00Z`);
    const HOUR = 3_600_000;
    /** Whether the line is listed if it has this time, and its form was shown some time before. */
    const isListed = async (at: number, before: number): Promise<boolean> => {
      const other = idAt(line.id, at - before);
      const move = (from: string, to: string, time: number): Promise<unknown> =>
        db.sql(
          `UPDATE audit_log SET id=${idLiteral(to)}, at='${new Date(time).toISOString().slice(0, -1)}' WHERE id=${idLiteral(from)}`,
        );
      await move(line.id, other, at);
      const rows = await rowsOf(`?day=${day}`);
      await move(other, line.id, line.at);
      return rows.some((row) => row.includes(id));
    };
    assert.deepEqual(
      [
        await isListed(begins - 1, HOUR),
        await isListed(begins, 7 * HOUR),
        await isListed(begins + 24 * HOUR - 1, 0),
        await isListed(begins + 24 * HOUR, HOUR),
      ],
      [false, true, true, false],
    );
    for (const wrong of ['2020-02-30', 'foo']) {
      assert.deepEqual(await rowsOf(`?day=${wrong}`), []);
      const { text: page } = await maria.get(`/decided?day=${wrong}`);
      assert(
        page.includes(`&quot;${wrong}&quot; is not a day.`) && page.includes('<h1>Decided</h1>'),
      );
    }
  });

  /** Returns the id with another time. */
  function idAt(id: string, ms: number): string {
    const hex = ms.toString(16).padStart(12, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8)}${id.slice(13)}`;
  }

  it('are those of several days, of a tenant, or of an action', async () => {
    const id = await reject(leo, 'Of some days');
    await openBank(api);
    const [acted] = await desk.acts(id);
    const tenant = idLiteral(acted?.tenantId ?? '');
    const [name, other] = (
      await db.sql(`SELECT name FROM tenants ORDER BY id<>${tenant}, created_at DESC LIMIT 2`)
    ).map((row) => text(row.name));
    assert(name !== undefined && other !== undefined);
    const [begin, end] = [dayFrom(today, -40), dayFrom(today, -3)] as const;
    const isListed = async (query: Record<string, string>): Promise<boolean> =>
      (await rowsOf(`?${new URLSearchParams(query).toString()}`)).some((row) => row.includes(id));
    for (const query of [
      { day: dayFrom(today, -30), until: today },
      { until: today },
      { tenant: name.toUpperCase(), action: 'transfer.reject' },
    ])
      assert(await isListed(query), JSON.stringify(query));
    for (const query of [
      { day: dayFrom(today, -30), until: end },
      { tenant: other },
      { tenant: name, action: 'transfer.approve' },
    ])
      assert(!(await isListed(query)), JSON.stringify(query));
    for (const [query, fault] of [
      [`?day=${begin}&until=${today}`, 'Choose at most 31 days.'],
      [`?day=${today}&until=${end}`, `&quot;${end}&quot; is before &quot;${today}&quot;.`],
      ['?tenant=nobody', '&quot;nobody&quot; is not the name of a tenant.'],
      ['?action=staff.add', '&quot;staff.add&quot; is not a decision.'],
    ] as const)
      assert((await maria.get(`/decided${query}`)).text.includes(fault), fault);
    const { text: page } = await maria.get(`/decided?day=${end}&until=${today}`);
    assert(page.includes(`<h1>Decided from ${end} to ${today}</h1>`), page);
  });

  function dayFrom(day: string, days: number): string {
    return new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
  }

  it('go on after 25 on the next page, each once, and can be downloaded', async () => {
    const { length: known } = await rowsOf('');
    for (let index = known; index < 27; index += 1) await reject(maria, `Number ${index}`);
    const seen: string[] = [];
    for (let path: string | undefined = ''; path !== undefined;) {
      const { text: page } = await maria.get(`/decided${path}`);
      const links = page.matchAll(/href="\/transfers\/([^"]*)"/g);
      seen.push(...Array.from(links, ([, id = '']) => id));
      path = /rel="next" href="\/decided([^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
    }
    assert.deepEqual([seen.length, new Set(seen).size], [27, 27]);
    const { text: page } = await maria.get('/decided?person=maria');
    const action = '/decided/csv?person=maria';
    const { text: csv } = await maria.post(action, formOf(page, action).fields);
    assert.match(
      csv,
      /^Id,Item,Item id,Amount,Asset,From,To,From → to,Description,Action,By,Time,Tenant,Reason,Details\r\n/,
    );
    assert.match(csv, /\n[^,]+,transfer,.*,Number 26,\r\n/);
    assert(csv.includes(`,transfer,${seen[0]},12345.00,COPM,`), csv);
    const rows = csv.trim().split('\r\n').length - 1;
    const last = (await desk.acts('decided')).at(-1);
    assert(last !== undefined);
    assert.deepEqual([last.action, parseDetails(last).rows], ['list.export', rows]);
    assert.equal((await maria.get('/decided?after=x')).status, 404);
  });
});
