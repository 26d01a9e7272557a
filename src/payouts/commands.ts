import { approvalPolicies } from '../db/entities/approvals.js';
import { memberRoles } from '../db/entities/parties.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { feeNeeds, readFeeAccounts } from '../accounts/fee.js';
import { limitNeeds } from '../accounts/limits.js';
import { readReach } from '../accounts/reachable.js';
import { endingNeeds } from '../approvals/commands.js';
import type { Uuid } from '../core/ids.js';
import { type CommandKind, naming, need } from '../ledger/writer/types.js';
import {
  attemptNeeds,
  decideAttempt,
  decideBegin,
  decideDenial,
  type DenyPayout,
} from './attempts.js';
import { decidePayout } from './decide.js';
import {
  decideRaise,
  decideReport,
  type PayoutCommand,
  type RaisePayout,
  type ReportOutcome,
} from './outcome.js';
import { wordNeeds } from './rail-words.js';
import type { RailRoute } from './rails/rules.js';
import type { CreatePayout } from './rules.js';

/** The ledger writer's commands for payouts. */

/** POST /v1/payouts, with the operators' choice of rails. */
export function createPayout(routes: readonly RailRoute[]): CommandKind<CreatePayout, Payout> {
  return {
    name: 'create payout',
    resourceType: 'payout',
    table: payouts,
    async accounts(commands, reader, isRetry) {
      const [feeAccount, reach] = await Promise.all([
        readFeeAccounts(
          reader,
          'payout',
          new Set(commands.map(({ tenantId }) => tenantId)),
          isRetry,
        ),
        readReach(
          reader,
          commands.map(({ tenantId, sourceAccountId: accountId }) => ({ tenantId, accountId })),
        ),
      ]);
      const ids = commands.map(({ tenantId, sourceAccountId, amount }) => {
        if (!reach.owns(tenantId, sourceAccountId)) return [];
        const fee = feeAccount(tenantId, amount.asset);
        return [sourceAccountId, ...(fee === undefined ? [] : [fee])];
      });
      return { ids };
    },
    needs: ({ tenantId, memberId, sourceAccountId: accountId, amount: { asset } }, at) => [
      need(memberRoles, { accountId, memberId }),
      need(approvalPolicies, { accountId, asset }),
      ...feeNeeds({ tenantId, operation: 'payout', asset }),
      ...limitNeeds(accountId, asset, at),
    ],
    decide: (command, state) => decidePayout(routes, command, state),
  };
}

/** Before the rail is called. */
export const beginPayout: CommandKind<PayoutCommand, Payout> = {
  name: 'begin payout',
  resourceType: 'payout',
  table: payouts,
  accounts: naming(({ facts }) => [facts.sourceAccountId]),
  needs: ({ facts }) => [need(payouts, { id: facts.id })],
  decide: decideBegin,
};

/** Before the rail is called again. */
export const attemptPayout: CommandKind<PayoutCommand, Payout> = {
  ...beginPayout,
  name: 'attempt payout',
  needs: ({ facts }) => [need(payouts, { id: facts.id }), ...attemptNeeds(facts)],
  decide: decideAttempt,
};

export const reportOutcome: CommandKind<ReportOutcome, Payout> = {
  name: 'report outcome of payout',
  resourceType: 'payout',
  table: payouts,
  accounts: naming(({ facts }) => postedAccounts(facts)),
  needs: ({ facts }) => [...endingNeeds({ table: payouts }, facts), ...wordNeeds(facts)],
  decide: decideReport,
};

export const raisePayout: CommandKind<RaisePayout, Payout> = {
  ...beginPayout,
  name: 'raise payout',
  decide: decideRaise,
};

/** The rail never heard of the payout. */
export const denyPayout: CommandKind<DenyPayout, Payout> = {
  ...attemptPayout,
  name: 'deny payout',
  decide: decideDenial,
};

/** Every account that an outcome may post to. */
export function postedAccounts({
  sourceAccountId,
  systemAccountId,
  feeAccountId,
}: Payout): readonly Uuid[] {
  return [sourceAccountId, systemAccountId, ...(feeAccountId === null ? [] : [feeAccountId])];
}
