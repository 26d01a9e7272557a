import assert from 'node:assert/strict';
import { instant } from '../../src/core/instant.js';
import { html, withValues } from '../../src/support/html.js';
import { listCsv, summaryOf } from '../../src/support/pages/export.js';
import { link, money, type Row, sumFact, tag, time } from '../../src/support/pages/layout.js';

const AT = instant(Date.parse('2026-11-30T23:00:00Z'));
const ID = '01a1fef7-8cc4-733d-8c26-f336fbbaebca';
const COPM = { raw: 123_456_789n, asset: 'COPM' } as const;

describe('a list of the support desk as CSV', () => {
  const linesOf = async (header: string, ...rows: readonly Row[]): Promise<readonly string[]> => {
    const { csv, lines } = await listCsv(
      () => Promise.resolve({ ids: rows.map(() => ID), rows, next: null }),
      header.split(','),
    );
    assert(csv.startsWith('\ufeffId,'), 'without a byte order mark');
    const all = csv.slice(1).trimEnd().split('\r\n');
    assert.equal(all.length, lines + 1);
    return all;
  };

  it('has amounts as numbers beside their asset, statuses as the API has them, and times in UTC', async () => {
    assert.deepEqual(
      await linesOf('Amount,Asset,Fee,Status,Details,Requested,Requested by', [
        ['Amount', link('transfers', ID, money(COPM)), 'number'],
        sumFact('Fee', -5n, 'COPM'),
        ['Status', [tag('pending_approval'), html`<p>1 more</p>`, [html` ${tag('stuck')}`]]],
        ['Requested', time(AT, 'America/Bogota', 'Añil, Ltd', { 'Requested by': 'Añil, Ltd' })],
      ]),
      [
        'Id,Amount,Asset,Fee,Status,Details,Requested,Requested by',
        `${ID},1234567.89,COPM,-0.05,pending_approval,"1 more; stuck",2026-11-30T23:00:00.000Z,"Añil, Ltd"`,
      ],
    );
  });

  it('has the columns of its list, whatever the rows are, and a line for each of several amounts', async () => {
    const sums = [money(COPM), money({ raw: 2_500_000n, asset: 'DUSD' })];
    assert.deepEqual(
      await linesOf(
        'Name,Moved,Asset,Stuck since,Expires',
        [
          ['Name', 'acme'],
          ['Moved', sums, 'number'],
          ['Expires', time(AT, 'UTC', 'in 5 min')],
        ],
        [
          ['Name', 'globex'],
          ['Moved', false, 'number'],
          ['Stuck since', null],
        ],
      ),
      [
        'Id,Name,Moved,Asset,Stuck since,Expires',
        `${ID},acme,1234567.89,COPM,,2026-11-30T23:00:00.000Z`,
        `${ID},acme,2.500000,DUSD,,2026-11-30T23:00:00.000Z`,
        `${ID},globex,,,,`,
      ],
    );
    assert.deepEqual(await linesOf('Name,Stuck since'), ['Id,Name,Stuck since']);
  });

  it('has at most 10,000 rows, and ends where a filter finds nothing in 25 parts of the list', async () => {
    const read = async (found: number): Promise<readonly [number, number]> => {
      let parts = 0;
      const { lines } = await listCsv((_after, limit) => {
        parts += 1;
        const rows = Array.from({ length: Math.min(found, limit) }, (): Row => [['Name', 'acme']]);
        return Promise.resolve({ ids: rows.map(() => ID), rows, next: 'more' });
      }, []);
      return [lines, parts];
    };
    assert.deepEqual(await read(1_000), [10_000, 10]);
    assert.deepEqual(await read(700), [10_000, 15]);
    assert.deepEqual(await read(0), [0, 25]);
  });

  it('has a summary with the sum in each asset, which says if there are more rows', async () => {
    const part = (count: number, next: string | null, raw = 1n) => ({
      ids: [],
      rows: Array.from({ length: count }, (): Row => [['Name', 'acme']]),
      amounts: Array.from({ length: count }, () => ({ raw, asset: 'COPM' }) as const),
      next,
    });
    const one = { ...part(1, null), amounts: [COPM, { raw: -5n, asset: 'COPM' }] as const };
    const all = await summaryOf(one, () => assert.fail('the list has no other part'));
    assert.equal(all, '1 found, in total 1,234,567.84 COPM.');
    const atOnce = () => 0;
    const many = await summaryOf(
      part(25, 'x'),
      (_after, limit) => Promise.resolve(part(limit, 'x')),
      atOnce,
    );
    assert.equal(many, 'More than 10000 found, in total 100.00 COPM so far.');
    const few = await summaryOf(part(0, 'x'), () => Promise.resolve(part(1, 'x')), atOnce);
    assert.equal(few, 'At least 25 found, in total 0.25 COPM so far.');
    let passed = 0;
    const slowly = () => {
      passed += 1_200;
      return Promise.resolve(part(1, 'x'));
    };
    const late = await summaryOf(part(25, 'x'), slowly, () => passed);
    assert.equal(late, 'At least 27 found, in total 0.27 COPM so far.');
    const { amounts: _, ...plain } = part(2, null);
    assert.equal(await summaryOf(plain, () => assert.fail()), '2 found.');
  });

  it('has no cell that runs as a formula, and keeps a phone', async () => {
    assert.deepEqual(
      await linesOf('Text,Value,Other,Recipient,Sender', [
        ['Text', '=1+1'],
        ['Value', withValues(html`-`, { '': '@SUM(1)', Other: '-1' })],
        ['Recipient', '+573001112233', 'party'],
        ['Sender', '=1', 'party'],
      ]),
      [
        'Id,Text,Value,Other,Recipient,Sender',
        `${ID},"'=1+1","'@SUM(1)","'-1",+573001112233,"'=1"`,
      ],
    );
  });
});
