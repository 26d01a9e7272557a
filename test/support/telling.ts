import { instant } from '../../src/core/instant.js';
import { tellAgainSweep } from '../../src/temporal/telling-again.js';
import type { WaitingSource } from '../../src/temporal/waiting.js';
import type { TestDatabase } from './database.js';
import type { TestWorker } from './temporal-worker.js';

/**
 * Has all that waits told again, as if two minutes had passed and no pass had begun before. Answers how many resources got an entry in the
 * outbox. More than a few hundred are told in several rounds, of which this is the first.
 */
export async function tellAgain(
  db: TestDatabase,
  { core: { database }, bridge: { outbox } }: Pick<TestWorker, 'core' | 'bridge'>,
  sources: readonly WaitingSource[],
): Promise<number> {
  await db.sql('DELETE FROM sweep_passes');
  let told = 0;
  await tellAgainSweep({
    database,
    outbox,
    sources,
    clock: () => instant(Date.now() + 120_000),
    lookAgainMs: 3_600_000,
    onTold: (_, resources) => void (told += resources),
  }).run(new AbortController().signal);
  return told;
}
