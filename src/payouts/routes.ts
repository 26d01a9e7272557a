import { ApiError, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { operationRoutes } from '../operations/routes.js';
import { approvalRoutes } from '../approvals/routes.js';
import { Approvals } from '../approvals/service.js';
import { creationResponse, type Api, SPENDING_REFUSALS } from '../http/route.js';
import type { Cursors } from '../http/cursor.js';
import type { InboundRoute } from '../http/router.js';
import { paymentRequest } from '../http/schemas.js';
import type { z } from '../http/zod.js';
import {
  CreatePayoutBody,
  PAYOUT_EXAMPLES,
  PayoutPageSchema,
  PayoutQuery,
  payoutResource,
  PayoutSchema,
  RejectPayoutBody,
} from './schemas.js';
import { PayoutRecipients, type RecipientDeps } from './recipients.js';
import { HolderChecks, recipientRoute } from './routes-recipients.js';
import { type PayoutDeps, payoutList, type PayoutRequest, Payouts } from './service.js';
import { payoutApproval } from './decide.js';
import type { RailCallbacks } from './callbacks.js';
import { httpRail } from './rails/rail.js';

export function payoutRoutes(api: Api, deps: PayoutDeps & RecipientDeps, cursors: Cursors): void {
  const checks = new HolderChecks(cursors);
  create(api, new Payouts(deps), checks);
  recipientRoute(api, new PayoutRecipients(deps), checks);
  operationRoutes(api, deps, cursors, {
    operations: payoutList,
    nouns: 'payouts',
    list: { id: 'listPayouts', title: 'List payouts', order: 'Newest first.' },
    get: {
      id: 'getPayout',
      title: 'Read a payout',
      about:
        'Its current state and, in `status_transitions`, every earlier one: its state can be rebuilt from this alone.',
    },
    permission: 'readPayouts',
    change: { id: 'updatePayout', permission: 'createPayout' },
    query: PayoutQuery,
    page: PayoutPageSchema,
    schema: PayoutSchema,
    example: PAYOUT_EXAMPLES.completed,
    filters: {
      status: 'status',
      batch: 'batchId',
      bank_code: 'bankCode',
      account_number_end: 'accountEnd',
    },
    present: payoutResource.present,
  });
  approval(api, deps);
}

function create(api: Api, payouts: Payouts, checks: HolderChecks): void {
  api.post('/v1/payouts', {
    operationId: 'createPayout',
    permits: 'createPayout',
    idempotent: 'tenant',
    body: CreatePayoutBody,
    responses: { 201: PayoutSchema, 202: PayoutSchema, 200: PayoutSchema },
    examples: { 200: PAYOUT_EXAMPLES.toKey, 202: PAYOUT_EXAMPLES.pending },
    refusals: SPENDING_REFUSALS,
    summary: 'Pay out to a bank account or a Bre-B key',
    description:
      "Holds the amount and its fee, and sends the amount to the bank. 201: the payout is `approved`. 202: the amount reaches the threshold of the source's approval policy, so the payout waits for approval. `400 invalid_field` with the reason `not_supported`: no rail pays out to this country, or the rail does not take this kind of destination or amount.",
    handler: async ({ caller, requestId, body: requested, idempotency }) => {
      const destination = destinationOf(requested.destination, caller.tenantId, checks);
      const request = { ...paymentRequest(requested), destination };
      const result = await payouts.create(caller, requestId, request, idempotency);
      return creationResponse(result, payoutResource.present);
    },
  });
}

function destinationOf(
  to: z.output<typeof CreatePayoutBody>['destination'],
  tenantId: Uuid,
  checks: HolderChecks,
): PayoutRequest['destination'] {
  if (to.type === 'bre_b_key') {
    const { type, key, holder_check: text } = to;
    return { type, key, check: text === undefined ? null : checks.read(tenantId, key, text) };
  }
  return {
    type: to.type,
    country: to.country,
    bankCode: to.bank_code,
    accountType: to.account_type,
    accountNumber: to.account_number,
    holderName: to.holder_name,
    holderDocument: to.holder_document,
  };
}

/** Members' actions on a payout before the rail has it. (docs/contract.md, Payouts) */
function approval(api: Api, deps: PayoutDeps): void {
  approvalRoutes(api, new Approvals(payoutApproval, deps), {
    noun: 'payout',
    approve: 'approvePayout',
    reject: 'rejectPayout',
    cancel: 'cancelPayout',
    schema: PayoutSchema,
    examples: PAYOUT_EXAMPLES,
    rejectBody: RejectPayoutBody,
    present: payoutResource.present,
    approvedStatus: 'approved',
    lastCheck: 'the source is checked again (`capability_cannot_send`)',
    expiredStatus: 'canceled',
    canceling:
      'The creator, an admin or an owner of the source can cancel it while it is `pending_approval` or `approved`. Once it is `in_progress`, the money may have left.',
  });
}

const UNSIGNED = "the callback's signature is wrong, or its timestamp differs too much from now";
const MALFORMED = 'the callback is not what docs/payout-rail.md describes';
const REUSED = 'the id was used for another callback';

/** POST /rails/{rail}/callbacks, for gateways. (docs/payout-rail.md) */
export function railCallbackRoute(callbacks: RailCallbacks): InboundRoute {
  return {
    path: '/rails/{rail}/callbacks',
    pattern: /^\/rails\/(?<rail>[a-z0-9-]{1,30})\/callbacks$/,
    receive: async ({ params, ...request }) => {
      switch (await callbacks.receive(httpRail(params.rail ?? ''), request)) {
        case null:
        case 'unknown_payout':
          throw notFound();
        case 'forged':
        case 'late':
          throw new ApiError({ code: 'unauthorized', message: UNSIGNED });
        case 'malformed':
          throw new ApiError({ code: 'invalid_field', message: MALFORMED });
        case 'reused':
          throw new ApiError({ code: 'idempotency_key_reused', message: REUSED });
        default:
          // A report without an effect gets 200 too: sending it again would have no effect either.
          return { status: 200, body: { received: true } };
      }
    },
  };
}
