import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import { type Approval, approvals } from '../../db/entities/approvals.js';
import { type Hold, holds } from '../../db/entities/ledger.js';
import { accounts } from '../../db/entities/parties.js';
import { type AuditRun, readOwners } from '../scan.js';
import type { Expectation, OperationSource } from '../operation-source.js';

const SUPPORT = 'support';

/** Compares operations with their accounts, fee, hold, approvals and people. */
export async function checkOperations(
  audit: AuditRun,
  reader: Reader,
  { resourceType }: OperationSource,
  operations: readonly Expectation[],
): Promise<void> {
  const ids = operations.map((operation) => operation.id);
  const accountIds = operations.flatMap((operation) => operation.accounts);
  const owners = await readOwners(reader, accounts, accountIds);
  const held = await reader.select(holds, { resourceId: ids });
  const holdOf = new Map(held.map((hold) => [hold.resourceId, hold]));
  const approved = await reader.select(approvals, { resourceId: ids });
  const approvalsOf = groupBy(approved, (approval) => approval.resourceId);
  for (const operation of operations) {
    const { id, fee, people } = operation;
    const subject = `${resourceType} ${id}`;
    const isFeeWrong = (fee.raw === 0n) !== (fee.accountId === null);
    const isAlone =
      people !== null && people.decided !== null && people.decided === people.proposed;
    audit.reportAll(subject, {
      operation_fee: isFeeWrong && `its fee is ${fee.raw}, for ${fee.accountId ?? 'no account'}`,
      operation_people: isAlone && 'one person proposed and decided it',
    });
    for (const accountId of operation.accounts)
      checkAccount(audit, subject, operation, accountId, owners.get(accountId));
    checkHold(audit, subject, operation, holdOf.get(id));
    checkApprovals(audit, subject, operation, approvalsOf.get(id) ?? []);
  }
}

function checkAccount(
  audit: AuditRun,
  subject: string,
  { owned, tenantId }: Expectation,
  accountId: Uuid,
  owner: Uuid | undefined,
): void {
  const isForeign = owner !== undefined && owner !== tenantId && owned.includes(accountId);
  const wrong = `it names account ${accountId}, which`;
  audit.report(
    'operation_account',
    subject,
    owner === undefined && `${wrong} does not exist`,
    isForeign && `${wrong} is another tenant's`,
  );
}

function checkApprovals(
  audit: AuditRun,
  subject: string,
  { approval, state }: Expectation,
  found: readonly Approval[],
): void {
  const { received, required, isApproved, isWaiting, createdBy } = approval ?? NO_APPROVAL;
  // The last approval completes or ends the operation, so none is pending with all its approvals.
  const isImpossible =
    received > required ||
    (isApproved && received < required) ||
    (isWaiting && received >= required);
  const isOwn = found.some(({ memberId, staffId }) => (memberId ?? staffId) === createdBy);
  // A unique key on `approver` prevents two approvals by one person, so it must name the member.
  const isMisnamed = found.some(
    ({ memberId, approver }) => approver !== (memberId === null ? SUPPORT : `member:${memberId}`),
  );
  audit.report(
    'operation_approval',
    subject,
    found.length !== received &&
      `${received} approval(s) are counted, but ${found.length} are there`,
    approval !== null &&
      isImpossible &&
      `it is ${state} with ${received} of ${required} approval(s)`,
    approval !== null && isOwn && 'it was approved by its creator',
    approval !== null && isMisnamed && "an approval counts as another member's",
  );
}

const NO_APPROVAL = {
  received: 0,
  required: 0,
  isApproved: false,
  isWaiting: false,
  createdBy: null,
};

function checkHold(
  audit: AuditRun,
  subject: string,
  { hold, state }: Expectation,
  found: Hold | undefined,
): void {
  const [remaining, expected] = [found?.remaining ?? 0n, hold?.remaining ?? 0n];
  const differs =
    hold !== null &&
    found !== undefined &&
    !(found.accountId === hold.accountId && found.asset === hold.asset && found.raw === hold.raw);
  const message =
    remaining !== expected
      ? `it is ${state}, so ${expected} are held, but its hold has ${remaining}`
      : differs
        ? 'its hold is of another account, asset or amount'
        : (found?.expiresAt ?? null) !== (hold?.expiresAt ?? null) &&
          'its hold expires at another time';
  audit.report('operation_hold', subject, message);
}
