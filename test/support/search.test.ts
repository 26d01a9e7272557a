import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { instant, localTime } from '../../src/core/instant.js';
import { answered, idLiteral, type Json, LEAST, text, walk } from '../helpers/bank.js';
import { openGuarded } from '../helpers/guarded.js';
import { assertLedgerSound } from '../helpers/world.js';
import { SupplierBatches } from '../batches/payout-support.js';
import { accountNumber, HOLDER, openPayoutBank, payoutBody } from '../payouts/support.js';
import { openDesk } from './desk.js';

const { db, api, desk, maria } = await openDesk();
const own = await openGuarded(api);

describe('the search of the support desk', () => {
  afterEach(() => assertLedgerSound(db.database));

  const found = async (query: Record<string, string>): Promise<string> =>
    (await maria.get(`/search?${new URLSearchParams(query).toString()}`)).text;
  const dayOf = (transfer: Json): string =>
    localTime(instant(Date.parse(text(transfer.created_at))), 'America/Bogota').slice(0, 10);

  it('a payout to a key shows its end alone, on its page and among the results', async () => {
    const paying = await openPayoutBank(api);
    const destination = { type: 'bre_b_key', key: '3001112233' };
    const body = { ...payoutBody({ from: paying.source }), destination };
    const created = await paying.bank.request('POST', '/v1/payouts', { body });
    const id = text(answered(created, 201).json.id);
    const pages = [
      await maria.get(`/payouts/${id}`),
      await maria.get(`/search?text=${id.slice(0, 23)}`),
    ];
    for (const { text: page } of pages) assert.match(page, /Bre-B phone \*{4}2233|\/payouts\//);
    assert.match(pages[0]?.text ?? '', /Bre-B phone \*{4}2233/);
    for (const { text: page } of pages) assert(!page.includes('3001112233'));
  });

  it('a payout, a row of its batch and the result of an approval name the recipient with the end of the account number', async () => {
    const batches = await SupplierBatches.open(api);
    const { id } = await batches.ended({});
    const [payout] = await walk(batches.own.bank, `/v1/payouts?batch=${id}`);
    const paying = await openPayoutBank(api);
    await paying.guard();
    const page = `/payouts/${await paying.createPending()}`;
    const code = await desk.freshCode(maria.person);
    const { headers } = await maria.act(page, 'approve', { reason: 'Asked for', code });
    const done = headers.get('location') ?? '';
    const recipient = `${HOLDER}, CO 0007 ****${accountNumber().slice(-4)}`;
    for (const [path, shown] of [
      [`/payout_batches/${id}/rows`, recipient],
      [`/payouts/${text(payout?.id)}`, recipient],
      [done, `goes to ${recipient}, and its rail reports`],
    ] as const) {
      const { text: seen } = await maria.get(path);
      assert(seen.includes(shown) && !seen.includes(accountNumber()), `${path} ${seen}`);
    }
  });

  it('a search finds resources by id, event, key, alias, amount and day, and requests by their time', async () => {
    const key = randomUUID();
    const transfer = await own.createPending({ raw: 1_234_567n }, { key });
    const id = text(transfer.id);
    const value = `A-17 é ${randomUUID()}`;
    const labelled = { body: { metadata: { invoice: value, raw: 'x<b>' } } };
    answered(await own.bank.request('PATCH', `/v1/transfers/${id}`, labelled), 200);
    const account = await own.account({ alias: '$customer' });
    const named = await own.account({ name: 'Quetzal Ramírez' });
    const day = dayOf(transfer);
    const opened = await maria.get(`/search?text=${id}`);
    assert.deepEqual([opened.status, opened.headers.get('location')], [303, `/transfers/${id}`]);
    for (const query of [
      { text: id.slice(0, 13) },
      { text: key },
      { text: value.normalize('NFD') },
      { day, amount: '12345.67', asset: 'COPM' },
    ])
      assert((await found(query)).includes(`href="/transfers/${id}"`), JSON.stringify(query));
    assert(
      ((await found({ text: value })).split('data-label="Found in"')[1] ?? '').includes(value),
    );
    const { text: shown } = await maria.get(`/transfers/${id}`);
    assert.match(shown, new RegExp(`Metadata.*invoice: ${value}.*raw: x&lt;b&gt;`, 's'));
    for (const alias of ['$customer', 'customer', 'Customer'])
      assert((await found({ text: alias })).includes(`href="/accounts/${account.id}"`), alias);
    assert(!(await found({ text: 'custome' })).includes(`href="/accounts/${account.id}"`));
    assert(!(await found({ day, amount: '12345.68', asset: 'COPM' })).includes(id));
    const request =
      answered(await own.bank.get(`/v1/transfers/${id}`), 200).headers.get('svc-request-id') ?? '';
    assert.match(await found({ text: request }), /the request arrived at/);
    for (const unknown of ['nothing has this', 'María Peña', '😀', 'ﬀ'])
      assert.match(await found({ text: unknown }), /No results.*cannot be searched/s, unknown);
    const ofFuture = 'ffffffff-ffff-7fff-bfff-ffffffffffff';
    assert.match(await found({ text: ofFuture }), /the request arrived at.*No results/s);
    assert.match(await found({ amount: '1.x' }), /is not an amount/);
    // A customer's amount is not the beginning of a key.
    await own.createPending({}, { key: `12345${randomUUID().slice(5)}` });
    for (const text of ['12,345.6', '12,345', '12345', '12345.67 COPM', key.slice(0, 12)])
      assert((await found({ text })).includes(`href="/transfers/${id}"`), text);
    for (const text of ['quetzal ra', 'QUÉTZAL RAMIREZ'])
      assert((await found({ text })).includes(`href="/accounts/${named.id}"`), text);
    assert.match(await found({ day: '2026-02-30' }), /&quot;2026-02-30&quot; is not a day/);
  });

  it('a search by days alone shows the newest 25 of each kind, bonuses too, and leads to more of each', async () => {
    const { bank, guarded: from, receiver: to } = own;
    await own.createPending();
    const paid = {
      source_account: from.id,
      recipient: { account_id: to.id },
      amount: { raw: `${LEAST}`, asset: 'COPM' },
    };
    const created = await bank.request('POST', '/v1/bonuses', { body: paid });
    const bonus = text(answered(created, 201).json.id);
    const ids = new Set<string>();
    for (let index = 0; index < 26; index += 1)
      ids.add(text((await bank.sent({ from, to, raw: LEAST })).id));
    const day = dayOf(await own.createPending());
    const shown = await found({ day });
    assert(shown.includes(`href="/bonuses/${bonus}"`), shown);
    assert(!shown.includes('More bonuses') && !shown.includes('Continue the search'), shown);
    const seen: string[] = [];
    for (let path: string | undefined = `/search?day=${day}`; path !== undefined;) {
      const { text: page } = await maria.get(path);
      const links = [...page.matchAll(/href="\/transfers\/([^"?]+)"/g)].map(([, id = '']) => id);
      assert(links.length <= 25, path);
      assert.equal(page.includes('/bonuses/'), seen.length === 0, path);
      seen.push(...links);
      path = /href="([^"]*)">More transfers</.exec(page)?.[1]?.replaceAll('&amp;', '&');
    }
    assert.equal(new Set(seen).size, seen.length);
    for (const id of ids) assert(seen.includes(id));
  });

  it('a search by text and by amount or day finds only resources that match both', async () => {
    const transfer = await own.createPending({ raw: 2_345_678n });
    const { id: other } = await own.createPending({ raw: 2_345_679n });
    const id = text(transfer.id);
    const { id: account } = await own.account({ alias: '$narrow' });
    const day = dayOf(transfer);
    const [amount, asset] = ['23,456.78', 'COPM'];
    const payer = own.guarded.id;
    for (const [query, isFound] of [
      [{ text: id, amount }, true],
      [{ text: id, amount: '23,456.79' }, false],
      [{ text: id, amount: '23,456.78..23,456.78' }, true],
      [{ text: id, amount: '23,456.79..', day }, false],
      ...[
        [{ text: '23,456.78..23,456.79' }, true] as const,
        [{ text: '23456.78..', day }, true] as const,
        [{ text: '23 456.70 .. COPM 23 456.79' }, true] as const,
        [{ text: `${own.bank.tenant.tenant.name} ..23,456.78 COPM`, day }, true] as const,
        [{ text: `23,456.79..23,457 ${own.bank.tenant.tenant.name}` }, false] as const,
        [{ text: '23,456.79..23,457' }, false] as const,
      ],
      [{ text: id, amount, asset: 'DUSD' }, false],
      [{ text: id, amount, asset, day: '2020-01-01' }, false],
      [{ text: id, until: '2020-01-01' }, false],
      [{ text: id, until: day }, true],
      [{ text: id, amount, asset, day }, true],
      [{ text: payer, amount }, true],
      [{ text: own.bank.tenant.tenant.name, amount }, true],
      [{ text: '$narrow', amount }, false],
      [{ text: account, day }, false],
      [{ text: 'nothing has this', amount }, false],
    ] as const) {
      const shown = await found(query);
      const hint = `${JSON.stringify(query)} ${shown}`;
      assert.equal(shown.includes(`href="/transfers/${id}"`), isFound, hint);
      if ('amount' in query && query.amount === amount)
        assert(!shown.includes(`href="/transfers/${text(other)}"`), hint);
    }
  });

  it("operations of the last days are found by any part of their description, and payouts by their holder and rail's reference, in any case and without accents", async () => {
    const paying = await openPayoutBank(api);
    const id = await paying.pay('03', { description: 'Nómina 12' });
    const transfer = text(
      (await own.createPending({ raw: 3_456_789n, description: 'Pago de Año' })).id,
    );
    for (const [query, isFound] of [
      [{ text: 'de ano' }, true],
      [{ text: 'DE AÑO', amount: '34,567.89' }, true],
      [{ text: 'de ano', amount: '34,567.88' }, false],
      [{ text: 'de ano', day: '2020-01-01' }, false],
      [{ text: 'de mes' }, false],
    ] as const) {
      const shown = await found(query);
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
      const shown = await found(query);
      assert.equal(shown.includes(`href="/payouts/${id}"`), isFound, `${query.text} ${shown}`);
    }
    assert.match(
      await found({ text: 'rail-77' }),
      /data-label="Found in".*rail reference: RAIL-77%/,
    );
    await db.sql(`UPDATE payouts SET rail_reference=NULL WHERE id=${idLiteral(id)}`);
  });
});
