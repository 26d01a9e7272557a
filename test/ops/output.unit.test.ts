import assert from 'node:assert/strict';
import type { z } from 'zod';
import { ApiError, invalidField } from '../../src/core/errors.js';
import { SCOPES } from '../../src/core/permissions.js';
import { CommitUnknown, DatabaseUnavailable } from '../../src/db/failures.js';
import { explain, UsageError } from '../../src/ops/failures.js';
import * as inputs from '../../src/ops/inputs.js';
import * as times from '../../src/ops/times.js';

const MOST = '9223372036854775807';

type Case = readonly [
  what: string,
  schema: z.ZodType,
  read: readonly (readonly [given: string, value: unknown])[],
  refused: readonly string[],
];

/** Amounts of COPM and of DUSD. */
const ranges = (least: bigint, most: bigint, leastUsd = 0n, mostUsd = 0n) => [
  { asset: 'COPM', least, most },
  { asset: 'DUSD', least: leastUsd, most: mostUsd },
];

const OPTIONS: readonly Case[] = [
  [
    'an amount is read to its last digit, in the smallest unit or as it is shown',
    inputs.amount.transform((amountIn) => amountIn('COPM')),
    [
      [MOST, BigInt(MOST)],
      ['25000', 25_000n],
      ['25,000.00', 2_500_000n],
      ['25,000.00 COPM', 2_500_000n],
      ['25000.50', 2_500_050n],
      ['0.05', 5n],
    ],
    ['-1', '1e3', ' 1', 'COPM 25', '9223372036854775808', '', '١'],
  ],
  [
    'an amount of a list is read as the desk reads it, or as digits of the smallest unit',
    inputs.amounts,
    [
      ['150000', ranges(150_000n, 150_000n, 150_000n, 150_000n)],
      ['1,500', ranges(150_000n, 150_099n, 1_500_000_000n, 1_500_999_999n)],
      ['1.500,25 COPM', ranges(150_025n, 150_025n).slice(0, 1)],
    ],
    ['', '007', '-1', '1e3', 'abc', '1,500 2,500'],
  ],
  [
    'scopes are a list, or all',
    inputs.scopes,
    [
      ['transfers, read', ['read', 'transfers']],
      ['all', SCOPES],
    ],
    ['', 'read,write', 'all,read'],
  ],
  [
    'a limit is an amount or the word default',
    inputs.amountOrDefault.transform((amountIn) => amountIn?.('DUSD') ?? null),
    [
      ['default', null],
      ['0', 0n],
      ['1.500000', 1_500_000n],
    ],
    ['', 'none', '-1', 'default 1.5'],
  ],
  [
    'a length of time is a number with its unit',
    times.duration,
    [
      ['0s', 0],
      ['15m', 900_000],
      ['24h', 86_400_000],
      ['90d', 7_776_000_000],
    ],
    ['', '5', 'd', '91d', '-1h', '1w', '1.5h'],
  ],
  [
    'a time to wait is within its bounds, with a unit or in seconds',
    times.seconds(60, 2_592_000),
    [
      ['60', 60],
      ['1m', 60],
      ['24h', 86_400],
      ['2592000', 2_592_000],
      ['30d', 2_592_000],
    ],
    ['', '0', '59', '59s', '2592001', '31d', '1.5h', '-60', 'soon', '1w'],
  ],
  [
    'a number is a plain one within its bounds',
    inputs.wholeNumber(1, 3),
    [
      ['1', 1],
      ['3', 3],
    ],
    ['', '0', '4', '1.5', '-1', '1e0', ' 1', 'two'],
  ],
  [
    'rights of the staff are each read once',
    inputs.staffRights,
    [['cancel, approve,cancel', ['approve', 'cancel']]],
    ['', 'all', 'approve,boss'],
  ],
  [
    'grants are members with roles',
    inputs.grants,
    [
      [
        'ana=owner, a=b=viewer',
        [
          { name: 'ana', role: 'owner' },
          { name: 'a=b', role: 'viewer' },
        ],
      ],
    ],
    ['ana', '=owner', 'ana=boss'],
  ],
];

describe('the options of the command line', () => {
  for (const [what, schema, read, refused] of OPTIONS)
    it(what, () => {
      for (const [given, value] of read) assert.deepEqual(schema.parse(given), value, given);
      for (const given of refused) assert.equal(schema.safeParse(given).success, false, given);
    });
});

describe('an amount of the command line', () => {
  it('is refused if it is not written as amounts of its asset are shown', () => {
    for (const given of [
      '1.50 DUSD',
      '1.5',
      '1.500',
      '1,500',
      '25.000',
      '01',
      '2,5,0.00',
      '25000 COPM',
    ])
      assert.throws(
        () => inputs.amount.parse(given)('COPM'),
        new UsageError(
          `${given} is not an amount of COPM: write it with all decimals, such as 1,500.00 COPM`,
        ),
      );
  });
});

describe('an error of the operators’ commands', () => {
  const cause = new Error('connect ECONNREFUSED 127.0.0.1:3306');
  for (const [failure, line] of [
    [
      new ApiError(invalidField('name', 'too_long')),
      'name is not valid: it has more characters than the maximum (invalid_field)',
    ],
    [
      new DatabaseUnavailable('refused', { cause }),
      'MySQL is unavailable: connect ECONNREFUSED 127.0.0.1:3306',
    ],
    [
      new CommitUnknown('no answer'),
      'the connection to MySQL was lost during the commit, so the change may or may not have happened: check before you repeat it',
    ],
    [new TypeError('x is not a function'), 'internal error: x is not a function'],
  ] as const)
    it(`an error of the operators' commands is one line: ${line.slice(0, 40)}`, () =>
      assert.equal(explain(failure), line));
});
