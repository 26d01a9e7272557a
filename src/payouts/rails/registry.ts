import type { Keyring } from '../../core/fingerprint.js';
import type { DatabaseDeps } from '../../db/database.js';
import type { Sweep } from '../../temporal/sweeper.js';
import type { RailCallbacks } from '../callbacks.js';
import { HttpRail } from './http.js';
import { httpRail, type OwnRail, type RailRoute, SIMULATED } from './rules.js';
import type { ListingRail, Rail, Rails } from './types.js';

/** The gateways' addresses, and the keys shared with each. (src/config/rails.ts) */
export interface RailConfig {
  readonly PAYOUT_RAIL_URLS: ReadonlyMap<string, string>;
  readonly PAYOUT_RAIL_KEYS: ReadonlyMap<string, Keyring>;
}

/** The way to every rail that a payout may have, whatever new ones take. */
export function openRails(
  deps: DatabaseDeps,
  { PAYOUT_RAIL_URLS: urls, PAYOUT_RAIL_KEYS: keys }: RailConfig,
): Rails {
  const own: Readonly<Record<OwnRail, Rail>> = { [SIMULATED]: simulatedRail(deps) };
  const rails = new Map<string, Rail>(Object.entries(own));
  for (const [name, url] of urls) {
    const shared = keys.get(name);
    if (shared !== undefined)
      rails.set(httpRail(name), new HttpRail(name, url, shared, deps.clock));
  }
  return rails;
}

/** The bank that is not there is loaded by the first payout that takes it: never where money moves. */
async function openSimulated({ database, clock }: DatabaseDeps) {
  const { SimulatedRail } = await import('../../../development/simulated-rail/rail.js');
  return new SimulatedRail(database, clock, SIMULATED);
}

function simulatedRail(deps: DatabaseDeps): ListingRail {
  return {
    submit: async (order) => (await openSimulated(deps)).submit(order),
    status: async (key) => (await openSimulated(deps)).status(key),
    void: async (key) => (await openSimulated(deps)).void(key),
    list: async (since, after) => (await openSimulated(deps)).list(since, after),
  };
}

const REPORTS_EVERY_MS = 500;
const REPORTED_AT_ONCE = 100;

/** What the simulated rail reports unasked, as a gateway would by its callbacks; nothing where no route takes it. */
export function simulatedReports(
  deps: DatabaseDeps,
  routes: readonly RailRoute[],
  callbacks: RailCallbacks,
): Sweep[] {
  if (!routes.some(({ rail }) => rail === SIMULATED)) return [];
  const run = async (): Promise<boolean> => {
    const rail = await openSimulated(deps);
    const told = await rail.report(REPORTED_AT_ONCE, (report) => callbacks.tell(SIMULATED, report));
    return told === REPORTED_AT_ONCE;
  };
  return [{ name: 'simulated rail', everyMs: REPORTS_EVERY_MS, run }];
}
