import { approvalRoutes } from '../approvals/routes-acts.js';
import { answerOf } from '../http/answer.js';
import type { Api } from '../http/api.js';
import { answerPage, type Cursors } from '../http/cursor.js';
import { operationFilter } from '../http/operation-query.js';
import {
  answers,
  body,
  idempotent,
  named,
  pathId,
  permits,
  query,
  refusesSpending,
  shows,
  summary,
} from '../http/route.js';
import type { TransferApprovals } from './approvals.js';
import { presentTransfer } from './presenter.js';
import {
  CreateTransferBody,
  RejectBody,
  TRANSFER_EXAMPLES,
  TransferPageSchema,
  TransferQuery,
  TransferSchema,
} from './schemas.js';
import type { Transfers } from './service.js';

export function transferRoutes(api: Api, transfers: Transfers, cursors: Cursors): void {
  create(api, transfers);
  listAndRead(api, transfers, cursors);
}

/** What members do with a transfer that waits for approval. (docs/contract.md, Approval) */
export function transferApprovalRoutes(api: Api, approvals: TransferApprovals): void {
  approvalRoutes(api, approvals, {
    noun: 'transfer',
    approve: 'approveTransfer',
    reject: 'rejectTransfer',
    cancel: 'cancelTransfer',
    schema: TransferSchema,
    examples: TRANSFER_EXAMPLES,
    rejectBody: RejectBody,
    present: presentTransfer,
    approvedStatus: 'completed',
    expiredStatus: 'expired',
    canceling: 'By its creator, or an admin or owner of the source.',
  });
}

function create(api: Api, transfers: Transfers): void {
  api.post(
    '/v1/transfers',
    named('createTransfer'),
    permits('createTransfer'),
    idempotent,
    body(CreateTransferBody),
    answers({ 201: TransferSchema, 202: TransferSchema, 200: TransferSchema }),
    shows({ 202: TRANSFER_EXAMPLES.pending }),
    refusesSpending,
    summary(
      'Send a transfer',
      "Moves money from one of your accounts to an account of your tenant or of your network. 202: the amount reaches the threshold of the source's approval policy, so it is held until other members approve it.",
    ),
    async ({ caller, requestId, body: wanted, idempotency }) => {
      const request = {
        sourceAccountId: wanted.source_account,
        destinationAccountId: wanted.destination.account_id,
        amount: wanted.amount,
        description: wanted.description ?? null,
      };
      const answer = await transfers.create(caller, requestId, request, idempotency);
      return answerOf(answer, (transfer, replayed) => ({
        status: replayed ? 200 : transfer.status === 'completed' ? 201 : 202,
        body: presentTransfer(transfer),
      }));
    },
  );
}

function listAndRead(api: Api, transfers: Transfers, cursors: Cursors): void {
  api.get(
    '/v1/transfers',
    named('listTransfers'),
    permits('readTransfers'),
    query(TransferQuery),
    answers({ 200: TransferPageSchema }),
    summary(
      'List transfers',
      'Newest first. With `idempotency_key`, what that key created; an empty list does not rule out that it appears later.',
    ),
    (request) => {
      const { caller, query: wanted } = request;
      const filter = {
        ...operationFilter(wanted),
        status: wanted.status,
        destination: { destinationAccountId: wanted.destination_account },
      };
      return answerPage(
        cursors,
        request,
        (before, limit) => transfers.list(caller, filter, before, limit),
        presentTransfer,
      );
    },
  );

  api.get(
    '/v1/transfers/{id}',
    named('getTransfer'),
    permits('readTransfers'),
    answers({ 200: TransferSchema }),
    summary('Read a transfer'),
    async (request) => {
      const transfer = await transfers.read(request.caller, pathId(request, 'id'));
      return { status: 200, body: presentTransfer(transfer) };
    },
  );
}
