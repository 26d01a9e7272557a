import assert from 'node:assert/strict';
import { bonuses } from '../../src/db/entities/bonuses.js';
import type { Account } from '../../src/db/entities/parties.js';
import { LEAST } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { BatchWorld, fileOf, number, type WantedCell } from './support.js';

const NAMES = ['recipient', 'amount', 'asset'];
const PAID: readonly WantedCell[] = ['$ana', LEAST.toString(), 'COPM'];
const KEY = 'k'.repeat(40);

const db = await testDatabase();

describe('columns of metadata in a batch', () => {
  let world: BatchWorld;
  let source: Account;

  beforeEach(async () => {
    world = await BatchWorld.open(db);
    source = await world.account({ funds: { COPM: 100n * LEAST } });
    await world.account({ alias: '$ana' });
  });

  it('set the pairs of their row and of its bonus, and a blank cell sets none', async () => {
    const file = fileOf([
      [...NAMES, 'metadata.invoice', ' Metadata.order ', `metadata.${KEY}`, 'metadata'],
      [...PAID, ' A-17 ', number('7'), 'Cafe\u0301', 'ignored'],
      [...PAID, '', null, 'x'.repeat(500), null],
      [...PAID, null, '  ', null, null],
      [null, null, null, null, null, null, 'a row without a value that is read'],
    ]);
    const batch = await world.paid(source, file);
    assert.equal(batch.status, 'completed');
    const rows = await world.rows(batch.id);
    const expected = [
      { invoice: 'A-17', order: '7', [KEY]: 'Café' },
      { [KEY]: 'x'.repeat(500) },
      null,
    ];
    assert.deepEqual(
      rows.map(({ metadata }) => metadata),
      expected,
    );
    const paid = await db.database.reader.select(bonuses, { batchId: batch.id });
    assert.deepEqual(
      paid.toSorted((a, b) => (a.batchRow ?? 0) - (b.batchRow ?? 0)).map((one) => one.metadata),
      expected,
    );
  });

  for (const [what, names, cells, problems] of [
    [
      'an upper-case key',
      ['metadata.Invoice'],
      ['a'],
      [[1, 'metadata', 'invalid_field', 'metadata.Invoice']],
    ],
    [
      'a key with a dash',
      ['metadata.a-b'],
      ['a'],
      [[1, 'metadata', 'invalid_field', 'metadata.a-b']],
    ],
    ['no key', ['metadata.'], ['a'], [[1, 'metadata', 'invalid_field', 'metadata.']]],
    [
      'a forbidden key',
      ['metadata.constructor'],
      [''],
      [[1, 'metadata', 'invalid_field', 'metadata.constructor']],
    ],
    [
      'a forbidden key',
      ['metadata.__proto__'],
      [''],
      [[1, 'metadata', 'invalid_field', 'metadata.__proto__']],
    ],
    [
      'a long key',
      [`metadata.${KEY}k`],
      ['a'],
      [[1, 'metadata', 'invalid_field', `metadata.${KEY}k`]],
    ],
    [
      'a key twice',
      ['metadata.a', 'metadata.a'],
      ['a', 'b'],
      [[1, 'metadata', 'duplicate_column', 'metadata.a']],
    ],
    [
      'a long value',
      [`metadata.${KEY}`],
      ['x'.repeat(501)],
      [[2, `metadata.${KEY}`, 'invalid_field', `${'x'.repeat(99)}…`]],
    ],
    [
      'a control character',
      ['metadata.a'],
      ['a\u0007'],
      [[2, 'metadata.a', 'invalid_field', 'a\ufffd']],
    ],
    [
      'a formula',
      ['metadata.a'],
      [{ kind: 'formula', text: 'A1' }],
      [[2, 'metadata.a', 'formula_cell', 'A1']],
    ],
    [
      'many digits',
      ['metadata.a'],
      [number('12345678901234567')],
      [[2, 'metadata.a', 'invalid_field', '12345678901234567']],
    ],
    [
      'more than 20 pairs',
      Array.from({ length: 21 }, (_, index) => `metadata.k${index}`),
      Array<string>(21).fill('v'),
      [[2, 'metadata', 'invalid_field', '']],
    ],
    [
      'more than 4,096 bytes',
      Array.from({ length: 9 }, (_, index) => `metadata.k${index}`),
      Array<string>(9).fill('x'.repeat(500)),
      [[2, 'metadata', 'invalid_field', '']],
    ],
  ] as const)
    it(`are refused with ${what}: ${names[0]}`, async () => {
      const batch = await world.validated(
        source,
        fileOf([
          [...NAMES, ...names],
          [...PAID, ...cells],
        ]),
      );
      assert.equal(batch.status, 'rejected');
      const found = await world.problems(batch.id);
      assert.deepEqual(
        found.map(({ number: row, field, code, value }) => [row, field, code, value]),
        problems,
      );
    });

  it('21 of them are accepted if no row fills more than 20', async () => {
    const names = Array.from({ length: 21 }, (_, index) => `metadata.k${index}`);
    const row = (blank: number): readonly string[] =>
      names.map((_, at) => (at === blank ? '' : 'v'));
    await world.ready(
      source,
      fileOf([
        [...NAMES, ...names],
        ...[0, 20].map((at) => ['$ana', LEAST.toString(), 'COPM', ...row(at)]),
      ]),
    );
  });

  it('a row of a batch that has only metadata is not an empty row', async () => {
    const file = fileOf([
      [...NAMES, 'metadata.a'],
      ['$ana', LEAST.toString(), 'COPM', ''],
      ['', '', '', 'v'],
    ]);
    const batch = await world.validated(source, file);
    assert.deepEqual(
      (await world.problems(batch.id)).map(({ number: row, field, code }) => [row, field, code]),
      NAMES.map((name) => [3, name, 'missing_field']),
    );
  });
});
