import assert from 'node:assert/strict';
import { setQuotas } from '../../src/access/quotas.js';
import { bytesOf, SheetProblem } from '../../src/spreadsheets/sheet.js';
import { recogniseFile } from '../../src/spreadsheets/open-sheet.js';
import { systemClock } from '../../src/core/instant.js';
import { type BrokenFile, brokenFiles } from '../spreadsheets/broken-files.js';
import { batchServiceOf, BatchWorld, UNWATCHED } from '../batches/support.js';
import type { TestDatabase } from '../helpers/database.js';
import { assertLedgerSound, TEST_ACTOR } from '../helpers/world.js';

const TENANTS = 8;

/** How many files of each kind ended in each way: `zip 400`, `csv rejected`. */
type Ends = ReadonlyMap<string, number>;

/**
 * Uploads broken files and validates them as the worker does. Fails where one is taken, or takes too long. Files of the
 * same seed are the same in every run.
 */
export async function brokenFileCampaign(
  db: TestDatabase,
  { seed, files, maxMs }: { readonly seed: number; readonly files: number; readonly maxMs: number },
): Promise<{ readonly ends: Ends; readonly summary: string }> {
  const ends = new Map<string, number>();
  let slowest = 0;
  // The generator is common: each tenant takes the next one.
  const all = brokenFiles(seed, files);
  const tenant = async (): Promise<void> => {
    const endOf = await openTenant(db);
    for (let next = all.next(); next.done !== true; next = all.next()) {
      const began = performance.now();
      const end = await endOf(next.value);
      slowest = Math.max(slowest, Math.round(performance.now() - began));
      assert(
        end === '400' || end === 'rejected',
        `a file of seed ${seed} is ${end}: ${next.value.kind}`,
      );
      ends.set(`${next.value.kind} ${end}`, (ends.get(`${next.value.kind} ${end}`) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: TENANTS }, tenant));
  assert(slowest <= maxMs, `a file took ${slowest} ms`);
  await assertLedgerSound(db.database);
  const counted = Array.from(ends)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([end, count]) => `${count} ${end.replace('400', 'answered 400')}`)
    .join(', ');
  return {
    ends,
    summary: `${files} broken files (seed ${seed}): ${counted}; the slowest took ${slowest} ms`,
  };
}

/** Answers what becomes of a file: `400`, or the status of its batch. */
async function openTenant(db: TestDatabase): Promise<(file: BrokenFile) => Promise<string>> {
  const world = await BatchWorld.open(db);
  const work = batchServiceOf(world.deps);
  const source = await world.account();
  const { id } = world.tenant.tenant;
  await setQuotas(db.database, systemClock, id, { problemRows: 1_000_000_000n }, TEST_ACTOR);
  return async ({ bytes }) => {
    try {
      await recogniseFile(bytesOf([bytes]));
    } catch (problem) {
      if (problem instanceof SheetProblem) return '400';
      throw problem;
    }
    const batch = await world.uploaded(source, bytes);
    return (await work.validate(batch.id, UNWATCHED)).status;
  };
}
