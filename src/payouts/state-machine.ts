import type { Payout, PayoutStatus, RAIL_WORDS } from '../db/entities/payouts.js';

/**
 * The state machine of payouts: the effect of a report, by the payout's state, the report and the
 * reporter. The rules derive from this table, and a test compares docs/payouts.md with it. Pure.
 */

/** `poll` means every response of the rail to a call: to an order, a status request or a void. */
export const REPORTERS = ['callback', 'poll', 'statement', 'staff'] as const;
export type Reporter = (typeof REPORTERS)[number];

/** `unknown`: the rail never received the payout. `unchanged`: the payout is right as it is. */
export type ReportStatus = (typeof RAIL_WORDS)[number] | 'unchanged';

export const EFFECTS = {
  record: 'is recorded; the payout keeps its state',
  duplicate: 'is recorded; nothing is new',
  complete: 'spends the hold: the payout is `completed`',
  fail: 'releases the hold: the payout is `failed`',
  return: 'posts the amount back: the payout is `returned`',
  complete_and_return: 'spends the hold and posts the amount back: the payout is `returned`',
  complete_after_failure: 'takes amount and fee from the balance: the payout is `completed`',
  flag: 'flags the payout, because the rail has not reported this outcome',
  conflict: 'flags the payout as a contradiction; only two people clear that flag',
  clear: 'clears the flag',
} as const;
export type Effect = keyof typeof EFFECTS;

type Effects = readonly [Effect | null, Effect | null, Effect | null, Effect | null];

/** The rail does not have the payout, so every report of it is a contradiction. */
const NOT_SUBMITTED: Readonly<Record<ReportStatus, Effects>> = {
  accepted: ['conflict', 'conflict', null, null],
  completed: ['conflict', 'conflict', 'conflict', null],
  failed: ['conflict', 'conflict', 'conflict', null],
  returned: ['conflict', 'conflict', 'conflict', null],
  voided: ['conflict', 'conflict', null, null],
  unknown: [null, 'record', null, null],
  unchanged: [null, null, null, 'clear'],
};

/** The effects by reporter, in the order of REPORTERS. Null: the reporter cannot report this. */
export const STATE_MACHINE: Readonly<
  Record<PayoutStatus, Readonly<Record<ReportStatus, Effects>>>
> = {
  pending_approval: NOT_SUBMITTED,
  approved: NOT_SUBMITTED,
  in_progress: {
    accepted: ['record', 'record', null, null],
    completed: ['complete', 'complete', 'flag', 'complete'],
    failed: ['fail', 'fail', 'flag', 'fail'],
    returned: ['complete_and_return', 'complete_and_return', 'flag', 'complete_and_return'],
    voided: ['fail', 'fail', null, null],
    unknown: [null, 'record', null, null],
    unchanged: [null, null, null, null],
  },
  completed: {
    accepted: ['duplicate', 'duplicate', null, null],
    completed: ['duplicate', 'duplicate', 'duplicate', null],
    failed: ['conflict', 'conflict', 'conflict', null],
    returned: ['return', 'return', 'flag', 'return'],
    voided: ['conflict', 'conflict', null, null],
    unknown: [null, 'conflict', null, null],
    unchanged: [null, null, null, 'clear'],
  },
  returned: {
    accepted: ['duplicate', 'duplicate', null, null],
    completed: ['duplicate', 'duplicate', 'duplicate', null],
    failed: ['conflict', 'conflict', 'conflict', null],
    returned: ['duplicate', 'duplicate', 'duplicate', null],
    voided: ['conflict', 'conflict', null, null],
    unknown: [null, 'conflict', null, null],
    unchanged: [null, null, null, 'clear'],
  },
  rejected: NOT_SUBMITTED,
  canceled: NOT_SUBMITTED,
  failed: {
    accepted: ['conflict', 'conflict', null, null],
    completed: ['conflict', 'conflict', 'conflict', 'complete_after_failure'],
    failed: ['duplicate', 'duplicate', 'duplicate', null],
    returned: ['conflict', 'conflict', 'conflict', null],
    voided: ['duplicate', 'duplicate', null, null],
    unknown: [null, 'record', null, null],
    unchanged: [null, null, null, 'clear'],
  },
};

/** The state of a payment by a payout's row or by a line of a statement. */
export interface KnownPayout {
  readonly status: PayoutStatus;
  readonly railReference: Payout['railReference'];
}

export interface ReportedOutcome {
  readonly status: ReportStatus;
  /** The rail's name for the payment; null if the report has none. */
  readonly reference: string | null;
}

/**
 * Returns the effect of a report on a payout. Another reference means another payment, which is a
 * conflict.
 */
export function effectOf(
  { status, railReference }: KnownPayout,
  report: ReportedOutcome,
  reporter: Reporter,
): Effect {
  const { reference } = report;
  if (railReference !== null && reference !== null && reference !== railReference)
    return 'conflict';
  return STATE_MACHINE[status][report.status][REPORTERS.indexOf(reporter)] ?? 'conflict';
}

/** Returns the states in which a reporter may report this. */
export function statesFor(report: ReportStatus, reporter: Reporter): readonly PayoutStatus[] {
  const index = REPORTERS.indexOf(reporter);
  const all = Object.keys(STATE_MACHINE) as PayoutStatus[];
  return all.filter((status) => STATE_MACHINE[status][report][index] !== null);
}

/**
 * True if a report contradicts what is known from another one. A missing reference contradicts
 * nothing.
 */
export function disagree(known: KnownPayout, report: ReportedOutcome): boolean {
  return effectOf(known, report, 'poll') === 'conflict';
}
