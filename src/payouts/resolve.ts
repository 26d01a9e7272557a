import { runTraced } from '../core/trace.js';
import type { RecipientKey } from './rails/destinations.js';
import { type KeyHolder, type Rails, RailUnresponsive } from './rails/rail.js';

export type RailCall = 'submission' | 'inquiry' | 'void' | 'resolve';

export interface RailCallObserver {
  called(rail: string, kind: RailCall, result: string): void;
  /** Called if the rail did not respond. `message` contains no personal data. */
  unresponsive(rail: string, message: string): void;
}

export interface ResolveDeps {
  readonly rails: Rails;
  readonly observer: RailCallObserver;
}

/**
 * Asks a rail who holds a key now. Returns null if the rail reports that the key does not exist,
 * 'none' if nothing is known. The circuit breaker does not count these calls, because a rail may
 * pay while its directory of keys is away, and the other way round.
 */
export async function resolveKey(
  { rails, observer }: ResolveDeps,
  railName: string,
  { type, keyType, key }: RecipientKey,
): Promise<KeyHolder | null | 'none'> {
  const rail = rails.get(railName);
  const span = {
    name: 'rail resolve',
    kind: 'client',
    attributes: { 'payout.rail': railName },
  } as const;
  try {
    if (rail === undefined) throw new RailUnresponsive(`the rail ${railName} is not configured`);
    const found = await runTraced(span, () => rail.resolve({ type, keyType, key }));
    observer.called(railName, 'resolve', found === null ? 'unknown' : 'found');
    return found;
  } catch (failure) {
    if (!(failure instanceof RailUnresponsive)) throw failure;
    observer.called(railName, 'resolve', 'no_answer');
    observer.unresponsive(railName, failure.message);
    return 'none';
  }
}
