import assert from 'node:assert/strict';
import { parseDetails } from '../../src/access/audit-log.js';
import { instant, localTime } from '../../src/core/instant.js';
import { LISTS, WAITING_KINDS } from '../../src/support/reading/waiting.js';
import { answered, idLiteral, text } from '../helpers/bank.js';
import { openGuarded } from '../helpers/guarded.js';
import { assertLedgerSound } from '../helpers/world.js';
import { register } from '../webhooks/support.js';
import { formOf, openDesk } from './desk.js';

const { db, api, desk, maria } = await openDesk();
const own = await openGuarded(api);

describe('the lists of the support desk', () => {
  type Query = Record<string, string>;
  afterEach(() => assertLedgerSound(db.database));

  it('a list can be downloaded as CSV with its filter: no cell runs as a formula, and each download is a line in the audit log', async () => {
    const { name } = own.bank.tenant.tenant;
    const description = '=HYPERLINK("https://evil.example")';
    const id = text((await own.createPending({ raw: 5_555_500n, description })).id);
    await own.createPending();
    const query = new URLSearchParams({ tenant: name, amount: '55,555', asset: 'COPM' }).toString();
    const { text: page } = await maria.get(`/waiting/transfers?${query}`);
    const action = `/waiting/transfers/csv?${query}`;
    const { fields } = formOf(page, action.replaceAll('&', '&amp;'));
    const answer = await maria.post(action, fields);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/csv/);
    assert.match(answer.headers.get('content-disposition') ?? '', /transfers\.csv/);
    const [heading, row = '', ...others] = answer.text.trim().split('\r\n');
    assert.equal(
      heading,
      'Id,Amount,Asset,From,To,Description,Status,Details,Expires,Tenant,Requested,Requested by',
    );
    const { guarded, receiver } = own;
    assert(row.startsWith(`${id},55555.00,COPM,${guarded.name},${receiver.name},`), row);
    assert.match(
      row,
      /,"?'=HYPERLINK.*,pending_approval,"1 more approval, by support or a member",/,
    );
    assert.match(row, /,20[\d-]{8}T[\d:.]{12}Z,[^,]+,20[\d-]{8}T[\d:.]{12}Z,[^,]+$/);
    assert.deepEqual(others, []);
    assert.equal((await maria.post(action, {})).status, 403);
    const lines = await desk.acts('transfers');
    assert.deepEqual(
      lines.map((line) => [line.action, line.actorClaimed, parseDetails(line).rows]),
      [['list.export', 'maria', 1]],
    );
  });

  it('a download has the same columns whatever its list contains', async () => {
    const of = 'Amount,Asset,From,To,Description,Status,Details,Expires';
    const requested = 'Tenant,Requested,Requested by';
    const columns = {
      transfers: `${of},${requested}`,
      payouts: `${of},At the rail since,Stuck since,${requested}`,
      batches: 'Batch,Rows,Total,Asset,From,Status,Details,Tenant,Requested by,Uploaded',
      endpoints: 'Address,Status,Details,Disabled,Tenant,Failing since,Last success',
      adjustments:
        'Amount,Asset,Direction,Account,Reason,Reference,Status,Details,Tenant,Proposed by,Proposed',
    };
    const { fields } = formOf((await maria.get('/')).text, '/sign-out');
    const headerOf = async (path: string): Promise<string> => {
      const { text: csv } = await maria.post(path, fields);
      return csv.slice('Id,'.length, csv.indexOf('\r\n'));
    };
    for (const kind of WAITING_KINDS) {
      const header = await headerOf(`/waiting/${kind}/csv?text=nobody`);
      assert.equal(header, columns[LISTS[kind].rows], kind);
    }
    const { guarded } = own;
    const others = {
      ...columns,
      schedules: 'Amount,Asset,From,To,Description,Status,Next run,Tenant',
      bonuses: 'Amount,Asset,From,To,Description,Reference,Tenant,Paid,Paid by',
      accounts: 'Account,Alias,Type,Status,Tenant',
      movements: 'Movement,Related id,Direction,Amount,Asset,Balance after,With,Description,Time',
    };
    for (const [list, header] of Object.entries(others)) {
      if (list === 'adjustments') continue;
      const owner =
        list === 'movements' ? `/accounts/${guarded.id}` : `/tenants/${guarded.tenantId}`;
      const found = await headerOf(`${owner}/${list}/csv`);
      assert.equal(found, header.replace(',Tenant', ''), list);
    }
    const endpoint = await register(own.bank, ['transfer.completed'], 'https://csv.example/');
    assert.equal(
      await headerOf(`/endpoints/${text(endpoint.id)}/deliveries/csv`),
      'Event,Event id,Cause,State,Details,Next attempt,Attempts',
    );
  });

  it('the filter of a list takes an amount in every form that the search takes', async () => {
    const id = text((await own.createPending({ raw: 6_666_600n })).id);
    const isListed = async (amount: string): Promise<boolean> => {
      const query = new URLSearchParams({ amount, tenant: own.bank.tenant.tenant.name });
      const { text: page } = await maria.get(`/waiting/transfers?${query.toString()}`);
      return page.includes(`href="/transfers/${id}`);
    };
    for (const amount of ['66,666', '66.666', '66 666', 'COPM 66,666', '66.666,00 copm', '66666'])
      assert.equal(await isListed(amount), true, amount);
    for (const amount of ['66,667', '66.667', '66 667', 'COPM 66,667', 'DUSD 1', 'Ana 66,666'])
      assert.equal(await isListed(amount), false, amount);
  });

  it('a range of amounts restricts a list of what waits with its count, its selection, its CSV, and what follows an item', async () => {
    const wait = async (raw: bigint): Promise<string> =>
      text((await own.createPending({ raw, description: 'Rango' })).id);
    const [low, middle] = [await wait(4_040_400n), await wait(5_050_500n)];
    const small = await wait(1_000_000n);
    for (const [amount, ids] of [
      ['40,404..50,505', [low, middle]],
      ['..40,404', [low, small]],
      ['50,505..', [middle]],
      ['40.404', [low]],
    ] as const) {
      const query = new URLSearchParams({ text: 'rango', amount }).toString();
      const { text: page } = await maria.get(`/waiting/transfers?${query}&select=all`);
      assert.match(page, /<label\s*>Amount or from\.\.to<input/);
      const items = page.matchAll(/name="item" value="([^"]*)" form="set" checked/g);
      assert.deepEqual(
        Array.from(items, ([, id]) => id),
        ids,
        amount,
      );
      assert(page.includes(`<title>(${ids.length}) `), amount);
      assert.match(page, /Printed by maria at <time[^>]*>[^<]* UTC-05:00<\/time>/);
      assert.match(page, /<a class="screen"[^>]*>Reverse the order</);
      const { fields } = formOf(page, `/waiting/transfers/csv?${query.replaceAll('&', '&amp;')}`);
      const { text: csv } = await maria.post(`/waiting/transfers/csv?${query}`, fields);
      const lines = csv.trim().split('\r\n').slice(1);
      assert.deepEqual(
        lines.map((line) => line.split(',')[0]),
        ids,
      );
      const { text: item } = await maria.get(`/transfers/${ids[0]}?in=transfers&${query}`);
      const [, next] = /rel="next"\s+href="\/transfers\/([^?"]*)/.exec(item) ?? [];
      assert.equal(next, ids[1], amount);
    }
  });

  it('a list of what waits can be restricted to words of its texts and names, and reversed, and its items lead on in the same way', async () => {
    const to = await own.account({ name: 'Ximena Ñandú', type: 'person' });
    const wait = async (description: string): Promise<string> =>
      text((await own.createPending({ description, to })).id);
    const [first, second] = [await wait('Flete de Año uno'), await wait('Flete de Año dos')];
    const other = text((await own.createPending({ description: 'Flete de otro' })).id);
    const listed = async (query: Query): Promise<readonly string[]> => {
      const search = new URLSearchParams({ tenant: own.bank.tenant.tenant.name, ...query });
      const { text: page } = await maria.get(`/waiting/transfers?${search.toString()}`);
      const known = [first, second, other].filter((id) => page.includes(`href="/transfers/${id}`));
      return known.sort((a, b) => page.indexOf(a) - page.indexOf(b));
    };
    for (const words of ['ano flete', 'ximena', 'NANDU ano'])
      assert.deepEqual(await listed({ text: words }), [first, second], words);
    assert.deepEqual(await listed({ text: 'flete' }), [first, second, other]);
    assert.deepEqual(await listed({ text: 'flete', order: 'reversed' }), [other, second, first]);
    assert.deepEqual(await listed({ text: 'ximena otro' }), []);
    assert.deepEqual(await listed({ text: 'ximena dos', amount: '1..' }), [second]);
    for (const [order, next] of [
      ['', second],
      ['reversed', first],
    ] as const) {
      const place = new URLSearchParams({ in: 'transfers', text: 'flete ximena', order });
      const { text: page } = await maria.get(
        `/transfers/${order === '' ? first : second}?${place.toString()}`,
      );
      assert.match(page, new RegExp(`rel="next"\\s+href="/transfers/${next}`), order);
    }
    // The lists of other resources have other texts and names.
    for (const kind of WAITING_KINDS)
      assert.match((await maria.get(`/waiting/${kind}?text=nobody`)).text, /Nothing here/, kind);
  });

  it('the lists of a resource and of the tenants can be downloaded too, and the line in the audit log is that of the resource', async () => {
    const { id: tenantId, name } = own.bank.tenant.tenant;
    const transfer = text((await own.createPending()).id);
    for (const [page, list, subject, expected] of [
      [`/tenants/${tenantId}`, 'transfers', tenantId, transfer],
      [`/accounts/${own.guarded.id}`, 'movements', own.guarded.id, ',payin_in,'],
      ['', 'tenants', 'tenants', name],
    ] as const) {
      const shown = await maria.get(`${page}/${list}`);
      const { fields } = formOf(shown.text, `${page}/${list}/csv`);
      const { text: csv, headers } = await maria.post(`${page}/${list}/csv`, fields);
      assert.match(headers.get('content-disposition') ?? '', new RegExp(`${list}\\.csv`));
      assert(csv.startsWith('Id,') && csv.includes(expected), csv);
      const last = (await desk.acts(subject)).at(-1);
      assert(last?.action === 'list.export' && last.actorClaimed === 'maria');
      assert.equal(parseDetails(last).rows, csv.trim().split('\r\n').length - 1);
    }
  });

  /** Returns those of the texts that a list with this filter shows. */
  async function shown(path: string, query: Query, texts: readonly string[]): Promise<string[]> {
    const { text: page } = await maria.get(`${path}?${new URLSearchParams(query).toString()}`);
    return texts.filter((one) => page.includes(one));
  }
  const today = localTime(instant(Date.now()), 'America/Bogota').slice(0, 10);

  it('the transfers of a tenant can be restricted by status, amount, days, and a part of a description or name', async () => {
    const to = await own.account({ name: 'Úrsula Nadal', type: 'person' });
    const id = text(
      (await own.createPending({ raw: 7_777_700n, description: 'Arriendo de Año', to })).id,
    );
    const other = text((await own.createPending({ raw: 7_777_800n, description: 'Otro' })).id);
    const path = `/tenants/${own.bank.tenant.tenant.id}/transfers`;
    const listed = async (query: Query): Promise<string[]> => shown(path, query, [id, other]);
    for (const query of [
      { amount: '77.777' },
      { amount: '77 777', asset: 'COPM', status: 'pending_approval' },
      ...[{ amount: '77,000..77,777' }, { amount: '..77.777', text: 'de ano' }],
      ...[{ text: 'de ano' }, { text: 'ano arr' }, { text: 'nadal  ursula arriendo' }],
      { text: 'URSULA N', day: today, until: today },
      { text: 'arriendo', amount: '77,777', day: '2020-01-01' },
    ])
      assert.deepEqual(await listed(query), [id], JSON.stringify(query));
    for (const query of [{ amount: '77 777 .. COPM 77,778' }, { amount: '77,777..', day: today }])
      assert.deepEqual(await listed(query), [id, other], JSON.stringify(query));
    const summed = await maria.get(`${path}?amount=77,777..77,778&status=pending_approval`);
    assert.match(summed.text, />2 found, in total 155,555\.00 COPM\.</);
    assert(!(await maria.get(path)).text.includes(' found'));
    for (const amount of ['77,779..77,776', '1..2..3', '..', '1..x'])
      assert.match(
        (await maria.get(`${path}?amount=${amount}`)).text,
        new RegExp(`&quot;${amount}&quot; is not an amount`),
      );
    for (const query of [{}, { status: 'pending_approval', asset: 'COPM' }, { day: today }])
      assert.deepEqual(await listed(query), [id, other], JSON.stringify(query));
    for (const query of [
      ...[{ status: 'completed' }, { asset: 'DUSD' }, { until: '2020-01-01' }],
      ...[{ text: 'ursula otro' }, { text: 'arriendo', amount: '77,778' }],
      ...[{ amount: '1.x' }, { day: '2026-02-30' }],
    ])
      assert.deepEqual(await listed(query), [], JSON.stringify(query));
    assert.match((await maria.get(`${path}?amount=1.x`)).text, /&quot;1\.x&quot; is not an amount/);
    for (const [query, fault] of [
      ['day=2026-02-30', /is not a day/],
      ['until=9999-12-31', /is not a day/],
      [
        'day=2026-03-02&until=2026-03-01',
        /&quot;2026-03-01&quot; is before &quot;2026-03-02&quot;/,
      ],
      ['status=done', /is not a status/],
    ] as const) {
      const { text: page } = await maria.get(`${path}?${query}`);
      assert.match(page, fault);
      assert.doesNotMatch(page, /Nothing here/);
    }
  });

  it('a canceled transfer has a status of its own, by which transfers can be restricted', async () => {
    const [canceled, rejected] = [await own.createPending(), await own.createPending()];
    const ids = [text(canceled.id), text(rejected.id)];
    answered(await own.act('cancel', canceled.id, 'creator'), 200);
    answered(await own.act('reject', rejected.id, 'approver'), 200);
    const path = `/tenants/${own.bank.tenant.tenant.id}/transfers`;
    assert.deepEqual(await shown(path, { status: 'canceled' }, ids), ids.slice(0, 1));
    assert.deepEqual(await shown(path, { status: 'rejected' }, ids), ids.slice(1));
    assert.deepEqual(await shown(path, {}, ids), ids);
    for (const [id, mark] of [
      [ids[0], '<span class="tag none">canceled</span>'],
      [ids[1], '<span class="tag bad">rejected</span>'],
    ] as const) {
      const { text: page } = await maria.get(`/transfers/${id}`);
      assert(page.includes(mark), page);
      // The event of both is transfer.rejected.
      const timeline = page.slice(
        page.indexOf('id="story"'),
        page.indexOf('</section>', page.indexOf('id="story"')),
      );
      assert.equal(/>Canceled</.test(timeline), id === ids[0], timeline);
      assert.equal(/>Rejected</.test(timeline), id === ids[1], timeline);
    }
  });

  it('the movements of an account can be restricted by amount, days, and a part of a description or name', async () => {
    const to = await own.account({ name: 'Íngrid Sosa', type: 'person' });
    const PAY_IN = '>pay-in</th>';
    const [first, other] = ['Cena de Año', 'Otra cosa'];
    answered(await own.send({ raw: 133_300n, description: first, to }), 201);
    answered(await own.send({ raw: 133_400n, description: other }), 201);
    const listed = async (query: Query): Promise<string[]> =>
      shown(`/accounts/${own.guarded.id}/movements`, query, [first, other, PAY_IN]);
    for (const query of [
      ...[
        { amount: '1.333' },
        { amount: 'COPM 1,333' },
        { amount: '1,332..1,333' },
        { text: 'cena DE ano' },
        ...[{ text: 'ano cena' }, { text: 'sosa cena ingrid' }],
      ],
      { text: 'ingrid', amount: '1 333', day: today, until: today },
    ])
      assert.deepEqual(await listed(query), [first], JSON.stringify(query));
    assert.deepEqual(await listed({ day: today }), [first, other, PAY_IN]);
    for (const [query, found] of [
      [{ direction: 'out' }, [first, other]],
      [{ direction: 'in' }, [PAY_IN]],
      [{ kind: 'transfer' }, [first, other]],
      [{ kind: 'payin', direction: 'in' }, [PAY_IN]],
      [{ kind: 'transfer', text: 'cena' }, [first]],
      [{ kind: 'payin', direction: 'out' }, []],
      [{ kind: 'transfer', direction: 'in' }, []],
      [{ kind: 'x' }, []],
    ] as const)
      assert.deepEqual(await listed(query), found, JSON.stringify(query));
    assert.deepEqual(await listed({ asset: 'DUSD' }), [PAY_IN]);
    const rowOf = async (account: string): Promise<string> => {
      const { text: page } = await maria.get(`/accounts/${account}/movements?amount=1,333`);
      return (page.split('<tr>')[2] ?? '').replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    };
    const { text: of } = await maria.get(`/accounts/${own.guarded.id}/movements?asset=COPM`);
    assert.match(of, /> *3 found, in total [\d,.]+ COPM\.</);
    assert.match(await rowOf(own.guarded.id), /^ transfer out -1,333\.00 COPM /);
    assert.match(await rowOf(to.id), /^ transfer in \+1,333\.00 COPM /);
    for (const query of [{ text: 'ingrid', amount: '1,334' }, { until: '2020-01-01' }])
      assert.deepEqual(await listed(query), [], JSON.stringify(query));
  });

  it('the page of an account shows the newest transfers and payouts that it asked for, also those that wait or were refused', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 11; count += 1) ids.push(text((await own.createPending()).id));
    answered(await own.act('reject', ids.at(-1), 'approver'), 200);
    const of = `/accounts/${own.guarded.id}`;
    const { text: page } = await maria.get(of);
    const table = page.slice(page.indexOf('id="transfers"'));
    const rows = table.slice(0, table.indexOf('</section>')).split('<tr>').slice(2);
    assert.equal(rows.length, 10);
    for (const [index, id] of ids.toReversed().slice(0, 10).entries()) {
      assert(rows[index]?.includes(`href="/transfers/${id}"`), rows[index]);
      assert(rows[index]?.includes(index === 0 ? '>rejected<' : '>pending approval<'), rows[index]);
    }
    assert(table.includes(`href="${of}/transfers">All transfers</a>`), table);
    assert.deepEqual(await shown(`${of}/transfers`, {}, ids), ids);
    assert.match((await maria.get(`${of}/payouts`)).text, /Nothing here/);
  });

  it('the title of a list shows its count, and an item that expires within the hour is marked', async () => {
    const late = text((await own.createPending()).id);
    const marked = async (id: string): Promise<boolean> => {
      const { text: page } = await maria.get('/waiting/transfers');
      const row = page.split('<tr').find((one) => one.includes(id)) ?? '';
      return row.includes('expires soon');
    };
    assert.equal(await marked(late), true);
    const shift = async (by: string): Promise<void> => {
      const [transfer, hold] = ['approval_expires_at', 'expires_at'].map(
        (at) => `${at}=${at}${by}`,
      );
      await db.sql(`UPDATE transfers SET ${transfer} WHERE id=${idLiteral(late)}`);
      await db.sql(`UPDATE holds SET ${hold} WHERE resource_id=${idLiteral(late)}`);
    };
    await shift('+INTERVAL 2 HOUR');
    assert.equal(await marked(late), false);
    await shift('-INTERVAL 2 HOUR');
    const { text: page } = await maria.get('/waiting/transfers');
    assert.match(page, /<title>\(\d+\) Transfers to approve – Support desk<\/title>/);
  });

  it('a list that refreshes by itself does not keep a session in use', async () => {
    const visitor = await desk.staffed('watcher');
    const old = `last_used_at=last_used_at-INTERVAL 29 MINUTE`;
    const ofWatcher = `staff_id=${idLiteral(visitor.person.id)}`;
    const lastUse = async (): Promise<unknown> =>
      (await db.sql(`SELECT last_used_at AS at FROM staff_sessions WHERE ${ofWatcher}`))[0]?.at;
    await db.sql(`UPDATE staff_sessions SET ${old} WHERE ${ofWatcher}`);
    const before = await lastUse();
    const headers = { 'svc-refresh': '1' };
    assert.equal((await visitor.request('GET', '/', { headers })).status, 200);
    assert.deepEqual(await lastUse(), before);
    assert.equal((await visitor.get('/')).status, 200);
    assert.notDeepEqual(await lastUse(), before);
  });
});
