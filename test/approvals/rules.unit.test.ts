import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type ApprovalActor,
  APPROVAL_ACTIONS,
  type ApprovalAction,
  approverOf,
  authorityRefusal,
  claimedName,
  judgeAction,
  needsApproval,
  type ActorRights,
  stateRefusal,
  type ActionVerdict,
  type WaitingApproval,
} from '../../src/approvals/rules.js';
import { newId } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { type Role, ROLES } from '../../src/core/permissions.js';
import { type Approval } from '../../src/db/entities/approvals.js';
import { type Staff, STAFF_RIGHTS, type StaffRight } from '../../src/db/entities/staff.js';
import { TRANSFER_STATUSES } from '../../src/db/entities/operations.js';
import { UNLOCKED } from '../../src/staff/rules.js';

const OF = {
  resourceType: 'transfer',
  operations: { approve: 'approveTransfer', cancel: 'cancelTransfer' },
} as const;
const CREATOR = newId();
const MEMBER = newId();
const EXPIRES_AT = instant(1_000_000);
const BEFORE = instant(EXPIRES_AT - 1);

const waiting: WaitingApproval = {
  status: 'pending_approval',
  createdBy: CREATOR,
  required: 1,
  received: 0,
  expiresAt: EXPIRES_AT,
};
const member = (memberId = MEMBER): ApprovalActor => ({ by: 'member', memberId });
const byStaff = (name = 'sofia'): ApprovalActor => ({
  by: 'staff',
  staff: { id: newId(), name, kind: 'person', rights: STAFF_RIGHTS, channel: 'ops' },
});
const person = (rights: readonly StaffRight[], active: boolean): Staff => ({
  ...{
    id: newId(),
    name: 'sofia',
    foldedName: 'sofia',
    kind: 'person',
    rights,
    active,
    createdAt: instant(0),
  },
  ...{
    factorKeyId: null,
    factorSecret: null,
    keyHash: null,
    subjectHash: null,
    ...UNLOCKED,
    lastUsedAt: null,
  },
});
const asRole = (role: Role | undefined): ActorRights => ({ role, staff: undefined });
const asStaff = (rights: readonly StaffRight[], active = true): ActorRights => ({
  role: undefined,
  staff: person(rights, active),
});

function approval(acting: ApprovalActor): Approval {
  return {
    id: newId(),
    resourceType: 'transfer',
    resourceId: newId(),
    approver: approverOf(acting),
    memberId: acting.by === 'member' ? acting.memberId : null,
    staffId: null,
    actorClaimed: claimedName(acting),
    channel: 'api',
    createdAt: instant(0),
  };
}

function verdict(
  action: ApprovalAction,
  acting: ApprovalActor,
  standing: ActorRights,
  given: {
    readonly of?: Partial<WaitingApproval>;
    readonly approvals?: readonly Approval[];
    readonly at?: number;
  } = {},
): ActionVerdict {
  const { of, approvals = [], at = BEFORE } = given;
  return judgeAction(
    action,
    acting,
    { ...waiting, ...of },
    { rights: standing, approvals, ...OF, at: instant(at) },
  );
}

const codeOf = (one: ActionVerdict): string =>
  one.outcome === 'refused' ? one.refusal.code : one.outcome;

describe('the verdict', () => {
  it('an operation needs approval from the threshold on, whatever it is; without a policy none does', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        (raw, threshold) => {
          assert.equal(needsApproval({ threshold }, raw), raw >= threshold);
          assert.equal(needsApproval({ threshold }, threshold), true);
          assert.equal(needsApproval({ threshold }, threshold - 1n), false);
          assert.equal(needsApproval(undefined, raw), false);
        },
      ),
    );
  });

  it('the verdict on what is settled is invalid_state with the state it is in and the one in which it could be', () => {
    for (const status of TRANSFER_STATUSES.filter((one) => one !== 'pending_approval')) {
      const found = verdict('cancel', member(CREATOR), asRole('operator'), { of: { status } });
      assert(found.outcome === 'refused');
      assert.deepEqual(found.refusal, stateRefusal(status));
      assert.deepEqual(found.refusal.details, { current: status, allowed: ['pending_approval'] });
    }
  });

  it('the verdict on a reject or a cancel is its end, whatever was approved', () => {
    const approvals = [approval(member())];
    for (const action of ['reject', 'cancel'] as const)
      assert.deepEqual(
        verdict(action, member(), asRole('admin'), { approvals, of: { required: 2, received: 1 } }),
        {
          outcome: 'ended',
        },
      );
  });

  it('the verdict on the same approver again is no change; on support again a refusal, even for another member of staff', () => {
    const of = { required: 3, received: 1 };
    assert.equal(
      verdict('approve', member(), asRole('owner'), { of, approvals: [approval(member())] })
        .outcome,
      'repeated',
    );
    const support = { of, approvals: [approval(byStaff('maria'))] };
    for (const name of ['maria', 'sofia']) {
      const again = verdict('approve', byStaff(name), asStaff(['approve']), support);
      assert(again.outcome === 'refused');
      assert.deepEqual(again.refusal.details, { current: 'pending_approval', allowed: [] });
    }
    assert.equal(verdict('approve', member(), asRole('owner'), support).outcome, 'approved');
  });

  it('the verdict counts each approver once, and the last one that is needed is the last: for any crowd and order', () => {
    const crowd = [
      ...Array.from({ length: 4 }, () => member(newId())),
      byStaff('sofia'),
      byStaff('maria'),
    ];
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.nat({ max: crowd.length - 1 }), { maxLength: 12 }),
        (required, order) => {
          const approvals: Approval[] = [];
          const seen = new Set<string>();
          for (const index of order) {
            const acting = crowd[index]!;
            const standing = acting.by === 'member' ? asRole('approver') : asStaff(['approve']);
            const of = { required, received: approvals.length };
            const found = verdict('approve', acting, standing, { of, approvals });
            if (seen.has(approverOf(acting))) {
              assert.equal(found.outcome, acting.by === 'staff' ? 'refused' : 'repeated');
              continue;
            }
            seen.add(approverOf(acting));
            const received = seen.size;
            assert.deepEqual(found, {
              outcome: 'approved',
              received,
              isLast: received === required,
            });
            approvals.push(approval(acting));
            if (received === required) return;
          }
          assert(seen.size < required);
        },
      ),
    );
  });

  it('the verdict is 403, then 409, then too late, then what it does: whatever else is true', () => {
    const roles = fc.constantFrom(...ROLES, undefined);
    const statuses = fc.constantFrom(...TRANSFER_STATUSES);
    const times = fc.integer({ min: EXPIRES_AT - 2, max: EXPIRES_AT + 2 });
    fc.assert(
      fc.property(
        fc.constantFrom(...APPROVAL_ACTIONS),
        fc.boolean(),
        roles,
        statuses,
        times,
        (action, own, role, status, at) => {
          const acting = member(own ? CREATOR : MEMBER);
          const standing = asRole(role);
          const found = codeOf(verdict(action, acting, standing, { of: { status }, at }));
          if (authorityRefusal(action, acting, standing, waiting, OF) !== null)
            assert.equal(found, 'authority_insufficient');
          else if (status !== 'pending_approval') assert.equal(found, 'invalid_state');
          else if (at >= EXPIRES_AT) assert.equal(found, 'expired');
          else assert.equal(found, action === 'approve' ? 'approved' : 'ended');
        },
      ),
    );
  });
});
