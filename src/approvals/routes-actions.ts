import type { Operation } from '../core/permissions.js';
import { answerOf, type Api, keyedPathId, pathId } from '../http/route.js';
import type { z } from '../http/zod.js';
import type { Approvable } from './decide.js';
import type { Approvals } from './service.js';

interface ApprovalRoutes<Row extends Approvable> {
  readonly noun: 'transfer' | 'payout';
  readonly approve: Operation;
  readonly reject: string;
  readonly cancel: Operation;
  readonly schema: z.ZodType;
  readonly examples: Readonly<Record<'approved' | 'rejected' | 'canceled', unknown>>;
  readonly rejectBody: z.ZodType<{ readonly reason: string }>;
  readonly present: (row: Row) => unknown;
  readonly approvedStatus: string;
  readonly expiredStatus: string;
  /** A sentence about who may cancel the resource, and when. */
  readonly canceling: string;
}

/** Registers approve, reject and cancel by members. (docs/contract.md, Approval) */
export function approvalRoutes<Row extends Approvable>(
  api: Api,
  approvals: Approvals<Row>,
  {
    noun,
    schema,
    examples,
    present,
    approvedStatus,
    expiredStatus,
    ...feature
  }: ApprovalRoutes<Row>,
): void {
  const path = `/v1/${noun}s/{id}` as const;
  const ends = `Returns the ${noun} in its new state. If it has expired by then, it ends as \`${expiredStatus}\` and the response is 409.`;
  const shown = (row: Row) => ({ status: 200, body: present(row) });

  api.post(`${path}/approve`, {
    operationId: feature.approve,
    permits: feature.approve,
    idempotent: 'member',
    answers: { 200: schema },
    examples: { 200: examples.approved },
    refusals: ['invalid_state'],
    summary: `Approve a ${noun}`,
    description: `The creator cannot approve it. At the last approval needed, the source is checked again: the ${noun} becomes \`${approvedStatus}\`, or \`rejected\` with the code of the rule that refused it. A second approval by the same member changes nothing. ${ends}`,
    handler: async (request) =>
      answerOf(
        await approvals.approve(request.caller, keyedPathId(request, 'id'), request.idempotency),
        shown,
      ),
  });

  api.post(`${path}/reject`, {
    operationId: feature.reject,
    permits: feature.approve,
    body: feature.rejectBody,
    answers: { 200: schema },
    examples: { 200: examples.rejected },
    refusals: ['invalid_state'],
    summary: `Reject a ${noun}`,
    description: `The creator cannot reject it, but can cancel it. ${ends}`,
    handler: async (request) =>
      answerOf(
        await approvals.end(request.caller, pathId(request, 'id'), 'reject', request.body.reason),
        shown,
      ),
  });

  api.post(`${path}/cancel`, {
    operationId: feature.cancel,
    permits: feature.cancel,
    answers: { 200: schema },
    examples: { 200: examples.canceled },
    refusals: ['invalid_state'],
    summary: `Cancel a ${noun}`,
    description: `${feature.canceling} ${ends}`,
    handler: async (request) =>
      answerOf(await approvals.end(request.caller, pathId(request, 'id'), 'cancel', null), shown),
  });
}
