import type { Keyring } from '../../core/fingerprint.js';
import type { DatabaseDeps } from '../../db/database.js';
import type { Sweep } from '../../temporal/sweeper.js';
import type { RailCallbacks } from '../callbacks.js';
import type { AllRailTerms } from './destinations.js';
import { HttpRail } from './http.js';
import {
  httpRail,
  type OwnRail,
  type Rail,
  type RailRoute,
  type Rails,
  SIMULATED,
  termsOf,
} from './rail.js';
import { SimulatedRail } from './simulated.js';

/** The gateways' addresses, the keys shared with each, and what rails take. (src/config/servers.ts) */
interface RailConfig {
  readonly PAYOUT_RAIL_URLS: ReadonlyMap<string, string>;
  readonly PAYOUT_RAIL_KEYS: ReadonlyMap<string, Keyring>;
  readonly PAYOUT_RAIL_TERMS: AllRailTerms;
}

/** Returns every rail that a payout may have, also those that new payouts no longer use. */
export function openRails(
  { database, clock }: DatabaseDeps,
  { PAYOUT_RAIL_URLS: urls, PAYOUT_RAIL_KEYS: keys, PAYOUT_RAIL_TERMS: terms }: RailConfig,
): Rails {
  const own: Readonly<Record<OwnRail, Rail>> = {
    [SIMULATED]: new SimulatedRail(database, clock, SIMULATED),
  };
  const rails = new Map<string, Rail>(Object.entries(own));
  for (const [name, url] of urls) {
    const [shared, rail] = [keys.get(name), httpRail(name)];
    const { resolveWithinMs } = termsOf(terms, rail);
    if (shared !== undefined)
      rails.set(rail, new HttpRail(name, url, shared, clock, resolveWithinMs));
  }
  return rails;
}

const REPORTS_EVERY_MS = 500;
const REPORTS_AT_ONCE = 100;

/** Reports the simulated rail's later outcomes, as a gateway does by callbacks. */
export function simulatedReports(
  { database, clock }: DatabaseDeps,
  routes: readonly RailRoute[],
  callbacks: RailCallbacks,
): Sweep[] {
  if (!routes.some(({ rail }) => rail === SIMULATED)) return [];
  const simulated = new SimulatedRail(database, clock, SIMULATED);
  const run = async (): Promise<boolean> => {
    const due = await simulated.dueReports(REPORTS_AT_ONCE);
    for (const report of due) {
      await callbacks.report(SIMULATED, report);
      await simulated.acknowledge(report);
    }
    return due.length === REPORTS_AT_ONCE;
  };
  return [{ name: 'simulated rail', everyMs: REPORTS_EVERY_MS, run }];
}
