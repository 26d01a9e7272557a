import assert from 'node:assert/strict';
import fc from 'fast-check';
import { zone } from '../model/arbitraries.js';
import { operations, PRELUDE } from '../model/generated.js';
import { Player } from '../model/player.js';
import { type Ending, ENDINGS } from '../model/reference-ledger.js';
import { ModelApi } from '../model/world.js';
import type { TestDatabase } from '../helpers/database.js';
import { assertLedgerSound } from '../helpers/world.js';

interface ModelCampaign {
  readonly db: TestDatabase;
  /** The least number of operations in all. */
  readonly operations: number;
  /** Of one run, in tenants of its own. */
  readonly longest: number;
  /** Runs at the same time, each with an API and a seed of its own. */
  readonly lanes: number;
  /** Repeats a failed campaign of one lane. */
  readonly seed?: number;
}

const RUNS_PER_PART = 4;
/** Each end of what waits, of a payout and of a batch is played so often at least. */
const OPERATIONS_PER_ENDING = 500;
/** If an end is rare by chance, the run continues, up to this multiple of the requested length. */
const MOST_TIMES = 4;
/** Keeps the seeds of one lane apart from those of the next. */
const SEEDS_PER_LANE = 1_000;

/**
 * Random operations over HTTP beside a reference ledger in memory: every answer and, at the end of each run, everything
 * that can be read is the same. A difference is told with its seed and the shortest operations that show it.
 */
export async function modelCampaign(campaign: ModelCampaign): Promise<string> {
  const { db, operations: wanted, longest, lanes } = campaign;
  const seeds = Array.from({ length: lanes }, (_, lane) => (campaign.seed ?? Date.now()) + lane);
  const done = await Promise.all(
    seeds.map((seed) => runLane(db, seed, Math.ceil(wanted / lanes), longest)),
  );
  await assertLedgerSound(db.database);
  const often = ENDINGS.map(
    (ending) =>
      [ending, done.reduce((sum, { endings }) => sum + (endings.get(ending) ?? 0), 0)] as const,
  );
  const rare = often.filter(([, times]) => times < wanted / OPERATIONS_PER_ENDING);
  assert.deepEqual(rare, [], `of ${JSON.stringify(Object.fromEntries(often))}`);
  const played = done.reduce((sum, { played: own }) => sum + own, 0);
  const runs = done.reduce((sum, { runs: own }) => sum + own, 0);
  return `${played} operations in ${runs} runs (seeds ${seeds.join(', ')}): 0 differences from the reference ledger`;
}

async function runLane(
  db: TestDatabase,
  seed: number,
  wanted: number,
  longest: number,
): Promise<{ played: number; runs: number; endings: ReadonlyMap<Ending, number> }> {
  const model = await ModelApi.start(db);
  let [played, runs] = [0, 0];
  const endings = new Map<Ending, number>();
  const lengths = { minLength: 1, maxLength: longest, size: 'max' } as const;
  const property = fc.asyncProperty(zone, fc.array(operations, lengths), async (timeZone, run) => {
    runs += 1;
    const world = await model.newWorld(timeZone);
    const player = new Player(world);
    for (const operation of [...PRELUDE, ...run]) {
      await player.play(operation);
      played += 1;
    }
    await player.finish();
    for (const [ending, often] of world.ledger.played)
      endings.set(ending, (endings.get(ending) ?? 0) + often);
  });
  try {
    const isRare = (ending: Ending): boolean =>
      (endings.get(ending) ?? 0) < wanted / OPERATIONS_PER_ENDING;
    const goesOn = (): boolean =>
      played < wanted || (played < MOST_TIMES * wanted && ENDINGS.some(isRare));
    for (let part = 0; goesOn(); part += 1)
      await fc.assert(property, { seed: seed + part * SEEDS_PER_LANE, numRuns: RUNS_PER_PART });
  } finally {
    await model.api.stop();
  }
  return { played, runs, endings };
}
