import type { RailStatement } from '../../src/payouts/rules.js';

/**
 * What the simulated rail does, by the end of the account number. The code, the guide (docs/guides/payouts.md) and the
 * tests all use this table.
 */

/** An outcome, and how long after the payment was acted on it comes. */
export interface Step {
  readonly afterMs: number;
  readonly status: Exclude<RailStatement['status'], 'accepted' | 'voided'>;
  readonly failureCode: RailStatement['failureCode'];
}

interface Scenario {
  readonly name: string;
  /** The last two characters of the account number; null: any other. */
  readonly ending: string | null;
  readonly steps: readonly Step[];
  /** For this long nothing is answered, neither the submission nor questions. */
  readonly silentMs: number;
  /** Whether later outcomes are also reported by callback. */
  readonly calls: boolean;
  /** The first submission is lost: the rail never hears of it. */
  readonly losesFirst: boolean;
  /** The statuses that a payout goes through. */
  readonly shown: string;
}

const SOON_MS = 2_000;
const LATER_MS = 4_000;
const FOR_EVER = Number.MAX_SAFE_INTEGER;
const USUAL = { silentMs: 0, calls: true, losesFirst: false } as const;

const done = (afterMs: number): Step => ({ afterMs, status: 'completed', failureCode: null });

export const SCENARIOS: readonly [Scenario, ...Scenario[]] = [
  {
    ...USUAL,
    name: 'completes',
    ending: null,
    steps: [done(0)],
    shown: 'approved → in_progress → completed',
  },
  {
    ...USUAL,
    name: 'fails_at_once',
    ending: '01',
    steps: [{ afterMs: 0, status: 'failed', failureCode: 'account_closed' }],
    shown: 'approved → in_progress → failed',
  },
  {
    ...USUAL,
    name: 'fails_later',
    ending: '02',
    steps: [{ afterMs: SOON_MS, status: 'failed', failureCode: 'account_unknown' }],
    shown: 'approved → in_progress → failed',
  },
  {
    ...USUAL,
    name: 'no_answer',
    ending: '03',
    steps: [],
    silentMs: FOR_EVER,
    calls: false,
    shown: 'approved → in_progress',
  },
  {
    ...USUAL,
    name: 'late_answer',
    ending: '04',
    steps: [done(0)],
    silentMs: LATER_MS,
    calls: false,
    shown: 'approved → in_progress → completed',
  },
  {
    ...USUAL,
    name: 'returned',
    ending: '05',
    steps: [done(0), { afterMs: LATER_MS, status: 'returned', failureCode: 'account_blocked' }],
    shown: 'approved → in_progress → completed → returned',
  },
  {
    ...USUAL,
    name: 'completes_later',
    ending: '06',
    steps: [done(SOON_MS)],
    shown: 'approved → in_progress → completed',
  },
  {
    ...USUAL,
    name: 'lost_once',
    ending: '07',
    steps: [done(0)],
    losesFirst: true,
    shown: 'approved → in_progress → completed',
  },
];

export function scenarioFor(accountNumber: string): Scenario {
  return (
    SCENARIOS.find(({ ending }) => ending !== null && accountNumber.endsWith(ending)) ??
    SCENARIOS[0]
  );
}

export function scenarioNamed(name: string | null): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.name === name);
  if (found === undefined)
    throw new Error(`the simulated rail has no scenario ${name ?? 'without a name'}`);
  return found;
}
