import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CsvLine, readCsv } from '../../src/ops/csv-lines.js';
import { OpsError } from '../../src/ops/failures.js';

const COLUMNS = { required: ['type', 'name'], optional: ['alias'] };

const folder = mkdtempSync(join(tmpdir(), 'csv-'));

describe('the lines of a CSV file', () => {
  after(() => rmSync(folder, { recursive: true }));

  function read(content: string | Buffer | null): readonly CsvLine[] {
    const path = join(folder, `${randomUUID()}.csv`);
    if (content !== null) writeFileSync(path, content);
    return readCsv(path, COLUMNS);
  }
  const told = (content: string): unknown[] =>
    read(content).map(({ number, values, fault }) => [number, values.type, values.name, fault]);

  it('have the line number that an editor shows, and their values under the names of the header', () => {
    assert.deepEqual(read('type,name,alias\nperson,Ana,$ana\nbusiness,"Acme, Sons",\n'), [
      { number: 2, values: { type: 'person', name: 'Ana', alias: '$ana' }, fault: null },
      { number: 3, values: { type: 'business', name: 'Acme, Sons', alias: '' }, fault: null },
    ]);
  });

  it('a CSV file of more than 64 MiB is refused unread, because its lines are all in memory', () => {
    const path = join(folder, 'large.csv');
    writeFileSync(path, 'type,name\n');
    truncateSync(path, 64 * 1024 * 1024 + 1);
    assert.throws(
      () => readCsv(path, COLUMNS),
      new OpsError(`${path} is larger than 64 MiB: split it`),
    );
  });

  for (const [what, end] of [
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ] as const)
    it(`are counted right with ${what}, with blank lines and with breaks in a value`, () => {
      const content = ['type,name', '', 'person,a', 'person,"b', '', 'c"', '', 'person,d'].join(
        end,
      );
      assert.deepEqual(told(content), [
        [3, 'person', 'a', null],
        [4, 'person', 'b\n\nc', null],
        [8, 'person', 'd', null],
      ]);
    });

  it('are read with a BOM, semicolons, spaces around values, and names in any case and order', () => {
    assert.deepEqual(told('\uFEFFAlias; NAME ;Type\r\n$x; Ana, María ;person\r\n'), [
      [2, 'person', 'Ana, María', null],
    ]);
  });

  it('with fewer values than the header, or a value beyond it, are reported with the value', () => {
    const beyond = (value: string): string =>
      `the line has "${value}" beyond the last column: put text that contains the separator in quotation marks`;
    const shorter = 'the line has fewer values than the header';
    assert.deepEqual(told('type,name\nperson\nperson,a,b\nperson,a,,c\nperson,"Acme, Sons"\n'), [
      [2, 'person', '', shorter],
      [3, 'person', 'a', beyond('b')],
      [4, 'person', 'a', beyond('c')],
      [5, 'person', 'Acme, Sons', null],
    ]);
  });

  it('and its header, may end in additional blank values', () => {
    for (const content of [
      'type,name\nperson,a,,\n',
      'type,name, ,\nperson,a, ,\n',
      'type;name;\nperson;a; ;" "\n',
    ])
      assert.deepEqual(told(content), [[2, 'person', 'a', null]], content);
  });

  it('are read after a sep= line, which counts as a line of the editor', () => {
    assert.deepEqual(told('sep=;\r\ntype;name\r\nperson;a,b\r\n'), [[3, 'person', 'a,b', null]]);
    assert.deepEqual(told('\uFEFF"SEP=,"\ntype,name\nperson,a\n'), [[3, 'person', 'a', null]]);
  });

  for (const [what, content, message] of [
    ['that is not there', null, /cannot be read/],
    ['that is empty', '', /is empty/],
    [
      'without a header',
      'person,Ana\n',
      /the header .* type is missing; name is missing; person is not a column/,
    ],
    ['with an unknown column', 'type,name,phne\n', /phne is not a column/],
    ['with a column twice', 'type,name,Name\n', /name appears twice/],
    ['in Latin-1', Buffer.from('type,name\nperson,Pe\xF1a\n', 'latin1'), /is not UTF-8/],
    ['that ends in half a letter', Buffer.from('type,name\nperson,\xC3', 'latin1'), /is not UTF-8/],
    [
      'with an open quotation mark',
      'type,name\nperson,Ana\nperson,"Bob\n',
      /is not valid CSV, line \d: a quotation mark/,
    ],
    [
      'with a stray quotation mark',
      'type,name\nperson,Ana\nperson,B"ob\n',
      /is not valid CSV, line 3: a quotation mark/,
    ],
    ['separated by tabs', 'type\tname\nperson\tAna\n', /the columns are separated by tabs/],
    [
      'whose sep= line names a tab',
      'sep=\t\ntype\tname\nperson\tAna\n',
      /the columns are separated by tabs/,
    ],
    ['with an endless line', `type,name\nperson,"${'x'.repeat(70_000)}`, /a line is too long/],
  ] as const)
    it(`${what} are refused with the reason`, () => {
      assert.throws(
        () => read(content),
        (failure) => failure instanceof OpsError && message.test(failure.message),
      );
    });
});
