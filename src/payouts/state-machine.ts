import type { Payout, PayoutStatus, REPORT_STATUSES } from '../db/entities/payouts.js';

/** The effects of reports on payouts. Pure. A test compares them with docs/payouts.md. */

/** `rail` means a callback, or the response to an order, a status request or a void. */
export const REPORTERS = ['rail', 'statement', 'staff'] as const;
type Reporter = (typeof REPORTERS)[number];

/** `unknown`: the rail never received the payout. `unchanged`: the payout is right as it is. */
export type ReportStatus = (typeof REPORT_STATUSES)[number] | 'unchanged';

export type Effect =
  | 'record'
  | 'duplicate'
  | 'complete'
  | 'fail'
  | 'return'
  | 'complete_and_return'
  | 'complete_after_failure'
  | 'flag'
  | 'conflict'
  | 'clear';

/** By reporter, in the order of REPORTERS. Null: the reporter cannot report this. */
type Effects = readonly [Effect | null, Effect | null, Effect | null];
type Reports = Readonly<Record<ReportStatus, Effects>>;

/** The rail does not have the payout, so every report except `unknown` is a contradiction. */
const NOT_SUBMITTED: Reports = {
  accepted: ['conflict', null, null],
  completed: ['conflict', 'conflict', null],
  failed: ['conflict', 'conflict', null],
  returned: ['conflict', 'conflict', null],
  voided: ['conflict', null, null],
  unknown: ['record', null, null],
  unchanged: [null, null, 'clear'],
};

const RETURNED: Reports = {
  accepted: ['duplicate', null, null],
  completed: ['duplicate', 'duplicate', null],
  failed: ['conflict', 'conflict', null],
  returned: ['duplicate', 'duplicate', null],
  voided: ['conflict', null, null],
  unknown: ['conflict', null, null],
  unchanged: [null, null, 'clear'],
};

/** Only two people decided the return: the rail has not reported a payment, so it may still pay. */
export const RETURNED_UNPAID: Reports = {
  accepted: ['conflict', null, null],
  completed: ['conflict', 'conflict', null],
  failed: ['duplicate', 'duplicate', null],
  returned: ['duplicate', 'duplicate', null],
  voided: ['duplicate', null, null],
  unknown: ['record', null, null],
  unchanged: [null, null, 'clear'],
};

export const STATE_MACHINE: Readonly<Record<PayoutStatus, Reports>> = {
  pending_approval: NOT_SUBMITTED,
  approved: NOT_SUBMITTED,
  in_progress: {
    accepted: ['record', null, null],
    completed: ['complete', 'flag', 'complete'],
    failed: ['fail', 'flag', 'fail'],
    returned: ['complete_and_return', 'flag', 'complete_and_return'],
    voided: ['fail', null, null],
    unknown: ['record', null, null],
    unchanged: [null, null, null],
  },
  completed: { ...RETURNED, returned: ['return', 'flag', 'return'] },
  returned: RETURNED,
  rejected: NOT_SUBMITTED,
  canceled: NOT_SUBMITTED,
  failed: {
    accepted: ['conflict', null, null],
    completed: ['conflict', 'conflict', 'complete_after_failure'],
    failed: ['duplicate', 'duplicate', null],
    returned: ['conflict', 'conflict', null],
    voided: ['duplicate', null, null],
    unknown: ['record', null, null],
    unchanged: [null, null, 'clear'],
  },
};

export interface KnownPayout {
  readonly status: PayoutStatus;
  readonly railReference: Payout['railReference'];
  /** False if the rail has reported no payment. By default, the rail has reported the state. */
  readonly wasPaid?: boolean;
}

export interface ReportedOutcome {
  readonly status: ReportStatus;
  /** The rail's name for the payment; null if the report has none. */
  readonly reference: string | null;
}

/** Returns the effect of a report. One with another reference is about another payment: a conflict. */
export function effectOf(
  { status, railReference, wasPaid = true }: KnownPayout,
  report: ReportedOutcome,
  reporter: Reporter,
): Effect {
  const { reference } = report;
  if (railReference !== null && reference !== null && reference !== railReference)
    return 'conflict';
  const reports = status === 'returned' && !wasPaid ? RETURNED_UNPAID : STATE_MACHINE[status];
  return reports[report.status][REPORTERS.indexOf(reporter)] ?? 'conflict';
}

export function statesAllowing(report: ReportStatus, reporter: Reporter): readonly PayoutStatus[] {
  const index = REPORTERS.indexOf(reporter);
  const all = Object.keys(STATE_MACHINE) as PayoutStatus[];
  return all.filter((status) => STATE_MACHINE[status][report][index] !== null);
}

/** Returns whether a report contradicts another one. A missing reference contradicts nothing. */
export function contradicts(known: KnownPayout, report: ReportedOutcome): boolean {
  return effectOf(known, report, 'rail') === 'conflict';
}
