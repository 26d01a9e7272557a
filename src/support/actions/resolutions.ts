import { formatAmount } from '../../core/amount.js';
import { ApiError, invalidField } from '../../core/errors.js';
import { parseUuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import {
  type Payout,
  PAYOUT_STATUSES,
  type PayoutResolution,
  payoutResolutions,
  RESOLUTION_OUTCOMES,
} from '../../db/entities/payouts.js';
import { approveResolution } from '../../payouts/release.js';
import { ANOTHER_OPEN, outcomeRefusal } from '../../payouts/resolution-checks.js';
import { proposeResolution, rejectResolution, type SeenPayout } from '../../payouts/resolutions.js';
import type { StaffIdentity } from '../../staff/rules.js';
import { html, type Html } from '../html.js';
import { hiddenField, options } from '../pages/layout.js';
import { moneyText } from '../reading/payouts.js';
import type { DeskAction } from './action.js';
import { approvalActions } from './controls.js';

type Outcome = PayoutResolution['outcome'];

const OUTCOME_WORDS: Readonly<Record<Outcome, string>> = {
  completed: 'completed: the bank has paid it',
  failed: 'failed: the bank never paid it, and the money returns to the account',
  returned: 'returned: the bank paid it and sent it back, and the money returns to the account',
  unchanged: 'unchanged: its status is correct, and it is no longer shown as stuck',
};

const CORRECTION = {
  label: 'Correct the outcome',
  explanation:
    'For when the bank paid it although its rail reported that it failed. Ask the bank first. The money leaves the account again when a second person applies it.',
};

/** Actions of two people, each with a code, that decide a payout in place of its rail. */
const RESOLUTION_ACTIONS: readonly DeskAction<SeenPayout>[] = [
  {
    verb: 'propose',
    name: 'payout.resolve_propose',
    label: 'Propose the outcome',
    explanation:
      'Ask the bank first; never guess. No money moves until a second person applies the proposal.',
    wordsFor: ({ payout }) => (payout.status === 'failed' ? CORRECTION : undefined),
    done: 'Proposed. A second person must apply it: it is on the start page under proposed outcomes.',
    fields: (seen, given) =>
      html`${stateField(seen)}${outcomeField(seen.payout, given?.get('outcome') ?? null)}`,
    isOpen: ({ payout, open }) => open === undefined && possibleOutcomes(payout).length > 0,
    run: async ({ writer }, seen, { by, reason, actionId, form }) => {
      const outcome = RESOLUTION_OUTCOMES.find((one) => one === form.get('outcome'));
      if (outcome === undefined) throw new ApiError(invalidField('outcome', 'unknown'));
      await proposeResolution(
        writer,
        withShownState(seen, form),
        { outcome, reason, by },
        actionId,
      );
    },
  },
  {
    verb: 'apply',
    name: 'payout.resolve_approve',
    label: 'Apply the proposal',
    explanation:
      'Carries out the proposed outcome. Before money returns to the account, the rail must confirm that it will never pay.',
    done: ({ payout }, names) =>
      `Applied: ${payout.status.replaceAll('_', ' ')}. ${moneyText(payout, names.account(payout.sourceAccountId)) ?? ''}`,
    fields: (seen, given) => html`${proposedText(seen)}${proposalField(seen, given)}`,
    isOpen: ({ open }, by) => open !== undefined && open.proposedById !== by.id,
    run: async ({ database, release }, payout, { by, reason, form }) => {
      if (await isDecided(database.current, payout, form, 'applied', by)) return;
      await approveResolution(release, withoutNewerProposal(payout, form), by, reason);
    },
  },
  {
    verb: 'dismiss',
    name: 'payout.resolve_reject',
    label: 'Reject the proposal',
    explanation:
      'Ends the proposal. Nothing else changes. You can also withdraw your own proposal this way.',
    done: 'Rejected. The payout is as it was before the proposal.',
    isStop: true,
    fields: proposalField,
    isOpen: ({ open }) => open !== undefined,
    run: async ({ database, writer }, payout, { by, reason, form }) => {
      if (await isDecided(database.current, payout, form, 'rejected', by)) return;
      await rejectResolution(writer, withoutNewerProposal(payout, form), by, reason);
    },
  },
];

export const PAYOUT_ACTIONS: readonly DeskAction<SeenPayout>[] = [
  ...approvalActions<SeenPayout, Payout>(
    'payout',
    ({ payoutApprovals }) => payoutApprovals,
    ({ payout }) => payout,
  ),
  ...RESOLUTION_ACTIONS,
];

const SHOWN_STATE = 'state';
const PROPOSAL = 'resolution';

function stateField({ payout, contradictions }: SeenPayout): Html {
  return hiddenField(SHOWN_STATE, `${payout.status} ${contradictions}`);
}

/** Returns the payout with the state that the page showed. Throws `ApiError` if the field is invalid. */
function withShownState(now: SeenPayout, form: URLSearchParams): SeenPayout {
  const [word, count] = (form.get(SHOWN_STATE) ?? '').split(' ');
  const [status, contradictions] = [PAYOUT_STATUSES.find((one) => one === word), Number(count)];
  if (status === undefined || !Number.isSafeInteger(contradictions))
    throw new ApiError(invalidField(SHOWN_STATE, 'unknown'));
  return { ...now, payout: { ...now.payout, status }, contradictions };
}

/** Shows what a second person applies. */
function proposedText({ payout, open }: SeenPayout): Html {
  return html`<p>
    The outcome will be <strong>${open && OUTCOME_WORDS[open.outcome]}</strong>. The amount is
    ${formatAmount(payout)}.
  </p>`;
}

function proposalField({ open }: SeenPayout, given: URLSearchParams | null): Html {
  return hiddenField(PROPOSAL, given?.get(PROPOSAL) ?? open?.id ?? '');
}

/** Returns the payout. Throws `ApiError` if its proposal is newer than the page showed. */
function withoutNewerProposal(payout: SeenPayout, form: URLSearchParams): SeenPayout {
  if (payout.open !== undefined && payout.open.id !== form.get(PROPOSAL))
    throw new ApiError(ANOTHER_OPEN);
  return payout;
}

/** Whether this person has already decided the proposal in the same way. */
async function isDecided(
  reader: Reader,
  { payout }: SeenPayout,
  form: URLSearchParams,
  status: PayoutResolution['status'],
  by: StaffIdentity,
): Promise<boolean> {
  const id = parseUuid(form.get(PROPOSAL) ?? '');
  if (id === null) return false;
  const seen = await reader.find(payoutResolutions, { id, payoutId: payout.id });
  return seen?.status === status && seen.decidedById === by.id;
}

function possibleOutcomes(payout: Payout): readonly Outcome[] {
  return RESOLUTION_OUTCOMES.filter((outcome) => outcomeRefusal(payout, outcome) === null);
}

function outcomeField(payout: Payout, given: string | null): Html {
  const outcomes = possibleOutcomes(payout).map(
    (outcome) => [outcome, OUTCOME_WORDS[outcome]] as const,
  );
  return html`<label
    >Outcome<select name="outcome" required>
      <option value="">Choose</option>
      ${options(outcomes, given)}
    </select></label
  >`;
}
