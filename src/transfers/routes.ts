import { answerOf } from '../http/answer.js';
import type { Api } from '../http/api.js';
import { answerPage, type Cursors } from '../http/cursor.js';
import { operationFilter } from '../http/operation-query.js';
import {
  answers,
  body,
  idempotent,
  idempotentPerMember,
  named,
  pathId,
  permits,
  query,
  refuses,
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
  const ends = 'Answers the transfer in its new state. One whose time is over is settled as expired, and answers 409.';
  api.post(
    '/v1/transfers/{id}/approve',
    named('approveTransfer'),
    permits('approveTransfer'),
    idempotentPerMember,
    answers({ 200: TransferSchema }),
    shows({ 200: TRANSFER_EXAMPLES.approved }),
    refuses('not_found', 'authority_insufficient', 'invalid_state'),
    summary(
      'Approve a transfer',
      `Never by whoever created it. With the last approval it needs, the source is checked once more: the transfer is \`completed\`, or \`rejected\` with the code of the rule that stood against it. A second approval by the same member changes nothing. ${ends}`,
    ),
    async (request) => {
      const answer = await approvals.approve(request.caller, pathId(request, 'id'), request.idempotency);
      return answerOf(answer, (transfer) => ({ status: 200, body: presentTransfer(transfer) }));
    },
  );

  api.post(
    '/v1/transfers/{id}/reject',
    named('rejectTransfer'),
    permits('approveTransfer'),
    body(RejectBody),
    answers({ 200: TransferSchema }),
    shows({ 200: TRANSFER_EXAMPLES.rejected }),
    refuses('not_found', 'authority_insufficient', 'invalid_state', 'ledger_unavailable'),
    summary('Reject a transfer', `Never by whoever created it, who cancels it instead. ${ends}`),
    async (request) => {
      const answer = await approvals.end(request.caller, pathId(request, 'id'), 'reject', request.body.reason);
      return answerOf(answer, (transfer) => ({ status: 200, body: presentTransfer(transfer) }));
    },
  );

  api.post(
    '/v1/transfers/{id}/cancel',
    named('cancelTransfer'),
    permits('cancelTransfer'),
    answers({ 200: TransferSchema }),
    shows({ 200: TRANSFER_EXAMPLES.canceled }),
    refuses('not_found', 'authority_insufficient', 'invalid_state', 'ledger_unavailable'),
    summary('Cancel a transfer', `By whoever created it, or an admin or owner of the source. ${ends}`),
    async (request) => {
      const answer = await approvals.end(request.caller, pathId(request, 'id'), 'cancel', null);
      return answerOf(answer, (transfer) => ({ status: 200, body: presentTransfer(transfer) }));
    },
  );
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
    refuses(
      'not_found',
      'authority_insufficient',
      'capability_cannot_send',
      'below_minimum',
      'above_per_operation_limit',
      'monthly_limit_exceeded',
      'insufficient_funds',
    ),
    summary(
      'Send a transfer',
      "Moves money from one of your accounts to an account of your tenant or of your network. 202: the amount reaches the threshold of the source's approval policy, so it is held until other members approve.",
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
      'Newest first. With `idempotency_key`, what that key made; an empty list is no proof that it will not appear yet.',
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
    refuses('not_found', 'authority_insufficient'),
    summary('Read a transfer'),
    async (request) => {
      const transfer = await transfers.read(request.caller, pathId(request, 'id'));
      return { status: 200, body: presentTransfer(transfer) };
    },
  );
}
