import { ApiError, invalidField } from '../../core/errors.js';
import { type Payout, type PayoutResolution, RESOLUTION_OUTCOMES } from '../../db/entities/payouts.js';
import { approveResolution } from '../../payouts/release.js';
import { outcomeRefusal } from '../../payouts/resolution-rules.js';
import { proposeResolution, rejectResolution } from '../../payouts/resolutions.js';
import { html, type Html } from '../html.js';
import { options } from '../pages/layout.js';
import type { DeskAct } from './act.js';
import { approvalActs } from './approvals.js';

/** A payout, and the proposal that waits for a second person. */
export interface ShownPayout {
  readonly payout: Payout;
  readonly open: PayoutResolution | undefined;
}

type Outcome = PayoutResolution['outcome'];

const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  completed: 'completed: the bank paid it',
  failed: 'failed: the bank never paid it, and the money goes back to the account',
  returned: 'returned: the bank paid it and gave it back, and the money goes back to the account',
  unchanged: 'unchanged: it is right as it is, and need not be raised any more',
};

/** Settling what no rail settles takes two people, each with a code. */
const RESOLUTION_ACTS: readonly DeskAct<ShownPayout>[] = [
  {
    verb: 'propose',
    name: 'payout.resolve_propose',
    label: 'Propose what became of it',
    explanation: 'By what the bank says, never by a guess. Nothing moves until a second person applies it.',
    fields: ({ payout }, given) => outcomeField(payout, given?.get('outcome') ?? null),
    isOpen: ({ payout, open }) => open === undefined && possible(payout).length > 0,
    run: async ({ desk }, { payout }, { by, reason, form }) => {
      const outcome = RESOLUTION_OUTCOMES.find((one) => one === form.get('outcome'));
      if (outcome === undefined) throw new ApiError(invalidField('outcome', 'unknown'));
      await proposeResolution(desk, payout, { outcome, reason, by });
    },
  },
  {
    verb: 'apply',
    name: 'payout.resolve_approve',
    label: 'Apply the resolution',
    explanation:
      'What was proposed is done to the money. Before money is given back, the rail is asked to say that it will never pay.',
    isOpen: ({ open }, by) => open !== undefined && open.proposedById !== by.id,
    run: async ({ release }, { payout }, { by, reason }) => {
      await approveResolution(release, payout, by, reason);
    },
  },
  {
    verb: 'dismiss',
    name: 'payout.resolve_reject',
    label: 'Reject the resolution',
    explanation: 'Ends the proposal; nothing else changes. Whoever made it may take it back so.',
    isStop: true,
    isOpen: ({ open }) => open !== undefined,
    run: async ({ desk }, { payout }, { by, reason }) => {
      await rejectResolution(desk, payout, by, reason);
    },
  },
];

export const PAYOUT_ACTS: readonly DeskAct<ShownPayout>[] = [
  ...approvalActs<ShownPayout, Payout>(
    'payout',
    ({ payoutApprovals }) => payoutApprovals,
    ({ payout }) => payout,
  ),
  ...RESOLUTION_ACTS,
];

function possible(payout: Payout): readonly Outcome[] {
  return RESOLUTION_OUTCOMES.filter((outcome) => outcomeRefusal(payout, outcome) === null);
}

function outcomeField(payout: Payout, given: string | null): Html {
  const outcomes = possible(payout).map((outcome) => [outcome, OUTCOME_WORDS[outcome]] as const);
  return html`<label
    >What became of it<select name="outcome" required>
      <option value="">Choose</option>
      ${options(outcomes, given)}
    </select></label
  >`;
}
