import { type Asset, ASSETS } from '../core/amount.js';
import { notFound } from '../core/errors.js';
import { toRfc3339 } from '../core/instant.js';
import { responseTo, type Api, keyedPathId, pathId } from '../http/route.js';
import {
  type AccountPolicy,
  DEFAULT_EXPIRY_S,
  readPolicy,
  removePolicy,
  setPolicy,
} from './policies.js';
import { batchRule, type PendingPolicy, policyDetails } from './policy-rules.js';
import { PolicyBody, PolicySchema } from './schemas.js';
import type { Operation } from '../core/permissions.js';
import type { z } from '../http/zod.js';
import type { Approvable } from './decide.js';
import type { Approvals } from './service.js';

type PolicyDeps = Parameters<typeof readPolicy>[0];

const PATH = '/v1/accounts/{account_id}/approval_policies/{asset}';

export function approvalPolicyRoutes(api: Api, deps: PolicyDeps): void {
  const { database, clock } = deps;
  setPolicyRoute(api, deps);
  api.get(PATH, {
    operationId: 'getApprovalPolicy',
    permits: 'readLimits',
    responses: { 200: PolicySchema },
    refusals: ['not_found', 'authority_insufficient'],
    summary: 'Read an approval policy',
    description: 'The policy of one account and asset. 404 if it has none.',
    handler: async (request) => {
      const policy = await readPolicy(
        deps,
        request.caller,
        pathId(request, 'account_id'),
        pathAsset(request),
      );
      return { status: 200, body: presentPolicy(policy) };
    },
  });

  api.delete(PATH, {
    operationId: 'deleteApprovalPolicy',
    permits: 'manageAccount',
    responses: { 204: null },
    refusals: ['not_found', 'authority_insufficient', 'invalid_state'],
    summary: 'Remove an approval policy',
    description:
      "New operations then need no approval, at once or after the tenant's delay, in which case GET shows when. Pending ones keep waiting.",
    handler: async (request) => {
      const accountId = pathId(request, 'account_id');
      const removed = await removePolicy(
        database,
        clock,
        accountId,
        pathAsset(request),
        request.caller,
      );
      if (removed === null) throw notFound();
      return { status: 204 };
    },
  });
}

function setPolicyRoute(api: Api, { database, clock }: PolicyDeps): void {
  api.put(PATH, {
    operationId: 'setApprovalPolicy',
    permits: 'manageAccount',
    body: PolicyBody,
    responses: { 200: PolicySchema },
    refusals: ['not_found', 'authority_insufficient', 'invalid_state'],
    summary: 'Set an approval policy',
    description:
      'Amounts of `threshold` or more in this asset then need approvals to leave the account. Pending operations keep the policy they were created under. A batch whose total reaches the threshold, even of one row, does not wait for `approvals`: one member other than its uploader executes it. With `refuses_batches` such a batch is rejected when it is validated. If the tenant has a delay, whatever weakens the policy (a higher threshold, fewer approvals, a longer time, batches no longer refused) waits for it and is shown in `pending`; whatever makes it stricter takes effect at once. Setting the policy in force withdraws a pending change.',
    handler: async (request) => {
      const {
        threshold,
        approvals,
        expires_in_s: expiresInS = DEFAULT_EXPIRY_S,
        refuses_batches: refusesBatches = false,
      } = request.body;
      const accountId = pathId(request, 'account_id');
      const change = {
        accountId,
        asset: pathAsset(request),
        threshold,
        approvals,
        expiresInS,
        refusesBatches,
      };
      return {
        status: 200,
        body: presentPolicy(await setPolicy(database, clock, change, request.caller)),
      };
    },
  });
}

function pathAsset({ params }: { readonly params: Readonly<Record<'asset', string>> }): Asset {
  const asset = ASSETS.find((known) => known === params.asset);
  if (asset === undefined) throw notFound();
  return asset;
}

function presentPolicy(policy: AccountPolicy): Readonly<Record<string, unknown>> {
  const { accountId, asset, pending } = policy;
  return {
    account_id: accountId,
    asset,
    ...policyDetails(policy),
    batch_rule: batchRule(policy),
    pending: pending === null ? null : presentPending(pending),
  };
}

function presentPending({ policy, effectiveAt }: PendingPolicy): Readonly<Record<string, unknown>> {
  return {
    policy: policy === null ? null : policyDetails(policy),
    effective_at: toRfc3339(effectiveAt),
  };
}

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
  /** A clause that names what the last approval checks again, with the codes. */
  readonly lastCheck: string;
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
    ...routes
  }: ApprovalRoutes<Row>,
): void {
  const path = `/v1/${noun}s/{id}` as const;
  const returns = `Returns the ${noun} in its new state. If it has expired by then, it ends as \`${expiredStatus}\` and the response is 409.`;
  const respond = (row: Row) => ({ status: 200, body: present(row) });

  api.post(`${path}/approve`, {
    operationId: routes.approve,
    permits: routes.approve,
    idempotent: 'member',
    responses: { 200: schema },
    examples: { 200: examples.approved },
    refusals: ['invalid_state'],
    summary: `Approve a ${noun}`,
    description: `The creator cannot approve it. At the last approval needed, ${routes.lastCheck}: the ${noun} becomes \`${approvedStatus}\`, or \`rejected\` with the code of the rule that refused it. A second approval by the same member changes nothing. ${returns}`,
    handler: async (request) =>
      responseTo(
        await approvals.approve(request.caller, keyedPathId(request, 'id'), request.idempotency),
        respond,
      ),
  });

  api.post(`${path}/reject`, {
    operationId: routes.reject,
    permits: routes.approve,
    body: routes.rejectBody,
    responses: { 200: schema },
    examples: { 200: examples.rejected },
    refusals: ['invalid_state'],
    summary: `Reject a ${noun}`,
    description: `The creator cannot reject it, but can cancel it. ${returns}`,
    handler: async (request) =>
      responseTo(
        await approvals.end(request.caller, pathId(request, 'id'), 'reject', request.body.reason),
        respond,
      ),
  });

  api.post(`${path}/cancel`, {
    operationId: routes.cancel,
    permits: routes.cancel,
    responses: { 200: schema },
    examples: { 200: examples.canceled },
    refusals: ['invalid_state'],
    summary: `Cancel a ${noun}`,
    description: `${routes.canceling} ${returns}`,
    handler: async (request) =>
      responseTo(
        await approvals.end(request.caller, pathId(request, 'id'), 'cancel', null),
        respond,
      ),
  });
}
