import assert from 'node:assert/strict';
import { problemOf, rowsOf, textsOf } from './workbooks.js';

describe('CSV', () => {
  it('is read with commas or semicolons, whichever its header uses', async () => {
    const want = [
      ['a', 'b;c'],
      ['1', '2'],
    ];
    assert.deepEqual(await textsOf('a,"b;c"\n1,2\n'), want);
    assert.deepEqual(await textsOf('a;"b;c"\n1;2\n'), want);
    assert.deepEqual(await textsOf('a;b\n1,5;2\n'), [
      ['a', 'b'],
      ['1,5', '2'],
    ]);
    assert.deepEqual(await textsOf('"a,b,c";d\n'), [['a,b,c', 'd']]);
    assert.deepEqual(await textsOf('alone\nx\n'), [['alone'], ['x']]);
  });

  it('may have any line ends, with or without one after the last line', async () => {
    for (const end of ['\n', '\r\n', '\r'])
      for (const last of ['', end])
        assert.deepEqual(await textsOf(`a,b${end}1,2${end}3,4${last}`), [
          ['a', 'b'],
          ['1', '2'],
          ['3', '4'],
        ]);
  });

  it('may begin with a byte order mark', async () => {
    assert.deepEqual(await textsOf('\ufeffa,b\n'), [['a', 'b']]);
    assert.deepEqual(await textsOf('\ufeff"a",b\n'), [['a', 'b']]);
  });

  it('0x1A at the end of a CSV is not part of it', async () => {
    for (const end of [
      '\x1a',
      '\n\x1a',
      '\r\n\x1a\r\n',
      '\n\x1a\x1a\x1a',
      `\n${'\x1a'.repeat(127)}`,
    ])
      assert.deepEqual(
        await textsOf(`a,b\n1,2${end}`),
        [
          ['a', 'b'],
          ['1', '2'],
        ],
        JSON.stringify(end),
      );
    assert.deepEqual(await textsOf('a\x1a,b\n\x1a,2\n'), [
      ['a\x1a', 'b'],
      ['\x1a', '2'],
    ]);
  });

  it('quoted cells hold separators, line breaks and quotes', async () => {
    assert.deepEqual(await textsOf('a,b\n"1,2","x\r\ny ""z"""\n'), [
      ['a', 'b'],
      ['1,2', 'x\ny "z"'],
    ]);
  });

  it('the rows of a CSV are numbered as a spreadsheet shows them: empty lines count, line breaks inside cells do not', async () => {
    const rows = await rowsOf('a\n\n"1\n2\n3"\n,,\n4\n');
    assert.deepEqual(
      rows.map(({ number, cells }) => [number, cells.at(0)?.text]),
      [
        [1, 'a'],
        [3, '1\n2\n3'],
        [5, '4'],
      ],
    );
  });

  it('every CSV cell is text with its spaces, and an empty one is null', async () => {
    assert.deepEqual((await rowsOf('+57300,-1,@a,, 150000 ,TRUE,\n'))[0]?.cells, [
      { kind: 'text', text: '+57300' },
      { kind: 'text', text: '-1' },
      { kind: 'text', text: '@a' },
      null,
      { kind: 'text', text: ' 150000 ' },
      { kind: 'text', text: 'TRUE' },
    ]);
  });

  it('a CSV cell that begins with = is a formula, with or without spaces before it', async () => {
    for (const text of ['=1+1', ' =A1', '="0012"'])
      assert.deepEqual((await rowsOf(`"${text.replaceAll('"', '""')}",1=1\n`))[0]?.cells, [
        { kind: 'formula', text },
        { kind: 'text', text: '1=1' },
      ]);
  });

  it('characters of several bytes are read correctly across the borders of pieces', async () => {
    for (let shift = 0; shift < 4; shift += 1) {
      const line = `${'x'.repeat(shift)}ñ€👩`;
      const [row] = await rowsOf(`${line.repeat(2_000)}`.slice(0, 2_000));
      assert.ok(row?.cells[0]?.text.startsWith(line));
      const many = `h\n${`${line}\n`.repeat(5_000)}`;
      const texts = await textsOf(many);
      assert.equal(texts.length, 5_001);
      assert.ok(texts.slice(1).every(([text]) => text === line));
    }
  });

  it('that is not UTF-8, or has a NUL, is bad_encoding', async () => {
    for (const [what, bytes] of [
      ['Latin-1', Buffer.from('a,b\ncaf\xe9,1\n', 'latin1')],
      [
        'Latin-1 at the end',
        Buffer.concat([Buffer.from('a,b\n'.repeat(3e4)), Buffer.from([0xe9])]),
      ],
      ['a letter cut at the end', Buffer.from('a,ñ').subarray(0, -1)],
      ['an overlong form', Buffer.from([0x61, 0xc0, 0xaf])],
      ['an encoded surrogate', Buffer.from([0x61, 0xed, 0xa0, 0x80])],
      ['UTF-16 with a mark', Buffer.from('\ufeffa,b\n', 'utf16le')],
      ['UTF-16, the other way', Buffer.from('\ufeffa,b\n', 'utf16le').swap16()],
      ['a NUL', Buffer.from('a,b\n1\0,2\n')],
    ] as const)
      assert.equal(await problemOf(bytes), 'bad_encoding', what);
  });

  it('an open or a misplaced quotation mark makes a CSV unreadable, and the message names the row', async () => {
    for (const [text, row] of [
      ['a,b\n1,2\n"open,3\n4,5\n', 3],
      ['a,b\n"1"2,3\n', 2],
      ['a,b\n1,x"y\n', 2],
      [`a\n"${'b'.repeat(300_000)}`, 2],
    ] as const) {
      assert.equal(await problemOf(text), 'unreadable_file');
      await assert.rejects(rowsOf(text), new RegExp(`row ${row}\\b`));
    }
  });

  it('has at most a hundred columns; empty ones do not count', async () => {
    assert.equal((await textsOf(`${'a,'.repeat(99)}a\n`))[0]?.length, 100);
    assert.equal((await textsOf(`${'a,'.repeat(100)},,,,\n`))[0]?.length, 100);
    assert.equal(await problemOf(`${'a,'.repeat(100)}a\n`), 'too_many_columns');
  });

  it('without content has no rows', async () => {
    for (const text of ['\n', ',', '\ufeff', ' ', '""']) {
      const rows = await rowsOf(text);
      assert.equal(rows.length, text === ' ' ? 1 : 0, JSON.stringify(text));
    }
  });
});
