import { type Actor, type Act, memberActor, recordAct } from '../access/audit-log.js';
import { type Asset, ASSETS, MAX_RAW } from '../core/amount.js';
import { ApiError, invalidField, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { type ApprovalPolicy, approvalPolicies } from '../db/entities/approvals.js';
import type { Account } from '../db/entities/parties.js';
import { literal, upsertSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { assertAccountAllowed, lockManagedAccount, lockOpenAccount } from '../accounts/access.js';

/**
 * From which amount on an account's operations need approvals. The account's row is the lock: no posting decides by what a
 * policy was before. What is pending keeps what it was created with. (docs/contract.md, Approval policies)
 */

export const MOST_APPROVALS = 3;
export const SHORTEST_EXPIRY_S = 60;
export const LONGEST_EXPIRY_S = 2_592_000;
export const DEFAULT_EXPIRY_S = 604_800;

export type PolicyChange = ApprovalPolicy;

/** What the API does with policies. Every method throws not_found or authority_insufficient where the caller has no right. */
export class ApprovalPolicies {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Throws not_found where there is none, too. */
  async read(caller: Caller, accountId: Uuid, asset: Asset): Promise<ApprovalPolicy> {
    await assertAccountAllowed(this.database.reader, 'readLimits', caller, accountId);
    return readPolicy(this.database.reader, accountId, asset);
  }

  /** Throws invalid_state (closed) too. */
  set(caller: Caller, change: PolicyChange): Promise<ApprovalPolicy> {
    return transact(this.database, async (transaction) => {
      const account = await lockManagedAccount(transaction, caller, change.accountId);
      return store(transaction, account, change, memberActor(caller), this.clock);
    });
  }

  /** Throws not_found where there is none, and invalid_state (closed), too. */
  remove(caller: Caller, accountId: Uuid, asset: Asset): Promise<void> {
    return transact(this.database, async (transaction) => {
      const account = await lockManagedAccount(transaction, caller, accountId);
      if (!(await take(transaction, account, asset, memberActor(caller), this.clock))) throw notFound();
    });
  }
}

/** For operators. Throws ApiError not_found, invalid_state (closed), invalid_field. */
export function setPolicy(
  database: Database,
  clock: Clock,
  change: PolicyChange,
  actor: Actor,
): Promise<ApprovalPolicy> {
  assertRanges(change);
  return transact(database, async (transaction) =>
    store(transaction, await lockOpenAccount(transaction, change.accountId), change, actor, clock),
  );
}

/** For operators. False when there was none. Throws ApiError not_found, invalid_state (closed). */
export function removePolicy(
  database: Database,
  clock: Clock,
  accountId: Uuid,
  asset: Asset,
  actor: Actor,
): Promise<boolean> {
  return transact(database, async (transaction) =>
    take(transaction, await lockOpenAccount(transaction, accountId), asset, actor, clock),
  );
}

/** An account's policies, one for each asset at most. */
export function listPolicies(reader: Reader, accountId: Uuid): Promise<readonly ApprovalPolicy[]> {
  return reader.select(approvalPolicies, { accountId, asset: ASSETS }, { orderBy: ['asset'] });
}

async function readPolicy(reader: Reader, accountId: Uuid, asset: Asset): Promise<ApprovalPolicy> {
  const policy = await reader.find(approvalPolicies, { accountId, asset });
  if (policy === undefined) throw notFound();
  return policy;
}

function assertRanges({ threshold, approvals, expiresInS }: PolicyChange): void {
  const within = (value: number, least: number, most: number): boolean => value >= least && value <= most;
  if (threshold < 0n || threshold > MAX_RAW) throw new ApiError(invalidField('threshold', 'out_of_range'));
  if (!within(approvals, 1, MOST_APPROVALS)) throw new ApiError(invalidField('approvals', 'out_of_range'));
  if (!within(expiresInS, SHORTEST_EXPIRY_S, LONGEST_EXPIRY_S))
    throw new ApiError(invalidField('expires_in_s', 'out_of_range'));
}

async function store(
  transaction: Transaction,
  account: Account,
  policy: PolicyChange,
  actor: Actor,
  clock: Clock,
): Promise<ApprovalPolicy> {
  await transaction.execute(upsertSql(approvalPolicies, [policy], ['threshold', 'approvals', 'expiresInS']));
  const { asset, threshold, approvals, expiresInS } = policy;
  const details = { asset, threshold: threshold.toString(), approvals, expires_in_s: expiresInS };
  await recordAct(transaction, actor, clock(), { ...actOn(account), action: 'approval_policy.set', details });
  return policy;
}

async function take(
  transaction: Transaction,
  account: Account,
  asset: Asset,
  actor: Actor,
  clock: Clock,
): Promise<boolean> {
  const removed = await transaction.execute(
    `DELETE FROM approval_policies WHERE account_id=${literal(approvalPolicies, 'accountId', account.id)}
     AND asset=${literal(approvalPolicies, 'asset', asset)}`,
  );
  if (removed === 0) return false;
  await recordAct(transaction, actor, clock(), {
    ...actOn(account),
    action: 'approval_policy.remove',
    details: { asset },
  });
  return true;
}

function actOn({ tenantId, id }: Account): Pick<Act, 'tenantId' | 'subjectType' | 'subjectId'> {
  return { tenantId, subjectType: 'account', subjectId: id };
}
