import { operationRoutes } from '../operations/routes.js';
import { approvalRoutes } from '../approvals/routes.js';
import { type ApprovalDeps, Approvals } from '../approvals/service.js';
import {
  type Api,
  creationResponse,
  keyedPathId,
  responseTo,
  SPENDING_REFUSALS,
} from '../http/route.js';
import type { Cursors } from '../http/cursor.js';
import { transferApproval } from './approval-outcomes.js';
import {
  CaptureBody,
  CreateTransferBody,
  RefundBody,
  refundExamples,
  refundRequest,
  RejectBody,
  TRANSFER_EXAMPLES,
  TransferPageSchema,
  TransferQuery,
  transferRequest,
  transferResource,
  TransferSchema,
} from './schemas.js';
import { transferList, Transfers } from './service.js';

export function transferRoutes(api: Api, deps: ApprovalDeps, cursors: Cursors): void {
  const transfers = new Transfers(deps);
  createTransferRoute(api, transfers);
  operationRoutes(api, deps, cursors, {
    operations: transferList,
    nouns: 'transfers',
    list: { id: 'listTransfers', title: 'List transfers', order: 'Newest first.' },
    get: { id: 'getTransfer', title: 'Read a transfer' },
    permission: 'readTransfers',
    change: { id: 'updateTransfer', permission: 'createTransfer' },
    query: TransferQuery,
    page: TransferPageSchema,
    schema: TransferSchema,
    filters: {
      status: 'status',
      destination_account: 'destinationAccountId',
      schedule: 'scheduleId',
      refund_of: 'refundOfId',
    },
    present: transferResource.present,
  });
  approvalRoutes(api, new Approvals(transferApproval, deps), {
    noun: 'transfer',
    approve: 'approveTransfer',
    reject: 'rejectTransfer',
    cancel: 'cancelTransfer',
    schema: TransferSchema,
    examples: TRANSFER_EXAMPLES,
    rejectBody: RejectBody,
    present: transferResource.present,
    approvedStatus: 'completed',
    lastCheck:
      'the source (`capability_cannot_send`) and the destination (`not_found`, `invalid_field`) are checked again',
    expiredStatus: 'expired',
    canceling:
      'The creator, an admin or an owner of the source can cancel it while it is `pending_approval` or `held`.',
  });
  captureRoute(api, transfers);
  refundRoute(api, transfers, 'transfer');
  refundRoute(api, transfers, 'bonus');
}

function createTransferRoute(api: Api, transfers: Transfers): void {
  api.post('/v1/transfers', {
    operationId: 'createTransfer',
    permits: 'createTransfer',
    idempotent: 'tenant',
    body: CreateTransferBody,
    responses: { 201: TransferSchema, 202: TransferSchema, 200: TransferSchema },
    examples: { 202: TRANSFER_EXAMPLES.pending },
    refusals: SPENDING_REFUSALS,
    summary: 'Send a transfer',
    description:
      "Moves money from one of your accounts to an account of your tenant or of your network. If the amount reaches the threshold of the source's approval policy, the response is 202, and the amount is held until other members approve the transfer. With `capture: manual`, amount and fee are held, and the transfer is `held` until it is captured, canceled or expires.",
    handler: async ({ caller, requestId, body: input, idempotency }) => {
      const request = transferRequest(input);
      const result = await transfers.create(caller, requestId, request, idempotency);
      return creationResponse(result, transferResource.present);
    },
  });
}

function captureRoute(api: Api, transfers: Transfers): void {
  api.post('/v1/transfers/{id}/capture', {
    operationId: 'captureTransfer',
    permits: 'createTransfer',
    idempotent: 'tenant',
    body: CaptureBody,
    responses: { 200: TransferSchema },
    examples: { 200: TRANSFER_EXAMPLES.captured },
    refusals: [
      'invalid_state',
      'below_minimum',
      'capture_exceeds_amount',
      'capability_cannot_send',
    ],
    summary: 'Capture a transfer',
    description:
      'Moves a held transfer, or the part of it that `amount` names, and releases the rest of the hold. To capture everything, send the body `{}`. The fee is that of the captured amount, at most the held fee. If the source may not send or the destination cannot be paid, the transfer stays `held`. If it has expired, it ends as `expired` and the response is 409.',
    handler: async (request) => {
      const { caller, body, idempotency } = request;
      const id = keyedPathId(request, 'id');
      return responseTo(
        await transfers.capture(caller, id, body.amount ?? null, idempotency),
        (transfer) => ({ status: 200, body: transferResource.present(transfer) }),
      );
    },
  });
}

const REFUND_ROUTES = {
  transfer: { path: '/v1/transfers/{id}/refunds', operationId: 'refundTransfer' },
  bonus: { path: '/v1/bonuses/{id}/refunds', operationId: 'refundBonus' },
} as const;

function refundRoute(api: Api, transfers: Transfers, type: keyof typeof REFUND_ROUTES): void {
  const { path, operationId } = REFUND_ROUTES[type];
  api.post(path, {
    operationId,
    permits: 'createTransfer',
    idempotent: 'tenant',
    body: RefundBody,
    responses: { 201: TransferSchema, 202: TransferSchema, 200: TransferSchema },
    examples: refundExamples(type),
    refusals: [
      ...(['not_found', 'invalid_state', 'not_refundable', 'below_minimum'] as const),
      ...(['refund_exceeds_amount', 'capability_cannot_send', 'insufficient_funds'] as const),
    ],
    summary: `Refund a ${type}`,
    description: `Sends back all or a part of a ${type} that one of your accounts received, to the account that paid it. To refund all that is left, send the body \`{}\`. The fee stays with its receiver, a refund costs none, and no limit applies. If the amount reaches the threshold of the receiving account's approval policy, the response is 202, and the refund waits like any other transfer. Needs the role operator, admin or owner in the account that received the money.`,
    handler: async (request) => {
      const { caller, requestId, body, idempotency } = request;
      const original = { type, id: keyedPathId(request, 'id') };
      const wanted = refundRequest(body);
      const result = await transfers.refund(caller, original, requestId, wanted, idempotency);
      return creationResponse(result, transferResource.present);
    },
  });
}
