import { type Asset, ASSETS } from '../core/amount.js';
import { notFound } from '../core/errors.js';
import type { Api } from '../http/api.js';
import { answers, body, named, pathId, permits, refuses, summary } from '../http/route.js';
import { type ApprovalPolicies, DEFAULT_EXPIRY_S } from './policies.js';
import { presentPolicy } from './presenter.js';
import { PolicyBody, PolicySchema } from './schemas.js';

const PATH = '/v1/accounts/{account_id}/approval_policies/{asset}';

/** (docs/contract.md, Approval policies) */
export function approvalPolicyRoutes(api: Api, policies: ApprovalPolicies): void {
  api.get(
    PATH,
    named('getApprovalPolicy'),
    permits('readLimits'),
    answers({ 200: PolicySchema }),
    refuses('not_found', 'authority_insufficient'),
    summary('Read an approval policy', 'Of an account and asset. 404 where nothing of it needs approval.'),
    async (request) => {
      const policy = await policies.read(request.caller, pathId(request, 'account_id'), pathAsset(request));
      return { status: 200, body: presentPolicy(policy) };
    },
  );

  api.put(
    PATH,
    named('setApprovalPolicy'),
    permits('manageAccount'),
    body(PolicyBody),
    answers({ 200: PolicySchema }),
    refuses('not_found', 'authority_insufficient', 'invalid_state'),
    summary(
      'Set an approval policy',
      'From `threshold` on, what leaves the account in this asset waits for approvals. What is pending keeps what it was created with. Where the tenant has a delay, what this lowers comes later and is shown in `pending`: a higher threshold, fewer approvals, a longer time. What is stricter counts at once. Setting what is in force withdraws what was to come.',
    ),
    async (request) => {
      const { threshold, approvals, expires_in_s: expiresInS = DEFAULT_EXPIRY_S } = request.body;
      const accountId = pathId(request, 'account_id');
      const change = { accountId, asset: pathAsset(request), threshold, approvals, expiresInS };
      return { status: 200, body: presentPolicy(await policies.set(request.caller, change)) };
    },
  );

  api.delete(
    PATH,
    named('deleteApprovalPolicy'),
    permits('manageAccount'),
    answers({ 204: null }),
    refuses('not_found', 'authority_insufficient', 'invalid_state'),
    summary(
      'Remove an approval policy',
      'Nothing new needs approval, at once or after the delay of the tenant: GET then shows when. What is pending goes on waiting.',
    ),
    async (request) => {
      await policies.remove(request.caller, pathId(request, 'account_id'), pathAsset(request));
      return { status: 204 };
    },
  );
}

/** Throws the usual `not_found` if there is no such asset. */
function pathAsset({ params }: { readonly params: Readonly<Record<'asset', string>> }): Asset {
  const asset = ASSETS.find((known) => known === params.asset);
  if (asset === undefined) throw notFound();
  return asset;
}
