import { tryEach } from '../../core/collections.js';
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

interface OwnRailParts {
  readonly rail: Rail;
  /** The sweep of a rail that reports later outcomes, as a gateway does by callbacks; null if it only answers. */
  readonly reports: ((callbacks: RailCallbacks) => Sweep) | null;
}

function ownRails({ database, clock }: DatabaseDeps): Readonly<Record<OwnRail, OwnRailParts>> {
  const simulated = new SimulatedRail(database, clock, SIMULATED);
  return {
    [SIMULATED]: {
      rail: simulated,
      reports: (callbacks) => simulatedReports(simulated, callbacks),
    },
  };
}

/** Returns every rail that a payout may have, also those that new payouts no longer use. */
export function openRails(
  deps: DatabaseDeps,
  { PAYOUT_RAIL_URLS: urls, PAYOUT_RAIL_KEYS: keys, PAYOUT_RAIL_TERMS: terms }: RailConfig,
): Rails {
  const rails = new Map(Object.entries(ownRails(deps)).map(([name, { rail }]) => [name, rail]));
  for (const [name, url] of urls) {
    const [shared, rail] = [keys.get(name), httpRail(name)];
    const { resolveWithinMs } = termsOf(terms, rail);
    if (shared !== undefined)
      rails.set(rail, new HttpRail(name, url, shared, deps.clock, resolveWithinMs));
  }
  return rails;
}

const REPORTS_EVERY_MS = 500;
const REPORTS_AT_ONCE = 100;

/** Returns the sweeps of the rails in these routes that report on their own. */
export function reportSweeps(
  deps: DatabaseDeps,
  routes: readonly RailRoute[],
  callbacks: RailCallbacks,
): Sweep[] {
  const routed = Object.entries(ownRails(deps)).filter(([name]) =>
    routes.some(({ rail }) => rail === name),
  );
  return routed.flatMap(([, { reports }]) => reports?.(callbacks) ?? []);
}

function simulatedReports(simulated: SimulatedRail, callbacks: RailCallbacks): Sweep {
  const run = async (): Promise<boolean> => {
    const due = await simulated.dueReports(REPORTS_AT_ONCE);
    await tryEach(due, async (report) => {
      await callbacks.report(SIMULATED, report);
      await simulated.acknowledge(report);
    });
    return due.length === REPORTS_AT_ONCE;
  };
  return { name: 'simulated rail', everyMs: REPORTS_EVERY_MS, run };
}
