import assert from 'node:assert/strict';
import { grantRole, removeRole } from '../../src/access/members.js';
import { removeFeeSchedule, setFeeAccount } from '../../src/accounts/fee.js';
import { freezeAccount, unfreezeAccount } from '../../src/accounts/status.js';
import { ApiError } from '../../src/core/errors.js';
import { asUuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import type { Role } from '../../src/core/permissions.js';
import { FEE_OPERATIONS } from '../../src/db/entities/parties.js';
import { feeSchedule, setFee, TEST_ACTOR } from '../support/world.js';
import type { Operation } from './operations.js';
import type { RefAccount } from './reference-state.js';
import type { ModelWorld } from './world.js';

/** What operators set, by the service's own functions. */
export async function manage(
  world: ModelWorld,
  operation: Extract<Operation, { op: 'freeze' | 'role' | 'fee account' | 'fee' | 'no fee' }>,
): Promise<void> {
  const { ledger, clerk, deps } = world;
  const tenant = ledger.tenantOf('owner');
  const tenantId = asUuid(tenant.id);
  switch (operation.op) {
    case 'freeze':
      return freeze(world, world.account(operation.account), operation.isFrozen);
    case 'role': {
      const account = world.account(operation.account);
      if (operation.role === null)
        await removeRole(deps.database, systemClock, clerk, asUuid(account.id), TEST_ACTOR);
      else
        await grantRole(
          deps.database,
          systemClock,
          clerk,
          asUuid(account.id),
          operation.role as Role,
          TEST_ACTOR,
        );
      account.clerkRole = operation.role;
      return;
    }
    case 'fee account':
      tenant.feeAccount = world.account(operation.account);
      await setFeeAccount(
        { ...deps, clock: systemClock },
        tenantId,
        asUuid(tenant.feeAccount.id),
        TEST_ACTOR,
      );
      return;
    case 'fee': {
      const { asset, flat, basisPoints, cap } = operation;
      const schedule = { flatRaw: flat, basisPoints, capRaw: cap };
      for (const charged of FEE_OPERATIONS) {
        const setting = setFee(deps.database, { tenantId, operation: charged, asset, ...schedule });
        assert.equal(await codeOf(setting), tenant.feeAccount === null ? 'invalid_state' : null);
      }
      if (tenant.feeAccount !== null) tenant.fees.set(asset, { flat, basisPoints, cap });
      return;
    }
    case 'no fee': {
      const { asset } = operation;
      const wasThere = tenant.fees.delete(asset);
      for (const charged of FEE_OPERATIONS) {
        const schedule = feeSchedule({ tenantId, operation: charged, asset });
        assert.equal(
          await removeFeeSchedule({ ...deps, clock: systemClock }, schedule, TEST_ACTOR),
          wasThere,
        );
      }
    }
  }
}

/** Or lets it send again. Another time it changes nothing. */
export async function freeze(
  world: ModelWorld,
  account: RefAccount,
  isFrozen: boolean,
): Promise<void> {
  const change = isFrozen ? freezeAccount : unfreezeAccount;
  const decided = { actor: TEST_ACTOR, reason: null };
  const { changed } = await change(
    { database: world.deps.database, clock: systemClock },
    asUuid(account.id),
    decided,
  );
  assert.equal(changed, account.isFrozen !== isFrozen);
  account.isFrozen = isFrozen;
}

/** The error code that an operator's command ends with; null for none. */
export async function codeOf(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (failure) {
    if (!(failure instanceof ApiError)) throw failure;
    return failure.refusal.code;
  }
}
