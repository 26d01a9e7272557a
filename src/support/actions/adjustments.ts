import { type Asset, ASSETS, isAsset, LISTED_ASSETS } from '../../core/amount.js';
import { ApiError, invalidField, invalidState } from '../../core/errors.js';
import { type Adjustment, ADJUSTMENT_DIRECTIONS } from '../../db/entities/operations.js';
import type { Account } from '../../db/entities/parties.js';
import { approveAdjustment, proposeAdjustment, rejectAdjustment } from '../../funding/service.js';
import { decidedRefusal } from '../../funding/rules.js';
import type { StaffIdentity } from '../../staff/rules.js';
import { html, type Html } from '../html.js';
import { parsePrinted } from '../units.js';
import type { DeskAction } from './action.js';

export const ADJUSTMENT_ACTIONS: readonly DeskAction<Adjustment>[] = [
  {
    verb: 'approve',
    name: 'adjustment.approve',
    label: 'Post',
    explanation: 'Moves the money immediately. You cannot post your own proposal.',
    done: 'Posted. The money has moved.',
    isOpen: ({ status, proposedById }, by) => status === 'proposed' && proposedById !== by.id,
    run: async (deps, adjustment, { by, reason }) =>
      assertOwn((await approveAdjustment(deps, adjustment, by, reason)).resource, by),
  },
  {
    verb: 'reject',
    name: 'adjustment.reject',
    label: 'Reject',
    explanation:
      'Ends the proposal. No money moves. You can also withdraw your own proposal this way.',
    done: 'Rejected. No money has moved.',
    isStop: true,
    isOpen: ({ status }) => status === 'proposed',
    run: async (deps, adjustment, { by, reason }) =>
      assertOwn((await rejectAdjustment(deps, adjustment, by, reason)).resource, by),
  },
];

/** Throws if another person decided, because a repeated key returns the earlier decision. */
function assertOwn(adjustment: Adjustment, by: StaffIdentity): void {
  if (adjustment.decidedById !== by.id) throw new ApiError(decidedRefusal(adjustment));
}

export const ACCOUNT_ACTIONS: readonly DeskAction<Account>[] = [
  {
    verb: 'adjust',
    name: 'adjustment.propose',
    label: 'Propose an adjustment',
    explanation:
      "Adds money to the account or removes it, after a second person has posted it. The account's owner can read the reason.",
    done: 'Proposed. A second person must post it: it is listed below under Adjustments, and on the start page.',
    fields: ({ status }, given) =>
      adjustmentFields(status === 'closed' ? ['out'] : ADJUSTMENT_DIRECTIONS, given),
    // A payout may have been returned to a closed account, which is then emptied.
    isOpen: () => true,
    run: async (deps, { id: accountId, tenantId }, { by, reason, form }) => {
      const direction = ADJUSTMENT_DIRECTIONS.find((one) => one === form.get('direction'));
      if (direction === undefined) throw new ApiError(invalidField('direction', 'unknown'));
      const asset = assetOf(form);
      const amount = parsePrinted(form.get('amount') ?? '', asset);
      if (amount?.asset !== asset)
        throw new ApiError(invalidField('amount', 'write it as 1,500.00'));
      const reference = form.get('reference') ?? '';
      const request = { tenantId, accountId, direction, amount, reference, reason, by };
      const { resource } = await proposeAdjustment(deps, request);
      if (resource.proposedById !== by.id) throw new ApiError(REFERENCE_TAKEN);
    },
  },
];

const REFERENCE_TAKEN = invalidState(
  'somebody else proposed the same under this reference already',
);

function assetOf(form: URLSearchParams): Asset {
  const asset = form.get('asset') ?? '';
  if (!isAsset(asset)) throw new ApiError(invalidField('asset', 'unknown'));
  return asset;
}

export const DIRECTIONS: Readonly<Record<Adjustment['direction'], string>> = {
  in: 'into the account',
  out: 'out of the account',
};

function adjustmentFields(
  directions: readonly Adjustment['direction'][],
  given: URLSearchParams | null,
): Html {
  return html`<label
      >Direction<select name="direction" required>
        ${directions.map((one) => html`<option value="${one}">${DIRECTIONS[one]}</option>`)}
      </select></label
    >
    <label
      >Asset<select name="asset" required>
        ${ASSETS.map((asset) => html`<option value="${asset}">${asset}, ${LISTED_ASSETS[asset].scale} decimals</option>`)}
      </select></label
    >
    <label
      >Amount<span class="hint">Such as 1,500.00</span
      ><input name="amount" required inputmode="decimal" value="${given?.get('amount') ?? ''}"
    /></label>
    <label
      >Reference<span class="hint"
        >Such as case-118: letters, digits, points, dashes. A reference moves money only once</span
      >
      <input
        name="reference"
        required
        pattern="[A-Za-z0-9._\\-]{1,64}"
        maxlength="64"
        autocapitalize="none"
        value="${given?.get('reference') ?? ''}"
    /></label>`;
}
