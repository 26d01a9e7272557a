import assert from 'node:assert/strict';
import { bytesOf } from '../../src/batches/files/byte-source.js';
import { recogniseFile } from '../../src/batches/files/open-sheet.js';
import { SheetProblem } from '../../src/batches/files/sheet.js';
import type { BatchService } from '../../src/batches/work.js';
import type { Account } from '../../src/db/entities/parties.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { assertLedgerSound } from '../support/world.js';
import { type BrokenFile, brokenFiles } from './files/broken-files.js';
import { batchServiceOf, BatchWorld, UNWATCHED } from './support.js';

const SEED = 15;
const FILES = 300;

describe('broken files', function () {
  this.timeout(300_000);
  let db: TestDatabase;
  let world: BatchWorld;
  let work: BatchService;
  let source: Account;

  before(async () => {
    db = await testDatabase();
    world = await BatchWorld.open(db);
    work = batchServiceOf(world.parts);
    source = await world.account();
  });
  after(() => assertLedgerSound(db.database));

  /** What the upload says, else what becomes of the batch. */
  async function endOf({ bytes }: BrokenFile): Promise<string> {
    const kind = await recogniseFile(bytesOf([bytes])).catch((problem: unknown) => {
      if (problem instanceof SheetProblem) return null;
      throw problem;
    });
    if (kind === null) return '400';
    const { id } = await world.uploaded(source, bytes);
    return (await work.validate(id, UNWATCHED)).status;
  }

  it(`of zip, XML and CSV end as 400 or rejected, all ${FILES} of them`, async () => {
    const ends = new Map<string, number>();
    let number = 0;
    for (const file of brokenFiles(SEED, FILES)) {
      const end = await endOf(file);
      assert(end === '400' || end === 'rejected', `file ${number} of seed ${SEED} is ${end}`);
      ends.set(`${file.kind} ${end}`, (ends.get(`${file.kind} ${end}`) ?? 0) + 1);
      number += 1;
    }
    for (const end of ['zip 400', 'zip rejected', 'xml rejected', 'csv rejected'])
      assert((ends.get(end) ?? 0) > 0, `none is ${end}`);
  });
});
