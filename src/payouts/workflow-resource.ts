import { formatAmount } from '../core/amount.js';
import { payouts } from '../db/entities/payouts.js';
import { literals } from '../db/statements.js';
import {
  payoutWorkflowId,
  type PayoutWorkflowInput,
  type ResourceInput,
} from '../temporal/contracts.js';
import { workflowResource } from '../temporal/workflow-resources.js';
import { UNFINISHED } from './rules.js';

/** The pauses between polls: short at first, because most rails respond within seconds. */
const POLLING = { firstMs: 1_000, longestMs: 600_000 } as const;

export const payoutWorkflowResource = workflowResource({
  resourceType: 'payout',
  workflowType: 'payout',
  taskQueue: 'payouts',
  workflowIdOf: payoutWorkflowId,
  table: payouts,
  states: UNFINISHED,
  from: `payouts t FORCE INDEX (expiring) WHERE t.status IN (${literals(payouts, 'status', UNFINISHED)})`,
  about: (payout) => ({
    amount: formatAmount(payout),
    summary: `Payout of ${formatAmount(payout)} over the rail ${payout.rail}`,
    input: {
      resourceId: payout.id,
      tenantId: payout.tenantId,
      polling: POLLING,
    } satisfies ResourceInput<PayoutWorkflowInput>,
  }),
});
