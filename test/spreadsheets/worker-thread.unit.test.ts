import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import {
  type FileToRead,
  ReaderThread,
  type ReadingOptions,
  SheetReaders,
} from '../../src/spreadsheets/worker-thread/sheet-readers.js';
import { bytesOf, piecesOf, SheetProblem, type SheetRow } from '../../src/spreadsheets/sheet.js';
import { openSheet } from '../../src/spreadsheets/open-sheet.js';
import { withPart } from '../campaigns/bombs.js';
import { filled } from './bomb-reading.js';
import { MAIN, sheetXml, stringsXml, workbook } from './workbooks.js';

type Read = { readonly rows: readonly SheetRow[]; readonly problem: string | null };

async function readAll(rows: AsyncIterable<SheetRow>): Promise<Read> {
  const all: SheetRow[] = [];
  try {
    for await (const row of rows) all.push(row);
    return { rows: all, problem: null };
  } catch (failure) {
    if (failure instanceof SheetProblem)
      return { rows: all, problem: `${failure.code}: ${failure.message}` };
    throw failure;
  }
}

const csv = (rows: number): Buffer => Buffer.from('$ana,100000,COPM,,r\n'.repeat(rows));
const xlsx = (rows: number): Buffer =>
  workbook(
    sheetXml(
      '<row><c t="s"><v>0</v></c><c r="C1"><v>12</v></c><c><f>A1</f></c></row>'
        .replace(' r="C1"', '')
        .repeat(rows),
    ),
  );
const [HEAD = '', TAIL = ''] = stringsXml('|').split('|');
/** Takes seconds, all of them before its first row. */
const SLOW = withPart(
  filled('xl/sharedStrings.xml', HEAD, '<si><t>a</t></si>', TAIL, 1_500_000 * 17),
);

describe('files that are read in a separate thread', () => {
  const readers = new SheetReaders();
  const never = new AbortController().signal;
  const of = (tenantId: string, signal = never): ReadingOptions => ({ tenantId, signal });
  const stored = (file: Buffer): FileToRead => ({
    size: file.length,
    pieces: () => Readable.from(piecesOf(bytesOf([file]), 0, file.length, 700_001)),
  });
  const read = (file: Buffer, who = of('a')): Promise<Read> =>
    readAll(readers.rows(stored(file), who));

  after(() => readers.close());

  const FILES = [
    ['a short CSV', csv(20)],
    ['a long CSV', csv(3_000)],
    ['a small workbook that is not short', xlsx(3_000)],
    ['cells of every kind and none', Buffer.from('a,,=b,\n,,,x\n')],
    [
      'lone surrogates and control characters',
      workbook(sheetXml('<row><c t="inlineStr"><is><t>_xD800_a_x0000_b</t></is></c></row>')),
    ],
    ['a long file that breaks after its first rows', Buffer.concat([csv(3_000), Buffer.from('"')])],
    ['too many columns', Buffer.from(`a\n${'a,'.repeat(100)}a\n`)],
    ['no workbook', Buffer.from('PK\x03\x04 and nothing more')],
    ['nothing', Buffer.alloc(0)],
  ] as const;
  it('a file that is read in a thread gives the same rows and the same reason as a file that is read in the main thread', async () => {
    for (const [what, file] of FILES) {
      const [apart, atOnce] = [await read(file), await readAll(openSheet(bytesOf([file])))];
      assert.equal(apart.problem, atOnce.problem, what);
      assert.equal(JSON.stringify(apart.rows), JSON.stringify(atOnce.rows), what);
    }
  });

  it('a file that needs more memory than its thread has is refused, and the process continues', async () => {
    const thread = new ReaderThread({ maxOldGenerationSizeMb: 12, maxYoungGenerationSizeMb: 2 });
    const formats = `<styleSheet xmlns="${MAIN}"><cellXfs>${Array.from({ length: 99_000 }, (_, at) => `<xf numFmtId="${'9'.repeat(200)}${at}"/>`).join('')}</cellXfs></styleSheet>`;
    const file = workbook(sheetXml(''), { 'xl/styles.xml': formats });
    const reading = thread.read({ bytes: new Uint8Array(file), isShort: false }, never);
    await assert.rejects(
      async () => {
        for (let next = await reading.next(); next.done !== true;) next = await reading.next();
      },
      { code: 'too_large_inflated' },
    );
    await thread.end();
    assert.equal((await read(csv(3))).rows.length, 3);
  });

  it('a file is refused if its thread stops responding, but not if the process was blocked', async () => {
    const reading = (file: Buffer, maxSilenceMs: number) => {
      const thread = new ReaderThread(
        { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 },
        maxSilenceMs,
      );
      const first = thread.read({ bytes: new Uint8Array(file), isShort: false }, never).next();
      return { first, end: () => thread.end() };
    };
    const good = reading(csv(20), 1_000);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    const { value } = await good.first;
    assert(Array.isArray(value) && value.length === 20);
    await good.end();
    const silent = reading(SLOW, 60);
    await assert.rejects(silent.first, /took more than a minute/);
    await silent.end();
  });

  it('a short file waits for no long file of its own or another tenant', async () => {
    const stopping = new AbortController();
    const long = read(SLOW, of('slow', stopping.signal));
    assert.equal((await read(csv(3), of('other'))).rows.length, 3);
    assert.equal((await read(csv(3), of('slow'))).rows.length, 3);
    stopping.abort(new Error('no longer wanted'));
    await assert.rejects(long, { message: 'no longer wanted' });
  });

  it('an abort signal ends the reading of a file in the middle of a part, and the wait of a queued file', async () => {
    const stopping = new AbortController();
    const under = read(SLOW, of('a', stopping.signal));
    const waiting = read(SLOW, of('b', stopping.signal));
    setTimeout(() => stopping.abort(new Error('stop')), 300);
    await Promise.all([under, waiting].map((one) => assert.rejects(one, { message: 'stop' })));
    assert.equal((await read(csv(2_000))).rows.length, 2_000, 'the place is free again');
  });
});
