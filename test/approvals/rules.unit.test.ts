import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type ApprovalActor,
  APPROVAL_ACTIONS,
  type ApprovalAction,
  approverOf,
  authorityRefusal,
  claimedName,
  isExpired,
  judgeAction,
  malformedRefusal,
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

describe('who may act on what waits for approval', () => {
  const refused = (action: ApprovalAction, acting: ApprovalActor, standing: ActorRights): boolean =>
    authorityRefusal(action, acting, standing, waiting, OF)?.code === 'authority_insufficient';

  // The table of roles in docs/contract.md, written out, so that a changed right is seen.
  const MAY: Readonly<Record<ApprovalAction, readonly Role[]>> = {
    approve: ['approver', 'admin', 'owner'],
    reject: ['approver', 'admin', 'owner'],
    cancel: ['admin', 'owner'],
  };

  for (const action of APPROVAL_ACTIONS)
    it(`who may act on what waits for approval: ${action}: ${MAY[action].join(', ')} in the source, and no other role`, () => {
      for (const role of [...ROLES, undefined])
        assert.equal(
          refused(action, member(), asRole(role)),
          role === undefined || !MAY[action].includes(role),
          role,
        );
    });

  it('the creator never approves and never rejects, whatever the role', () => {
    for (const role of [...ROLES, undefined])
      for (const action of ['approve', 'reject'] as const)
        assert(refused(action, member(CREATOR), asRole(role)), role);
  });

  it('the creator cancels in any role, but not without one', () => {
    for (const role of ROLES) assert(!refused('cancel', member(CREATOR), asRole(role)), role);
    assert(refused('cancel', member(CREATOR), asRole(undefined)));
  });

  it('who may act on what waits for approval approve and reject need the right approve of the staff, cancel the right cancel', () => {
    const needed = { approve: 'approve', reject: 'approve', cancel: 'cancel' } as const;
    for (const action of APPROVAL_ACTIONS)
      for (const right of STAFF_RIGHTS)
        assert.equal(
          refused(action, byStaff(), asStaff([right])),
          right !== needed[action],
          `${action} ${right}`,
        );
  });

  it('nobody acts who is not active staff, and the refusal names who was claimed', () => {
    for (const action of APPROVAL_ACTIONS)
      for (const standing of [
        asStaff(STAFF_RIGHTS, false),
        { role: undefined, staff: undefined },
      ]) {
        const refusal = authorityRefusal(action, byStaff('eve'), standing, waiting, OF);
        assert.equal(refusal?.message, 'eve is not active staff');
      }
  });

  it('a role is of no use to the staff, nor a staff row to a member', () => {
    assert(refused('approve', byStaff(), asRole('owner')));
    assert(refused('approve', member(), asStaff(STAFF_RIGHTS)));
  });
});

describe('an action', () => {
  it('an action of the staff needs a reason, one of a member none', () => {
    assert.equal(malformedRefusal(byStaff(), null)?.code, 'invalid_field');
    assert.equal(malformedRefusal(byStaff(), 'why'), null);
    assert.equal(malformedRefusal(member(), null), null);
  });

  it('an action of a member counts by the member, one of the staff once for the staff as a whole', () => {
    assert.equal(approverOf(byStaff('sofia')), approverOf(byStaff('maria')));
    assert.notEqual(approverOf(member(CREATOR)), approverOf(member()));
    assert.deepEqual(
      [claimedName(byStaff('maria')), claimedName(member())],
      ['maria', `member:${MEMBER}`],
    );
  });
});

describe('the time of what waits', () => {
  it('the time of what waits is over at the instant of its expiry, and not a millisecond before', () => {
    assert.deepEqual(
      [-1, 0, 1].map((ms) => isExpired(waiting, instant(EXPIRES_AT + ms))),
      [false, true, true],
    );
    for (const action of APPROVAL_ACTIONS) {
      assert.notEqual(verdict(action, member(), asRole('admin')).outcome, 'expired');
      assert.equal(
        verdict(action, member(), asRole('admin'), { at: EXPIRES_AT }).outcome,
        'expired',
      );
    }
  });

  it('the time of what waits does not matter to who may not act, nor to what is settled', () => {
    for (const action of APPROVAL_ACTIONS) {
      assert.equal(
        codeOf(verdict(action, member(), asRole('viewer'), { at: EXPIRES_AT })),
        'authority_insufficient',
      );
      const settled = { of: { status: 'rejected' }, at: EXPIRES_AT };
      assert.equal(codeOf(verdict(action, member(), asRole('admin'), settled)), 'invalid_state');
    }
  });

  it('the time of what waits needs approval from the threshold on, whatever it is; without a policy nothing does', () => {
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
});

describe('the verdict', () => {
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
