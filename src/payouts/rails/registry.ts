import type { Keyring } from '../../core/fingerprint.js';
import type { Clock } from '../../core/instant.js';
import { HttpRail } from './http.js';
import { httpRail, SIMULATED } from './rules.js';
import type { SimulatedRail } from './simulated.js';
import type { Rail, Rails } from './types.js';

/** The gateways' addresses, and the keys shared with each. */
export interface Gateways {
  readonly urls: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, Keyring>;
}

/** Opens every rail that a payout may have, including rails that new payouts no longer use. */
export function openRails(simulated: SimulatedRail, { urls, keys }: Gateways, clock: Clock): Rails {
  const rails = new Map<string, Rail>([[SIMULATED, simulated]]);
  for (const [name, url] of urls) {
    const own = keys.get(name);
    if (own !== undefined) rails.set(httpRail(name), new HttpRail(name, url, own, clock));
  }
  return rails;
}
