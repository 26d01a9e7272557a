import assert from 'node:assert/strict';
import { asUuid } from '../../src/core/ids.js';
import { startTestApi } from '../helpers/api.js';
import { answered, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { assertLedgerSound } from '../helpers/world.js';
import { DOCUMENT } from '../payouts/support.js';
import { fileOf, number, type WantedCell } from './support.js';
import {
  PAYOUT_HEADER,
  SupplierBatches,
  supplier,
  type SupplierRow,
  suppliers,
} from './payout-support.js';

const db = await testDatabase();
const api = await startTestApi(db);

/** A problem as the errors file shows it: row, column, code, and a part of the message. */
type Expected = readonly [number, string, string, string];

const SECRET = '9081726354';

const WRONG_ROWS: readonly (readonly [string, SupplierRow, readonly Expected[]])[] = [
  ['no country', { country: '' }, [[2, 'country', 'missing_field', 'is empty']]],
  [
    'a country in words',
    { country: 'Colombia' },
    [[2, 'country', 'invalid_field', 'two capital letters']],
  ],
  [
    'a country that does not exist',
    { country: 'XX' },
    [[2, 'country', 'invalid_field', 'two capital letters']],
  ],
  ['no bank', { bank_code: '' }, [[2, 'bank_code', 'missing_field', 'is empty']]],
  ['a bank of one digit', { bank_code: '7' }, [[2, 'bank_code', 'invalid_field', '2 to 11']]],
  [
    'a bank as a number',
    { bank_code: number('7007') },
    [[2, 'bank_code', 'invalid_field', 'as text']],
  ],
  ['a bank in small letters', { bank_code: 'abc' }, [[2, 'bank_code', 'invalid_field', '2 to 11']]],
  ['no kind of account', { account_type: '' }, [[2, 'account_type', 'missing_field', 'is empty']]],
  [
    'an unknown kind of account',
    { account_type: 'Savings' },
    [[2, 'account_type', 'invalid_field', 'savings or checking']],
  ],
  ['no account', { account_number: '' }, [[2, 'account_number', 'missing_field', 'is empty']]],
  [
    'an account with spaces',
    { account_number: `${SECRET} 1` },
    [[2, 'account_number', 'invalid_field', 'without spaces']],
  ],
  [
    'an account as a number',
    { account_number: number(SECRET) },
    [[2, 'account_number', 'invalid_field', 'as text']],
  ],
  [
    'an account as a formula',
    { account_number: { kind: 'formula', text: SECRET } },
    [[2, 'account_number', 'formula_cell', 'as text']],
  ],
  [
    'an account of 35 digits',
    { account_number: SECRET.padEnd(35, '0') },
    [[2, 'account_number', 'invalid_field', '4 to 34']],
  ],
  ['no holder', { holder_name: '' }, [[2, 'holder_name', 'missing_field', 'is empty']]],
  [
    'a long holder',
    { holder_name: 'x'.repeat(81) },
    [[2, 'holder_name', 'invalid_field', '80 characters']],
  ],
  ['no document', { holder_document: '' }, [[2, 'holder_document', 'missing_field', 'is empty']]],
  [
    'a document in small letters',
    { holder_document: `cc${SECRET}` },
    [[2, 'holder_document', 'invalid_field', '4 to 20']],
  ],
  [
    'a document with a fraction',
    { holder_document: number(`${SECRET}.5`) },
    [[2, 'holder_document', 'invalid_field', '4 to 20']],
  ],
  [
    'a long description of many numbers',
    { description: '2041,'.repeat(40) },
    [[2, 'description', 'invalid_field', '140 characters']],
  ],
  ['an amount below the minimum', { amount: '1' }, [[2, 'amount', 'below_minimum', 'minimum']]],
  [
    'several',
    { country: '', account_number: '', amount: 'x' },
    [
      [2, 'country', 'missing_field', 'is empty'],
      [2, 'account_number', 'missing_field', 'is empty'],
      [2, 'amount', 'invalid_field', '(150000 is 1,500.00 COPM'],
    ],
  ],
];

describe('the file of a batch of payouts', () => {
  let batches: SupplierBatches;
  before(async () => {
    batches = await SupplierBatches.open(api);
  });
  afterEach(() => assertLedgerSound(db.database));

  async function problemsOf(file: Buffer): Promise<{ readonly id: string; readonly text: string }> {
    const { id, status } = await batches.validated(file);
    assert.equal(status, 'rejected');
    return {
      id,
      text: answered(await batches.own.bank.get(batches.path(id, '/files/errors')), 200).text,
    };
  }

  async function assertProblems(file: Buffer, expected: readonly Expected[]): Promise<void> {
    const { id } = await problemsOf(file);
    const problems = await batches.world.problems(asUuid(id));
    assert.deepEqual(
      problems.map(({ number: row, field, code }) => [row, field, code]),
      expected.map(([row, field, code]) => [row, field, code]),
    );
    for (const [index, [, , , part]] of expected.entries())
      assert.ok(problems[index]?.message.includes(part), problems[index]?.message);
  }

  for (const [what, row, expected] of WRONG_ROWS)
    it(`a row with ${what} rejects the file`, async () => {
      await assertProblems(suppliers(row), expected);
      const errors = (await problemsOf(suppliers(row))).text;
      assert.ok(!errors.includes(SECRET), errors);
    });

  it('a document may be a number cell, and keeps the zeros of its format', async () => {
    const { id } = await batches.ready({ holder_document: number('1020304050') });
    assert.equal((await batches.world.rows(id)).length, 1);
  });

  it('every required column is missed by its name', async () => {
    for (const column of PAYOUT_HEADER.slice(0, 8)) {
      const others = PAYOUT_HEADER.filter((name) => name !== column);
      await assertProblems(fileOf([others]), [[1, column, 'missing_column', column]]);
    }
  });

  const cells = (row: SupplierRow): WantedCell[] => [
    ...supplier({ account_number: SECRET, ...row }),
  ];

  it('a file without a header, and a row with more cells than the header, show no account number', async () => {
    const headless = await problemsOf(fileOf([cells({}), cells({})]));
    const shifted = cells({ amount: SECRET });
    const longer = await problemsOf(
      fileOf([PAYOUT_HEADER, [...shifted.slice(0, 5), 'Ana', SECRET, ...shifted.slice(5)]]),
    );
    for (const { id, text: errors } of [headless, longer]) {
      for (const secret of [SECRET, DOCUMENT]) assert.ok(!errors.includes(secret), errors);
      const stored = JSON.stringify(await batches.world.problems(asUuid(id)));
      assert.ok(!stored.includes(SECRET), stored);
    }
  });

  const groups = SECRET.replace(/(.{3})(.{3})/, '$1 $2 ');
  /** As an open quote leaves it. */
  const swallowed = (text: string): WantedCell => {
    const row = `CO,0007,savings,${SECRET},Ana,${DOCUMENT},150000,COPM`;
    return { kind: 'text', text: `${text}\n${row},${text}`, hasLineBreak: true };
  };
  const metadata = [...PAYOUT_HEADER, 'metadata.x'];
  for (const [what, file] of [
    ['an open quote in a description', suppliers({ description: swallowed('Invoice') })],
    ['an open quote in metadata', fileOf([metadata, [...cells({}), swallowed('A')]])],
    ['an open quote in the header', fileOf([[...PAYOUT_HEADER, swallowed('metadata.x')]])],
    ['an amount that is an account number', suppliers({ amount: `${SECRET}00000` })],
    ['an account number in groups', suppliers({ amount: groups })],
  ] as const)
    it(`${what} shows no account number or document`, async () => {
      const { id, text: errors } = await problemsOf(file);
      const stored = JSON.stringify(await batches.world.problems(asUuid(id)));
      for (const secret of [SECRET, groups, DOCUMENT])
        assert.ok(!`${errors}${stored}`.includes(secret), errors);
    });

  it('a row of a result file that became a payout is refused as already_paid; one that failed may be tried again', async () => {
    const header = [...PAYOUT_HEADER, 'status', 'payout_id'];
    await assertProblems(
      fileOf([header, [...cells({}), 'failed', null], [...cells({}), 'failed', 'x']]),
      [[3, 'payout_id', 'already_paid', 'payout_id']],
    );
  });

  it('metadata and descriptions of a row are those of its payout', async () => {
    const file = fileOf([
      [...PAYOUT_HEADER, 'metadata.order'],
      [...cells({ description: 'Paper' }), 'A-17'],
      [...cells({}), null],
    ]);
    const { id, status } = await batches.validated(file);
    assert.equal(status, 'ready');
    answered(await batches.execute(id), 202);
    await batches.world.pay({ id });
    const found = answered(
      await batches.own.bank.get('/v1/payouts?metadata[order]=A-17'),
      200,
    ).json;
    assert.deepEqual(
      (found.items as { description: string; metadata: unknown }[]).map((one) => [
        one.description,
        one.metadata,
      ]),
      [['Paper', { order: 'A-17' }]],
    );
  });

  it('the template has the columns, and its example row is refused', async () => {
    const csv = answered(await batches.own.bank.get('/v1/payout_batches/template'), 200).text;
    const [header = '', example = ''] = csv.replace('\ufeff', '').trim().split('\r\n');
    assert.deepEqual(header.split(','), [...PAYOUT_HEADER]);
    const row = example.split(',');
    const { id } = await problemsOf(fileOf([PAYOUT_HEADER, row]));
    const [problem] = await batches.world.problems(asUuid(id));
    assert.equal(text(problem?.field), 'account_number');
  });
});
