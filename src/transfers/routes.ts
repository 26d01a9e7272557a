import { operationRoutes } from '../operations/routes.js';
import { approvalRoutes } from '../approvals/routes.js';
import { type ApprovalDeps, Approvals } from '../approvals/service.js';
import { responseTo, type Api, SPENDING_REFUSALS } from '../http/route.js';
import type { Cursors } from '../http/cursor.js';
import { transferApproval } from './approval-outcomes.js';
import {
  CreateTransferBody,
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
  createTransferRoute(api, new Transfers(deps));
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
    filter: (query) => ({
      status: query.status,
      destination: { destinationAccountId: query.destination_account },
    }),
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
    expiredStatus: 'expired',
    canceling: 'The creator, an admin or an owner of the source can cancel it.',
  });
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
      "Moves money from one of your accounts to an account of your tenant or of your network. If the amount reaches the threshold of the source's approval policy, the response is 202, and the amount is held until other members approve the transfer.",
    handler: async ({ caller, requestId, body: input, idempotency }) => {
      const result = await transfers.create(caller, requestId, transferRequest(input), idempotency);
      return responseTo(result, (transfer, replayed) => ({
        status: replayed ? 200 : transfer.status === 'completed' ? 201 : 202,
        body: transferResource.present(transfer),
      }));
    },
  });
}
