import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import { StoredFiles } from '../../src/spreadsheets/generated-files.js';

const PIECES = ['one,', 'two,', 'three'];
const SIZE = PIECES.join('').length;

describe('downloads of finished files', () => {
  const file = { tenantId: newId(), id: newId(), format: 'csv', size: SIZE } as const;
  let read: number[];
  beforeEach(() => (read = []));

  function pieceOf(pieces: readonly string[]) {
    return (number: number): Promise<{ readonly content: Buffer } | undefined> => {
      read.push(number);
      const content = pieces[number];
      return Promise.resolve(content === undefined ? undefined : { content: Buffer.from(content) });
    };
  }

  async function textOf(pieces: AsyncIterable<Buffer>): Promise<string> {
    let all = '';
    for await (const piece of pieces) all += piece.toString();
    return all;
  }

  it('each piece of a finished file is read once for all simultaneous downloads', async () => {
    const files = new StoredFiles();
    const texts = await Promise.all(
      Array.from({ length: 50 }, () => textOf(files.open(file, pieceOf(PIECES)))),
    );
    assert.deepEqual(new Set(texts), new Set([PIECES.join('')]));
    assert.deepEqual(read, [0, 1, 2]);
  });

  it('finished files and formats that are downloaded at once are not mixed up', async () => {
    const files = new StoredFiles();
    const others = ['A', 'B'].map((letter) =>
      PIECES.map((piece) => piece.replaceAll(/\w/g, letter)),
    );
    const [xlsx = [], another = []] = others;
    const texts = await Promise.all([
      textOf(files.open(file, pieceOf(PIECES))),
      textOf(files.open({ ...file, format: 'xlsx' }, pieceOf(xlsx))),
      textOf(files.open({ ...file, id: newId() }, pieceOf(another))),
    ]);
    assert.deepEqual(
      texts,
      [PIECES, xlsx, another].map((pieces) => pieces.join('')),
    );
  });

  it('the download of a finished file ends with a failure where a piece is missing', async () => {
    await assert.rejects(
      textOf(new StoredFiles().open(file, pieceOf(PIECES.slice(0, 2)))),
      /missing/,
    );
  });
});
