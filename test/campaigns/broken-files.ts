import assert from 'node:assert/strict';
import { setQuotas } from '../../src/access/quotas.js';
import { bytesOf } from '../../src/batches/files/byte-source.js';
import { recogniseFile } from '../../src/batches/files/open-sheet.js';
import { SheetProblem } from '../../src/batches/files/sheet.js';
import { systemClock } from '../../src/core/instant.js';
import { type BrokenFile, brokenFiles } from '../batches/files/broken-files.js';
import { batchServiceOf, BatchWorld, UNWATCHED } from '../batches/support.js';
import type { TestDatabase } from '../support/database.js';
import { assertLedgerSound, TEST_ACTOR } from '../support/world.js';

const MOST_MS = 5_000;

/** How many files of each kind ended in each way: `zip 400`, `csv rejected`. */
export type Ends = ReadonlyMap<string, number>;

/**
 * Uploads broken files and validates them as the worker does. Fails where one is taken, or takes more than five seconds. Files of the
 * same seed are the same in every run.
 */
export async function brokenFileCampaign(
  db: TestDatabase,
  { seed, files }: { readonly seed: number; readonly files: number },
): Promise<{ readonly ends: Ends; readonly summary: string }> {
  const world = await BatchWorld.open(db);
  const work = batchServiceOf(world.parts);
  const source = await world.account();
  const { id } = world.tenant.tenant;
  await setQuotas(db.database, systemClock, id, { problemRows: 1_000_000_000n }, TEST_ACTOR);
  const endOf = async ({ bytes }: BrokenFile): Promise<string> => {
    const kind = await recogniseFile(bytesOf([bytes])).catch((problem: unknown) => {
      if (problem instanceof SheetProblem) return null;
      throw problem;
    });
    if (kind === null) return '400';
    const batch = await world.uploaded(source, bytes);
    return (await work.validate(batch.id, UNWATCHED)).status;
  };
  const ends = new Map<string, number>();
  let [number, slowest] = [0, 0];
  for (const file of brokenFiles(seed, files)) {
    const began = performance.now();
    const end = await endOf(file);
    slowest = Math.max(slowest, Math.round(performance.now() - began));
    assert(end === '400' || end === 'rejected', `file ${number} of seed ${seed} is ${end}`);
    ends.set(`${file.kind} ${end}`, (ends.get(`${file.kind} ${end}`) ?? 0) + 1);
    number += 1;
  }
  assert(slowest <= MOST_MS, `a file took ${slowest} ms`);
  await assertLedgerSound(db.database);
  const counted = Array.from(ends, ([end, count]) => `${end} ${count}`)
    .sort()
    .join(', ');
  return { ends, summary: `${files} broken files of seed ${seed}: ${counted}; the slowest after ${slowest} ms` };
}
