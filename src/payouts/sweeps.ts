import type { Sweep } from '../temporal/sweeper.js';
import type { RailCallbacks } from './callbacks.js';
import type { LateInquiries } from './inquiries.js';
import { SIMULATED } from './rails/rules.js';
import type { SimulatedRail } from './rails/simulated.js';
import type { Submissions } from './submission.js';

const AT_ONCE = 100;
const STUCK_EVERY_MS = 5_000;
const REPORTS_EVERY_MS = 500;
const INQUIRIES_EVERY_MS = 5_000;
/** As many questions as a rail gets at the same time. */
const ASKED_AT_ONCE = 20;

/** Raises to operators what no rail says anything of for too long, whether Temporal is there or not. */
export function stuckSweep(submissions: Submissions, afterMs: number): Sweep {
  return {
    name: 'stuck payouts',
    everyMs: STUCK_EVERY_MS,
    run: async () => (await submissions.raiseSilent(afterMs, AT_ONCE)) === AT_ONCE,
  };
}

/** Asks about payouts that have ended, each rail by itself: one that gives no answer holds up no other. */
export function inquirySweeps(inquiries: LateInquiries, rails: Iterable<string>): Sweep[] {
  return Array.from(rails, (rail) => ({
    name: `inquiries ${rail}`,
    everyMs: INQUIRIES_EVERY_MS,
    run: async () => (await inquiries.askDue(rail, ASKED_AT_ONCE)) === ASKED_AT_ONCE,
  }));
}

/** What the simulated rail tells by itself, as a gateway would by its callbacks. */
export function simulatedReports(simulated: SimulatedRail, callbacks: RailCallbacks): Sweep {
  return {
    name: 'simulated rail',
    everyMs: REPORTS_EVERY_MS,
    run: async () => {
      const due = await simulated.due(AT_ONCE);
      for (const report of due) {
        await callbacks.tell(SIMULATED, report);
        await simulated.told(report);
      }
      return due.length === AT_ONCE;
    },
  };
}
