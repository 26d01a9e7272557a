import assert from 'node:assert/strict';
import { instant, localTime } from '../../src/core/instant.js';
import { searchWordsSweep } from '../../src/operations/search-words.js';
import { termsOf } from '../../src/support/reading/term-search.js';
import { SupplierBatches } from '../batches/payout-support.js';
import { answered, idLiteral, type Json, LEAST, text, walk } from '../helpers/bank.js';
import { openGuarded } from '../helpers/guarded.js';
import { assertLedgerSound } from '../helpers/world.js';
import { openDesk } from './desk.js';

const { db, api, maria } = await openDesk();
const own = await openGuarded(api);

describe('the search of the support desk by words', () => {
  afterEach(() => assertLedgerSound(db.database));

  /** Indexes all rows, as the sweep does some minutes later. */
  async function index(): Promise<void> {
    await db.sql(`UPDATE daily_totals_positions SET position=0 WHERE name LIKE 'words/%'`);
    const later = instant(Date.now() + 5 * 60_000);
    const { run } = searchWordsSweep({ database: db.database, clock: () => later });
    await run(new AbortController().signal);
  }
  const found = async (query: Record<string, string>): Promise<string> =>
    (await maria.get(`/search?${new URLSearchParams(query).toString()}`)).text;
  const finds = async (query: Record<string, string>, path: string): Promise<boolean> =>
    (await found(query)).includes(`href="${path}"`);
  const dayOf = (transfer: Json): string =>
    localTime(instant(Date.parse(text(transfer.created_at))), 'America/Bogota').slice(0, 10);

  it('a person is found by any word of the name, without accents, by several words in any order, and by the last digits of the phone', async () => {
    const { id } = await own.account({
      ...{ name: 'María José Pérez Ñuflo', type: 'person', phone: '+573001239876' },
    });
    await index();
    for (const words of ['Pérez', 'perez', 'PÉREZ maría', 'nuflo jose', 'nuf', '9876', '1239876'])
      assert(await finds({ text: words }, `/accounts/${id}`), words);
    assert.match(await found({ text: '1239876' }), /data-label="Found in".*phone: \*{4}9876/);
    const { text: page } = await maria.get(`/accounts/${id}`);
    assert(page.includes('<dt>Phone</dt><dd>****9876</dd>') && !page.includes('1239876'), page);
    assert.match(await found({ text: '5550101' }), /No results\. .*phone is found after a minute/s);
    for (const words of ['pérez carlos', '876', '9875', 'erez'])
      assert(!(await finds({ text: words }, `/accounts/${id}`)), words);
  });

  it('an operation is found by an amount as people write it, with words of its description or of a name, in any order and range of days', async () => {
    const to = await own.account({ name: 'Anabel Quintero', type: 'person' });
    const transfer = await own.createPending({
      ...{ raw: 4_321_000n, description: 'Alquiler de noviembre', to },
    });
    const { id: other } = await own.createPending({ raw: 4_321_100n, description: 'Alquiler' });
    const path = `/transfers/${text(transfer.id)}`;
    const day = dayOf(transfer);
    for (const words of ['Anabel 43,210', '43210 noviembre', 'quintero alquiler'])
      for (const query of [{ text: words }, { text: words, day }])
        assert(await finds(query, path), JSON.stringify(query));
    await index();
    for (const query of [
      ...['43,210', '43.210', '43 210', 'COPM 43,210', '43.210,00', '43,210.00 COPM', '43210'].map(
        (amount) => ({ text: amount }),
      ),
      ...['Anabel 43,210', '43.210 quintero', 'noviembre alquiler', 'COPM 43 210 alquiler'].map(
        (words) => ({ text: words }),
      ),
      { text: 'noviembre', amount: '43.210' },
      { text: 'noviembre', day: '2020-01-01', until: day },
      { text: 'anabel 43,210', day, until: day },
      { text: '', amount: '43 210', day: '2020-01-01', until: day },
    ])
      assert(await finds(query, path), JSON.stringify(query));
    for (const query of [
      { text: 'Anabel 43,211' },
      { text: 'DUSD 43,210' },
      { text: 'noviembre', day: '2020-01-01', until: '2020-12-31' },
      { text: 'noviembre', until: '2020-12-31' },
      { text: 'diciembre alquiler' },
    ])
      assert(!(await finds(query, path)), JSON.stringify(query));
    assert(!(await finds({ text: 'noviembre alquiler' }, `/transfers/${text(other)}`)));
    assert.match(
      await found({ day, until: '2020-01-01' }),
      /&quot;2020-01-01&quot; is before &quot;/,
    );
    const remark = /Only the last 7 days were searched for .*totals of batches/;
    assert.match((await found({ text: '43,210' })).replace(/\s+/g, ' '), remark);
    assert(!(await found({ amount: '43,210', day })).includes('days were searched'));
  });

  it('an operation is found by words of a name together with words of its description', async () => {
    const to = await own.account({ name: 'Brunilda Sáenz', type: 'person' });
    const { guarded: from } = own;
    const [paid, other] = ['Almuerzo del viernes', 'Cena del viernes'];
    const sent = await own.bank.sent({ from, to, raw: LEAST, description: paid });
    await own.bank.sent({ from, to: own.receiver, raw: LEAST, description: paid });
    await own.bank.sent({ from, to, raw: LEAST, description: other });
    await index();
    for (const words of ['brunilda almuerzo', 'viernes SAENZ almuerzo', 'alm saenz brunilda']) {
      const page = await found({ text: words });
      assert.match(page, /Transfers: 1</, words);
      assert(page.includes(`href="/transfers/${text(sent.id)}"`), words);
    }
    for (const query of [
      ...[{ text: 'brunilda desayuno' }, { text: 'bruna almuerzo' }],
      { text: 'brunilda almuerzo', day: '2020-01-01' },
    ])
      assert(!(await finds(query, `/transfers/${text(sent.id)}`)), JSON.stringify(query));
    const day = dayOf(sent);
    for (const query of [
      ...[{ text: 'brunilda' }, { text: 'saenz brun' }, { text: 'viernes almuerzo' }],
      ...[{ text: 'brunilda viernes' }, { text: 'almuerzo SAENZ' }],
    ])
      for (const narrowed of [{ amount: '..1,000,000' }, { day }, { day, amount: '1..' }])
        assert(
          await finds({ ...query, ...narrowed }, `/transfers/${text(sent.id)}`),
          JSON.stringify({ ...query, ...narrowed }),
        );
    for (const text of ['bruna', 'brunilda desayuno'])
      assert.match(await found({ text, amount: '..1,000,000' }), /No results/);
    assert.match(await found({ text: 'brunilda', amount: '1..2' }), /No results/);
    assert(await finds({ text: 'brunilda almuerzo', day }, `/transfers/${text(sent.id)}`));
  });

  it('a search by words shows the newest 25 of each kind, and leads to all others, each once', async () => {
    const { guarded: from, receiver: to } = own;
    const sent: string[] = [];
    for (let count = 0; count < 60; count += 1)
      sent.push(
        text((await own.bank.sent({ from, to, raw: LEAST + 7n, description: 'Ozono' })).id),
      );
    const { id: account } = await own.account({ name: 'Ozono SAS' });
    const seen = async (): Promise<string[][]> => {
      const pages: string[][] = [];
      for (let path: string | undefined = '/search?text=ozono'; path !== undefined;) {
        const { text: page } = await maria.get(path);
        assert.equal(page.includes(`href="/accounts/${account}"`), pages.length === 0, path);
        const heading = ['newest 25', 'next 25', '10'][pages.length];
        assert(page.includes(`>Transfers: ${heading}</h2>`), page);
        const links = page.matchAll(/<th scope="row"[^>]*>\s*<a href="\/transfers\/([^"?]+)/g);
        pages.push(Array.from(links, ([, id = '']) => id));
        path = /href="([^"]*)">More transfers</.exec(page)?.[1]?.replaceAll('&amp;', '&');
      }
      return pages;
    };
    const newestFirst = sent.toReversed();
    const expected = [0, 25, 50].map((start) => newestFirst.slice(start, start + 25));
    // Only recent rows are found without the index.
    assert.deepEqual(await seen(), expected);
    await index();
    assert.deepEqual(await seen(), expected);
    const { text: ofAmount } = await maria.get('/search?text=1,000.07');
    assert(ofAmount.includes('>Transfers: newest 25</h2>'), ofAmount);
    const [, more = ''] = /href="([^"]*)">More transfers</.exec(ofAmount) ?? [];
    const { text: all } = await maria.get(more.replaceAll('&amp;', '&'));
    assert(all.includes('>Transfers: 60</h2>') && !all.includes('More transfers'), all);
  });

  it('a pay-in is found by its amount, with the name of its account or alone, and leads to the account', async () => {
    const { id } = await own.account({ name: 'Berta Zuluaga', funds: { COPM: 5_432_100n } });
    for (const isIndexed of [false, true]) {
      if (isIndexed) await index();
      for (const words of ['54.321', 'Zuluaga 54,321'])
        assert.match(
          await found({ text: words }),
          new RegExp(`Pay-ins: 1</h2>.*href="/accounts/${id}"><span class="amount">54,321.00`, 's'),
          words,
        );
    }
  });

  it('the payouts of a batch are indexed when it has ended, although their ids are as old as its upload', async () => {
    const batches = await SupplierBatches.open(api);
    const { id } = await batches.ready({ holder_name: 'Zacarías Quiroz', description: 'Silos' });
    await index();
    answered(await batches.execute(id), 202);
    assert.equal(await batches.world.pay({ id }), 'over');
    const [payout] = await walk(batches.own.bank, `/v1/payouts?batch=${id}`);
    const { run } = searchWordsSweep(api.core);
    await run(new AbortController().signal);
    const path = `/payouts/${text(payout?.id)}`;
    const words = await db.sql(
      `SELECT word FROM search_words WHERE id=${idLiteral(text(payout?.id))} ORDER BY word`,
    );
    assert.deepEqual(
      words.map(({ word }) => word),
      ['$1000.00', 'quiroz', 'silos', 'zacarias'],
    );
    assert(await finds({ text: 'quiroz silos' }, path));
    const left = await db.sql(
      `SELECT name FROM daily_totals_positions WHERE name='words/batch/${id}'`,
    );
    assert.deepEqual(left, []);
  });

  it('an index that is read twice, or by two workers at once, has each word once', async () => {
    const { id } = await own.account({ name: 'Doble Doble Única' });
    await Promise.all([index(), index()]);
    await index();
    const rows = await db.sql(
      `SELECT word FROM search_words WHERE id=x'${id.replaceAll('-', '')}' ORDER BY word`,
    );
    assert.deepEqual(
      rows.map(({ word }) => word),
      ['doble', 'unica'],
    );
  });
});

describe('the terms of a search', () => {
  it('are its words and what can be read as an amount', () => {
    for (const [given, words, amounts] of [
      ['Ana 25,000', [['ana']], [['$25000.']]],
      ['25.000', [], [['$25000.']]],
      ['25.00', [], [['$25.00']]],
      ['1.500,5', [], [['$1500.5']]],
      ['0.125', [], [['$0.125']]],
      ['$25,000.00', [], [['$25000.00']]],
      ['COPM25000.5', [], [['$25000.5']]],
      ['1 250 000 COPM', [], [['$1250000.']]],
      ['25', [['25', '$25.']], []],
      ['november rent', [['november'], ['rent']], []],
      ['invoice 12/34', [['invoice'], ['12'], ['34']], []],
      ['0000123', [['0000123', '$123.', '#3210000']], []],
    ] as const) {
      const terms = termsOf(given);
      assert.deepEqual([terms.words, terms.amounts], [words, amounts], given);
    }
  });
});
