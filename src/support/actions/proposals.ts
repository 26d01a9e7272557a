import { ASSETS, formatAmount, isAsset, LISTED_ASSETS } from '../../core/amount.js';
import { ApiError, invalidField, invalidState } from '../../core/errors.js';
import { parseUuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import { type Adjustment, ADJUSTMENT_DIRECTIONS } from '../../db/entities/operations.js';
import type { Account } from '../../db/entities/parties.js';
import {
  type Payout,
  PAYOUT_STATUSES,
  type PayoutResolution,
  payoutResolutions,
  RESOLUTION_OUTCOMES,
} from '../../db/entities/payouts.js';
import { decidedRefusal } from '../../funding/rules.js';
import {
  approveAdjustment,
  assertReference,
  proposeAdjustment,
  rejectAdjustment,
} from '../../funding/service.js';
import { approveResolution } from '../../payouts/resolution/approve.js';
import {
  ANOTHER_OPEN,
  outcomeRefusal,
  type ResolutionOutcome,
} from '../../payouts/resolution/checks.js';
import { retryByStaff } from '../../payouts/resolution/retry.js';
import { isUnfinished } from '../../payouts/rules.js';
import {
  proposeResolution,
  rejectResolution,
  type SeenPayout,
} from '../../payouts/resolution/resolutions.js';
import { assertMayAct, type StaffIdentity } from '../../staff/rules.js';
import { type Original, refundRefusal } from '../../transfers/originals.js';
import { amountOf } from '../forms.js';
import { type Content, html, type Html } from '../html.js';
import { field, hiddenField } from '../pages/layout.js';
import { inWords, moneyText } from '../reading/payouts.js';
import type { DeskAction } from './action.js';
import { approvalActions } from './controls.js';

/** Actions of two people: one proposes an adjustment or the outcome of a payout, another decides. */

export const ADJUSTMENT_ACTIONS: readonly DeskAction<Adjustment>[] = [
  {
    verb: 'approve',
    name: 'adjustment.approve',
    label: 'Post',
    explanation: 'Moves the money immediately. You cannot post your own proposal.',
    done: 'Posted. The money has moved.',
    isOffered: ({ status, proposedById }, by) => status === 'proposed' && proposedById !== by.id,
    run: async (deps, adjustment, { by, reason }) =>
      assertDecidedBy((await approveAdjustment(deps, adjustment, by, reason)).resource, by),
  },
  {
    verb: 'reject',
    name: 'adjustment.reject',
    label: 'Reject',
    explanation:
      'Ends the proposal. No money moves. You can also withdraw your own proposal this way.',
    done: 'Rejected. No money has moved.',
    endsSomething: true,
    isOffered: ({ status }) => status === 'proposed',
    run: async (deps, adjustment, { by, reason }) =>
      assertDecidedBy((await rejectAdjustment(deps, adjustment, by, reason)).resource, by),
  },
];

/** Throws if another person decided before, because the service then returns that decision. */
function assertDecidedBy(adjustment: Adjustment, by: StaffIdentity): void {
  if (adjustment.decidedById !== by.id) throw new ApiError(decidedRefusal(adjustment));
}

export const ACCOUNT_ACTIONS: readonly DeskAction<Account>[] = [
  {
    verb: 'adjust',
    name: 'adjustment.propose',
    label: 'Propose an adjustment',
    explanation:
      "Adds money to the account or removes it, after a second person has posted it. The account's owner can read the reason.",
    done: 'Proposed. A second person must post it, from the start page or its own page: ',
    fields: ({ status }, given) =>
      adjustmentFields(status === 'closed' ? ['out'] : ADJUSTMENT_DIRECTIONS, given),
    // A payout may have been returned to a closed account, which is then emptied.
    isOffered: () => true,
    check: (_, form) => adjustmentOf(form),
    run: async (deps, { id: accountId, tenantId }, { by, reason, form }) => {
      const request = { ...adjustmentOf(form), tenantId, accountId, reason, by };
      const { resource } = await proposeAdjustment(deps, request);
      if (resource.proposedById !== by.id) throw new ApiError(REFERENCE_TAKEN);
    },
  },
];

function adjustmentOf(form: URLSearchParams) {
  const direction = ADJUSTMENT_DIRECTIONS.find((one) => one === form.get('direction'));
  if (direction === undefined) throw new ApiError(invalidField('direction', 'unknown'));
  const asset = form.get('asset') ?? '';
  if (!isAsset(asset)) throw new ApiError(invalidField('asset', 'unknown'));
  const reference = form.get('reference') ?? '';
  assertReference(reference);
  return { direction, amount: amountOf(form, asset), reference };
}

const REFERENCE_TAKEN = invalidState(
  'another person has already proposed this adjustment under this reference',
);

export const DIRECTIONS: Readonly<Record<Adjustment['direction'], string>> = {
  in: 'into the account',
  out: 'out of the account',
};

function adjustmentFields(
  directions: readonly Adjustment['direction'][],
  given: URLSearchParams | null,
): Content {
  const required = (name: string) => ({ name, required: true, value: given?.get(name) });
  return [
    field('Direction', required('direction'), {
      choices: [['', 'Choose'], ...directions.map((one) => [one, DIRECTIONS[one]] as const)],
    }),
    field('Asset', required('asset'), {
      choices: ASSETS.map((one) => [one, `${one}, ${LISTED_ASSETS[one].scale} decimals`]),
    }),
    field('Amount', { ...required('amount'), inputmode: 'decimal' }, { hint: 'Such as 1,500.00' }),
    field(
      'Reference',
      {
        ...required('reference'),
        pattern: '[A-Za-z0-9._\\-]{1,64}',
        maxlength: 64,
        autocapitalize: 'none',
      },
      {
        hint: 'Such as case-118: letters, digits, points, dashes. A reference moves money only once',
      },
    ),
  ];
}

/** Sends a transfer or bonus back. The proposal is a transfer that waits for approval. */
export const REFUND_ACTION: DeskAction<Original> = {
  verb: 'refund',
  name: 'transfer.refund',
  label: 'Propose a refund',
  explanation:
    'Sends money back from the account that received it, after a second person has approved the refund. Both parties can read the reason.',
  done: 'Proposed. A second person must approve the refund: it is listed below, and on the start page.',
  fields: ({ asset }, given) =>
    field(
      'Amount',
      { name: 'amount', value: given?.get('amount'), inputmode: 'decimal' },
      { hint: `Such as 1,500.00 ${asset}; empty for all that is left` },
    ),
  isOffered: (original) => refundRefusal(original, null) === null,
  check: refundOf,
  run: async ({ transfers }, original, { by, reason, actionId, form }) => {
    const amount = refundOf(original, form);
    const { outcome } = await transfers.proposeRefund(original, { amount, reason, by }, actionId);
    if (!outcome.done) throw new ApiError(outcome.refusal);
  },
};

/** Returns null for all that is left. */
function refundOf({ asset }: Original, form: URLSearchParams) {
  return (form.get('amount') ?? '') === '' ? null : amountOf(form, asset);
}

const OUTCOME_WORDS: Readonly<Record<ResolutionOutcome, string>> = {
  completed: 'completed: the bank has paid it',
  failed: 'failed: the bank never paid it, and the money returns to the account',
  returned: 'returned: the bank paid it and sent it back, and the money returns to the account',
  unchanged: 'unchanged: its status is correct, and it is no longer shown as stuck',
};

const PROPOSE =
  'Ask the bank first; never guess. No money moves until a second person applies the proposal.';
const CORRECT =
  'For when the bank paid it although its rail reported that it failed. Ask the bank first. The money leaves the account again when a second person applies it.';

/** Two people, each with a code of their authenticator, decide a payout in place of its rail. */
const RESOLUTION_ACTIONS: readonly DeskAction<SeenPayout>[] = [
  {
    verb: 'propose',
    name: 'payout.resolve_propose',
    label: ({ payout }) =>
      isUnfinished(payout) || payout.stuckSince !== null
        ? 'Propose the outcome'
        : 'Correct the outcome',
    explanation: ({ payout }) => (payout.status === 'failed' ? CORRECT : PROPOSE),
    done: 'Proposed. A second person must apply it: it is on the start page under proposed outcomes.',
    fields: ({ payout, contradictions }, given) => [
      hiddenField(SHOWN_STATE, `${payout.status} ${contradictions}`),
      field(
        'Outcome',
        { name: 'outcome', required: true, value: given?.get('outcome') },
        { choices: [['', 'Choose'], ...possibleOutcomes(payout)] },
      ),
    ],
    isOffered: ({ payout, proposal }) =>
      proposal === undefined && possibleOutcomes(payout).length > 0,
    check: resolutionOf,
    run: async ({ writer }, now, { by, reason, actionId, form }) => {
      const { seen, outcome } = resolutionOf(now, form);
      await proposeResolution(writer, seen, { outcome, reason, by }, actionId);
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
    fields: (seen, given) => [proposedText(seen), proposalField(seen, given)],
    isOffered: ({ proposal }, by) => proposal !== undefined && proposal.proposedById !== by.id,
    run: async ({ database, release }, seen, { by, reason, form }) => {
      if (await isDecided(database.current, seen, form, 'applied', by)) return;
      await approveResolution(release, withoutNewerProposal(seen, form), by, reason);
    },
  },
  {
    verb: 'dismiss',
    name: 'payout.resolve_reject',
    label: 'Reject the proposal',
    explanation:
      'Ends the proposal. Nothing else changes. You can also withdraw your own proposal this way.',
    done: 'Rejected. The payout is as it was before the proposal.',
    endsSomething: true,
    fields: proposalField,
    isOffered: ({ proposal }) => proposal !== undefined,
    run: async ({ database, writer }, seen, { by, reason, form }) => {
      if (await isDecided(database.current, seen, form, 'rejected', by)) return;
      await rejectResolution(writer, withoutNewerProposal(seen, form), by, reason);
    },
  },
];

const RETRY_ACTION: DeskAction<SeenPayout> = {
  verb: 'retry',
  name: 'payout.retry',
  label: 'Ask the rail again',
  explanation: 'Asks the rail for the outcome now. Nothing is sent again.',
  done: 'The rail was asked. The timeline shows what it reported.',
  isOffered: ({ payout }) => payout.status === 'in_progress',
  run: async (deps, { payout }, { by, reason, actionId }) => {
    assertMayAct('payout.retry', by);
    if (payout.status !== 'in_progress')
      throw new ApiError(invalidState(`the payout is ${inWords(payout.status)}`));
    const ask = async (): Promise<Payout> => (await deps.release.calls.poll(payout)).payout;
    await retryByStaff(deps, payout, by, ask, { reason, actionId });
  },
};

export const PAYOUT_ACTIONS: readonly DeskAction<SeenPayout>[] = [
  ...approvalActions<SeenPayout, Payout>(
    'payout',
    ({ payoutApprovals }) => payoutApprovals,
    ({ payout }) => payout,
  ),
  RETRY_ACTION,
  ...RESOLUTION_ACTIONS,
];

const SHOWN_STATE = 'state';
const PROPOSAL = 'resolution';

/** Returns the outcome, and the payout with the state that the page showed. Throws `ApiError` for an invalid field. */
function resolutionOf(now: SeenPayout, form: URLSearchParams) {
  const outcome = RESOLUTION_OUTCOMES.find((one) => one === form.get('outcome'));
  if (outcome === undefined) throw new ApiError(invalidField('outcome', 'unknown'));
  const [word, count] = (form.get(SHOWN_STATE) ?? '').split(' ');
  const [status, contradictions] = [PAYOUT_STATUSES.find((one) => one === word), Number(count)];
  if (status === undefined || !Number.isSafeInteger(contradictions))
    throw new ApiError(invalidField(SHOWN_STATE, 'unknown'));
  return { outcome, seen: { ...now, payout: { ...now.payout, status }, contradictions } };
}

/** Shows what a second person applies. */
function proposedText({ payout, proposal }: SeenPayout): Html {
  return html`<p>
    The outcome will be <strong>${proposal && OUTCOME_WORDS[proposal.outcome]}</strong>. The amount
    is ${formatAmount(payout)}.
  </p>`;
}

function proposalField({ proposal }: SeenPayout, given: URLSearchParams | null): Html {
  return hiddenField(PROPOSAL, given?.get(PROPOSAL) ?? proposal?.id ?? '');
}

/** Returns the payout. Throws `ApiError` if its proposal is newer than the page showed. */
function withoutNewerProposal(seen: SeenPayout, form: URLSearchParams): SeenPayout {
  if (seen.proposal !== undefined && seen.proposal.id !== form.get(PROPOSAL))
    throw new ApiError(ANOTHER_OPEN);
  return seen;
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
  const decided = await reader.find(payoutResolutions, { id, payoutId: payout.id });
  return decided?.status === status && decided.decidedById === by.id;
}

function possibleOutcomes(payout: Payout): readonly (readonly [ResolutionOutcome, string])[] {
  return RESOLUTION_OUTCOMES.filter((outcome) => outcomeRefusal(payout, outcome) === null).map(
    (outcome) => [outcome, OUTCOME_WORDS[outcome]],
  );
}
