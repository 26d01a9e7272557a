import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import { StoredFiles } from '../../src/spreadsheets/generated-files.js';

const PIECES = ['one,', 'two,', 'three'];
const SIZE = PIECES.join('').length;

describe('finished files as they are downloaded', () => {
  const tenantId = newId();

  function pieceOf(pieces: readonly string[]) {
    return (number: number): Promise<{ readonly content: Buffer } | undefined> => {
      const content = pieces[number];
      return Promise.resolve(content === undefined ? undefined : { content: Buffer.from(content) });
    };
  }

  async function textOf(pieces: AsyncIterable<Buffer>): Promise<string> {
    let all = '';
    for await (const piece of pieces) all += piece.toString();
    return all;
  }

  it('finished files that are downloaded at once are not mixed up', async () => {
    const files = new StoredFiles();
    const others = ['A', 'B'].map((letter) =>
      PIECES.map((piece) => piece.replaceAll(/\w/g, letter)),
    );
    const texts = await Promise.all(
      [PIECES, ...others].map((pieces) => textOf(files.open(tenantId, SIZE, pieceOf(pieces)))),
    );
    assert.deepEqual(
      texts,
      [PIECES, ...others].map((pieces) => pieces.join('')),
    );
  });

  it('the download of a finished file ends with a failure where a piece is missing', async () => {
    const opened = new StoredFiles().open(tenantId, SIZE, pieceOf(PIECES.slice(0, 2)));
    await assert.rejects(textOf(opened), /missing/);
  });
});
