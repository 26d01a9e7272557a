import assert from 'node:assert/strict';
import { cleanLines } from '../../src/core/checked-text.js';
import { instant } from '../../src/core/instant.js';
import { MAX_NOTE, takerOf } from '../../src/staff/remarks.js';

const NOW = instant(Date.UTC(2026, 10, 21, 12));
const MINUTE = 60_000;

/** `[minutes ago, action, name]` */
type Line = readonly [number, string, string?];

const CASES: readonly (readonly [string, readonly Line[], string | null])[] = [
  ['nobody has, without lines', [], null],
  ['whoever took it has it', [[5, 'item.take', 'ana']], 'ana'],
  ['it is free after an hour', [[60, 'item.take', 'ana']], null],
  ['it is taken for almost an hour', [[59.9, 'item.take', 'ana']], 'ana'],
  [
    'it is free once it is released',
    [
      [5, 'item.take', 'ana'],
      [1, 'item.release', 'ana'],
    ],
    null,
  ],
  [
    'whoever takes it over has it, in any order of the lines',
    [
      [1, 'item.take', 'leo'],
      [5, 'item.take', 'ana'],
    ],
    'leo',
  ],
  [
    'it is free once anybody has decided it',
    [
      [5, 'item.take', 'ana'],
      [1, 'transfer.reject', 'leo'],
    ],
    null,
  ],
  [
    'a note, an export and a refused action leave it taken',
    [
      [5, 'item.take', 'ana'],
      [3, 'note.add', 'leo'],
      [2, 'list.export', 'leo'],
      [1, 'transfer.approve_refused', 'leo'],
    ],
    'ana',
  ],
  [
    'it can be taken again after a decision',
    [
      [5, 'payout.resolve_propose', 'leo'],
      [1, 'item.take', 'ana'],
    ],
    'ana',
  ],
];

describe('who has taken an item', () => {
  for (const [title, lines, expected] of CASES)
    it(`is read from its lines in the audit log: ${title}`, () => {
      const rows = lines.map(([ago, action, actorClaimed = '']) => ({
        ...{ action, actorClaimed },
        at: instant(NOW - ago * MINUTE),
      }));
      assert.equal(takerOf(rows, NOW)?.name ?? null, expected);
    });
});

describe('a text of several lines', () => {
  for (const [title, given, expected] of [
    ['keeps its lines', ' one  two \r\nthree', { clean: 'one two\nthree' }],
    ['keeps one empty line of several', 'one\n\n\n \ntwo\n\n', { clean: 'one\n\ntwo' }],
    ['is refused if it is empty', ' \n\t', { fault: 'control_character' }],
    ['is refused without a character', ' \n ', { fault: 'too_short' }],
    ['is refused with a control character', 'one\u0000', { fault: 'control_character' }],
    ['is refused with a change of direction', 'one\u202etwo', { fault: 'format_character' }],
    ['may be as long as a note', '😀'.repeat(MAX_NOTE), { clean: '😀'.repeat(MAX_NOTE) }],
    ['is refused if it is longer', 'a\n'.repeat(MAX_NOTE), { fault: 'too_long' }],
  ] as const)
    it(`${title}`, () => assert.deepEqual(cleanLines(given, MAX_NOTE), expected));
});
