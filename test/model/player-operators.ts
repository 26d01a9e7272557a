import assert from 'node:assert/strict';
import { grantRole, removeRole } from '../../src/members/roles.js';
import { removeFeeSchedule, setFeeAccount } from '../../src/operations/fees.js';
import { freezeAccount, unfreezeAccount } from '../../src/accounts/status.js';
import { ApiError } from '../../src/core/errors.js';
import { asUuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { FEE_OPERATIONS } from '../../src/db/entities/parties.js';
import { feeSchedule, setFee, TEST_ACTOR } from '../helpers/world.js';
import type { Plays } from './generated.js';
import type { RefAccount } from './reference-state.js';
import type { ModelWorld } from './world.js';

/** Settings of operators, by the service's own functions. */
export function managing(
  world: ModelWorld,
): Plays<'freeze' | 'role' | 'fee account' | 'fee' | 'no fee'> {
  const { ledger, clerk, deps } = world;
  const tenant = ledger.tenantOf('owner');
  const tenantId = asUuid(tenant.id);
  const clocked = { ...deps, clock: systemClock };
  return {
    freeze: ({ account, isFrozen }) => freeze(world, world.account(account), isFrozen),
    role: async ({ account: number, role }) => {
      const account = world.account(number);
      const on = [deps.database, systemClock, clerk, asUuid(account.id)] as const;
      if (role === null) await removeRole(...on, TEST_ACTOR);
      // Within the tenant's delay a wider role waits, longer than a run of the model.
      else if ((await grantRole(...on, role, TEST_ACTOR)) !== null) return;
      account.clerkRole = role;
    },
    'fee account': async ({ account }) => {
      tenant.feeAccount = world.account(account);
      await setFeeAccount(clocked, tenantId, asUuid(tenant.feeAccount.id), TEST_ACTOR);
    },
    fee: async ({ asset, flat, basisPoints, cap }) => {
      const schedule = { flatRaw: flat, basisPoints, capRaw: cap };
      for (const charged of FEE_OPERATIONS) {
        const setting = setFee(deps.database, { tenantId, operation: charged, asset, ...schedule });
        assert.equal(await codeOf(setting), tenant.feeAccount === null ? 'invalid_state' : null);
      }
      if (tenant.feeAccount !== null) tenant.fees.set(asset, { flat, basisPoints, cap });
    },
    'no fee': async ({ asset }) => {
      const wasThere = tenant.fees.delete(asset);
      for (const charged of FEE_OPERATIONS) {
        const schedule = feeSchedule({ tenantId, operation: charged, asset });
        assert.equal(await removeFeeSchedule(clocked, schedule, TEST_ACTOR), wasThere);
      }
    },
  };
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
