import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { isNear, readWanted, type Wanted } from '../drain/near.js';
import { MAX_FLIGHT } from '../rules.js';
import type { Claimed } from './claiming.js';

/** Those with only a few new events, and these; one read for all. Those with more to do get their own run. */
export async function lightWork(
  reader: Reader,
  claimed: readonly Claimed[],
  now: Instant,
): Promise<ReadonlyMap<Uuid, Wanted>> {
  const light = claimed.filter((one) => isLight(one, now)).map(({ state }) => state);
  const wanted = (await readWanted(reader, light, now)).filter(
    ({ deliveries }) => deliveries.length <= MAX_FLIGHT,
  );
  return new Map(wanted.map((one) => [one.state.endpoint.id, one]));
}

function isLight({ state, earliest }: Claimed, now: Instant): boolean {
  return isNear(state) && state.endpoint.probeAt === null && (earliest === null || earliest > now);
}
