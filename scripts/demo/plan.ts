import type { Asset } from '../../src/core/amount.js';
import type { Role, Scope } from '../../src/core/permissions.js';
import { SCOPES } from '../../src/core/permissions.js';
import { STAFF_RIGHTS } from '../../src/db/entities/staff.js';
import type { Verification } from '../../src/db/entities/identity.js';
import type { FeeOperation } from '../../src/db/entities/parties.js';

/** The content of the demo world. Scripts depend on its names, which must not change. */

export interface AccountPlan {
  readonly type: 'person' | 'business';
  /** Identifies the account within its tenant, even after its alias has been changed. */
  readonly name: string;
  readonly alias: string | null;
  readonly phone: string | null;
  /** The declaration about the account's holder. Null if it stays unverified. */
  readonly declared: DeclarationPlan | null;
  /** Recorded as pay-ins, in the asset's smallest unit. */
  readonly funds: Readonly<Partial<Record<Asset, bigint>>>;
}

interface DeclarationPlan {
  readonly documentType: Verification['documentType'];
  readonly documentNumber: string;
}

export interface TokenPlan {
  readonly member: string;
  readonly scopes: readonly Scope[];
}

interface FeePlan {
  readonly operation: FeeOperation;
  readonly asset: Asset;
  readonly basisPoints: bigint;
  readonly floorRaw: bigint;
  readonly capRaw: bigint | null;
}

/** From which amount an account needs approvals, and how soon they expire. */
interface PolicyPlan {
  readonly account: string;
  readonly asset: Asset;
  readonly threshold: bigint;
  readonly approvals: number;
  readonly expiresInS: number;
}

export interface TenantPlan {
  readonly network: string | null;
  /** Each member has this role in every account of the plan. */
  readonly members: Readonly<Record<string, Role>>;
  readonly accounts: Readonly<Record<string, AccountPlan>>;
  readonly tokens: Readonly<Record<string, TokenPlan>>;
  readonly policies: readonly PolicyPlan[];
  readonly fees: { readonly account: string; readonly schedules: readonly FeePlan[] } | null;
}

/** Plans an account of an invented business. */
function business(name: string, alias: string | null, funds: AccountPlan['funds']): AccountPlan {
  const declared = { documentType: 'NIT', documentNumber: '900555001-1' } as const;
  return { type: 'business', name, alias, phone: null, declared, funds };
}

function person(
  name: string,
  alias: string,
  phone: string,
  funds: AccountPlan['funds'],
): AccountPlan {
  const declared = { documentType: 'CC', documentNumber: `10${phone.slice(-8)}` } as const;
  return { type: 'person', name, alias, phone, declared, funds };
}

const TREASURY_FUNDS = { COPM: 50_000_000_000n, DUSD: 5_000_000_000n };
const OWNER_TOKEN = { owner: { member: 'owner', scopes: SCOPES } };
const NETWORK = 'andes';

const acme: TenantPlan = {
  network: NETWORK,
  members: {
    owner: 'owner',
    operator: 'operator',
    approver: 'approver',
    approver2: 'approver',
    viewer: 'viewer',
  },
  accounts: {
    treasury: business('Acme Treasury', '$acme-treasury', TREASURY_FUNDS),
    ana: person('Ana María Pérez', '$ana', '+573001112233', {
      COPM: 500_000_000n,
      DUSD: 500_000_000n,
    }),
    bruno: person('Bruno Castro Díaz', '$bruno', '+573001112234', {}),
    carla: {
      ...person('Carla Gómez', '$carla', '+573001112235', { COPM: 100_000_000n }),
      declared: null,
    },
    guarded: business('Acme Guarded', '$acme-guarded', { COPM: 5_000_000_000n }),
    fees: business('Acme Fees', null, {}),
  },
  tokens: {
    ...OWNER_TOKEN,
    operator: { member: 'operator', scopes: SCOPES },
    approver: { member: 'approver', scopes: SCOPES },
    approver2: { member: 'approver2', scopes: SCOPES },
    viewer: { member: 'viewer', scopes: SCOPES },
    ...Object.fromEntries(
      SCOPES.filter((scope) => scope !== 'access').map((scope) => [
        scope,
        { member: 'owner', scopes: [scope] },
      ]),
    ),
  },
  policies: [
    { account: 'guarded', asset: 'COPM', threshold: 1_000_000n, approvals: 1, expiresInS: 60 },
  ],
  fees: {
    account: 'fees',
    schedules: (['bonus', 'payout'] as const).map((operation) => ({
      operation,
      asset: 'COPM',
      basisPoints: 10n,
      floorRaw: 100n,
      capRaw: 500_000n,
    })),
  },
};

const globex: TenantPlan = {
  network: null,
  members: { owner: 'owner' },
  accounts: {
    treasury: business('Globex Treasury', '$globex-treasury', TREASURY_FUNDS),
    dora: person('Dora Linares', '$dora', '+573001112236', {}),
  },
  tokens: OWNER_TOKEN,
  policies: [],
  fees: null,
};

const initech: TenantPlan = {
  network: NETWORK,
  members: { owner: 'owner' },
  accounts: {
    treasury: business('Initech Treasury', '$initech-treasury', TREASURY_FUNDS),
    emil: person('Emil Ruiz', '$emil', '+573001112237', {}),
  },
  tokens: OWNER_TOKEN,
  policies: [],
  fees: null,
};

const hooli: TenantPlan = {
  network: null,
  members: { owner: 'owner' },
  accounts: {
    treasury: business('Hooli Treasury', '$hooli-treasury', TREASURY_FUNDS),
    gavin: person('Gavin Belson', '$gavin', '+573001112238', {}),
    fees: business('Hooli Fees', null, {}),
  },
  tokens: OWNER_TOKEN,
  policies: [],
  fees: {
    account: 'fees',
    schedules: [
      { operation: 'transfer', asset: 'COPM', basisPoints: 10n, floorRaw: 100n, capRaw: null },
    ],
  },
};

export const DEMO_TENANTS: Readonly<Record<string, TenantPlan>> = { acme, globex, initech, hooli };

/** The operators' people: two, so that actions that need a second person can be tried too. */
export const DEMO_STAFF = ['demo-support', 'demo-lead'].map((name) => ({
  name,
  rights: STAFF_RIGHTS,
}));
