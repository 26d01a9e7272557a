import { type Clock, type Instant, instant } from '../core/instant.js';
import type { Uuid } from '../core/ids.js';
import type { Database } from '../db/database.js';
import type { WaitingType } from '../db/entities/outbox.js';
import { type SweepPass, sweepPasses } from '../db/entities/sweeps.js';
import { upsertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { announced, type Outbox } from './outbox.js';
import type { Sweep } from './sweeper.js';
import type { WaitingSource } from './waiting.js';

/** Tells waiting workflows again. (docs/decisions/0039-each-due-thing-is-looked-for-once.md) */

const NAME = 'told again';
/** A share of the time after which a workflow looks on its own, so that the timers of announced workflows never fire. */
const PASS_SHARE = 0.75;
/** A pass is spread over this many rounds. Each takes at least this long and handles at least this many. */
const ROUNDS = 40;
const MIN_ROUND_MS = 500;
const MIN_PER_ROUND = 100;
/** The assumed number before the first count. */
const AT_FIRST = 20_000;
/** For a round of a pass that should have ended: more waits than before. */
const LATE_ROUND = 5_000;
const SLICE = 500;
/** Younger resources are left to the outbox. */
const YOUNG_MS = 60_000;

interface TellingDeps {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly sources: readonly WaitingSource[];
  readonly clock: Clock;
  /** After this long a workflow looks on its own. */
  readonly lookAgainMs: number;
  /** Called with how many get an entry in the outbox. */
  readonly onTold: (resourceType: WaitingType, resources: number) => void;
}

/** The position of a pass; null: at its end. */
type Position = { readonly type: string; readonly after: Uuid | null } | null;

/** Walks everything that waits, in rounds spread over the pass; the next process continues where this one stops. */
export function tellAgainSweep(deps: TellingDeps): Sweep {
  const passMs = deps.lookAgainMs * PASS_SHARE;
  const everyMs = Math.max(MIN_ROUND_MS, passMs / ROUNDS);
  return {
    name: NAME,
    everyMs,
    run: async (signal) => {
      const pass = await presentPass(deps, passMs);
      // Slightly more than necessary, to allow for newly waiting resources and failed rounds.
      const usual = ((pass.foundBefore ?? AT_FIRST) / (passMs / everyMs)) * 1.2;
      const isLate = pass.beganAt + passMs <= deps.clock();
      const count = Math.max(MIN_PER_ROUND, Math.ceil(usual), isLate ? LATE_ROUND : 0);
      if (pass.atType !== null) await tellSome(deps, pass, count, passMs, signal);
      return false;
    },
  };
}

/** The pass under way, or a new one if it is due. */
async function presentPass(
  { database, sources, clock }: TellingDeps,
  passMs: number,
): Promise<SweepPass> {
  const known = await database.reader.find(sweepPasses, { name: NAME });
  const now = clock();
  if (known !== undefined && (known.atType !== null || known.beganAt + passMs > now)) return known;
  const atType = sources[0]?.resourceType ?? null;
  return {
    name: NAME,
    beganAt: now,
    atType,
    afterId: null,
    found: 0,
    foundBefore: known?.found ?? null,
  };
}

async function tellSome(
  deps: TellingDeps,
  pass: SweepPass,
  count: number,
  passMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { database, sources, clock } = deps;
  const madeBefore = instant(clock() - Math.min(YOUNG_MS, passMs));
  let position: Position = pass.atType === null ? null : { type: pass.atType, after: pass.afterId };
  for (let found = 0; found < count && position !== null && !signal.aborted;) {
    const { type, after }: NonNullable<Position> = position;
    const index = sources.findIndex(({ resourceType }) => resourceType === type);
    const asked = Math.min(SLICE, count - found);
    const told: Told = await tellSlice(deps, sources[index], madeBefore, after, asked);
    found += told.count;
    // A later release's type is unknown here: the pass ends, and the next one begins with the first type.
    const next = index < 0 ? undefined : sources[index + 1]?.resourceType;
    if (told.count === asked) position = { type, after: told.last };
    else position = next === undefined ? null : { type: next, after: null };
    const at = {
      atType: position?.type ?? null,
      afterId: position?.after ?? null,
      found: pass.found + found,
    };
    const set = ['beganAt', 'atType', 'afterId', 'found', 'foundBefore'] as const;
    await transact(database, (transaction) =>
      transaction.execute(upsertSql(sweepPasses, [{ ...pass, ...at }], set)),
    );
  }
}

interface Told {
  readonly count: number;
  readonly last: Uuid | null;
}

async function tellSlice(
  { database, outbox, onTold }: TellingDeps,
  source: WaitingSource | undefined,
  madeBefore: Instant,
  after: Uuid | null,
  limit: number,
): Promise<Told> {
  if (source === undefined) return { count: 0, last: null };
  const { resourceType } = source;
  const found = await source.longWaiting(database.reader, madeBefore, after, limit);
  const known = await announced(
    database.reader,
    found.map(({ id }) => id),
  );
  const untold = found.filter(({ id }) => !known.has(id));
  await outbox.add(untold.map(({ id, tenantId }) => ({ tenantId, resourceType, resourceId: id })));
  if (untold.length > 0) onTold(resourceType, untold.length);
  return { count: found.length, last: found.at(-1)?.id ?? null };
}
