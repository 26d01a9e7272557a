import { type Keyring, sameBytes } from '../../src/core/fingerprint.js';
import type { Uuid } from '../../src/core/ids.js';
import { type Asset, ASSETS } from '../../src/core/amount.js';
import {
  type Account,
  accounts,
  feeKeyOf,
  feeSchedules,
  type Member,
  memberRoles,
  members,
  type Tenant,
  tenants,
  tokens,
} from '../../src/db/entities/parties.js';
import { operatorActor } from '../../src/access/audit-log.js';
import { addMember } from '../../src/members/members.js';
import { grantRole } from '../../src/members/roles.js';
import { DEFAULT_QUOTAS, setQuotas } from '../../src/access/quotas.js';
import { findStaff, setService } from '../../src/staff/people.js';
import type { StaffIdentity } from '../../src/staff/rules.js';
import { identityOf } from '../../src/staff/verification.js';
import { addTenant, DEFAULT_TIME_ZONE } from '../../src/accounts/tenants.js';
import { issueToken, revokeToken } from '../../src/members/tokens.js';
import { hashToken, keyIdOf } from '../../src/access/token-text.js';
import { displayName } from '../../src/accounts/recipients.js';
import { setFeeAccount, setFeeSchedule } from '../../src/operations/fees.js';
import { openAccount } from '../../src/accounts/open-accounts.js';
import { declareVerification } from '../../src/accounts/verification.js';
import { setPolicy } from '../../src/approvals/policies.js';
import { approvalPolicies } from '../../src/db/entities/approvals.js';
import { tenantQuotas } from '../../src/db/entities/identity.js';
import { recordPayIn } from '../../src/funding/service.js';
import type { OpsDeps } from '../../src/ops/context.js';
import { type AccountPlan, DEMO_TENANTS, type TenantPlan, type TokenPlan } from './plan.js';
import { makeDemoStaff } from './staff.js';
import type { TokenFile } from './token-file.js';

/**
 * Makes the demo world with the services of the operators' command line. Every step adds only what
 * is missing, so an interrupted start is completed by the next, and changes made by people stay.
 */
interface DemoDeps extends OpsDeps {
  readonly encryptionKeys: Keyring;
  readonly say: (text: string) => void;
  readonly tokenFile: TokenFile;
  /** The file with the secrets of the staff's authenticators. */
  readonly staffFile: string;
}

interface DemoTenant {
  readonly id: Uuid;
  readonly accounts: Readonly<Record<string, DemoAccount>>;
  readonly tokens: Readonly<Record<string, string>>;
}

interface DemoAccount {
  readonly id: Uuid;
  readonly alias: string | null;
  readonly phone: string | null;
  readonly type: string;
  readonly display_name: string;
}

/** The service that makes the world. It is added like the first of the staff, and its key is not kept. */
const SERVICE = 'demo-setup';
const ACTOR = operatorActor(SERVICE);

export async function makeDemoWorld(
  deps: DemoDeps,
): Promise<{ tenants: Record<string, DemoTenant> }> {
  const world: Record<string, DemoTenant> = {};
  for (const [name, plan] of Object.entries(DEMO_TENANTS))
    world[name] = await makeTenant(deps, name, plan);
  await makeDemoStaff(deps, deps.staffFile, ACTOR);
  return { tenants: world };
}

async function makeTenant(deps: DemoDeps, name: string, plan: TenantPlan): Promise<DemoTenant> {
  const tenant = await ensureTenant(deps, name, plan);
  await setDemoQuotas(deps, tenant);
  const people = await ensureMembers(deps, tenant, plan);
  const own = new Map<string, Account>();
  for (const [key, account] of Object.entries(plan.accounts))
    own.set(key, await ensureAccount(deps, tenant, account, key));
  await grantRoles(deps, plan, people, [...own.values()]);
  await setFees(deps, tenant, plan, own);
  await setPolicies(deps, plan, own);
  return {
    id: tenant.id,
    accounts: Object.fromEntries(
      Array.from(own, ([key, account]) => [key, describeAccount(account)]),
    ),
    tokens: await ensureTokens(deps, tenant, plan, people),
  };
}

async function ensureTenant(
  { database, clock, say }: DemoDeps,
  name: string,
  plan: TenantPlan,
): Promise<Tenant> {
  const known = await database.reader.find(tenants, { name });
  if (known !== undefined) return known;
  say(`making the tenant ${name}`);
  return addTenant(
    database,
    clock,
    { name, network: plan.network, timeZone: DEFAULT_TIME_ZONE },
    ACTOR,
  );
}

/**
 * Sets a hundred times the default quotas, as for rate limits, so that people who try things out do
 * not exhaust them. Keeps quotas that operators have set.
 */
async function setDemoQuotas(
  { database, clock }: DemoDeps,
  { id: tenantId }: Tenant,
): Promise<void> {
  if ((await database.reader.find(tenantQuotas, { tenantId })) !== undefined) return;
  const { openBatches, problemRows, unpaidRows, storedBytes } = DEFAULT_QUOTAS;
  const change = {
    openBatches: 100n * openBatches,
    problemRows: 100n * problemRows,
    unpaidRows: 100n * unpaidRows,
    storedBytes: 100n * storedBytes,
  };
  await setQuotas(database, clock, tenantId, change, ACTOR);
}

async function ensureMembers(
  { database, clock }: DemoDeps,
  { id: tenantId }: Tenant,
  plan: TenantPlan,
): Promise<ReadonlyMap<string, Member>> {
  const known = new Map(
    (await database.reader.select(members, { tenantId, isActive: true })).map((member) => [
      member.name,
      member,
    ]),
  );
  for (const name of Object.keys(plan.members))
    if (!known.has(name)) known.set(name, await addMember(database, clock, tenantId, name, ACTOR));
  return known;
}

/** Finds the account by its name, which people cannot change, unlike its alias, or opens it. */
async function ensureAccount(
  deps: DemoDeps,
  tenant: Tenant,
  plan: AccountPlan,
  key: string,
): Promise<Account> {
  const { database, clock, say } = deps;
  const { type, name } = plan;
  const [known] = await database.reader.select(
    accounts,
    { tenantId: tenant.id, type, name },
    { orderBy: ['createdAt', 'id'] },
  );
  let account = known;
  if (account === undefined) {
    say(`opening ${name}`);
    const { alias, phone } = plan;
    const request = { tenantId: tenant.id, type, name, alias, phone, grants: [] };
    account = await openAccount({ database, clock }, request, ACTOR);
  }
  if (plan.declared !== null && account.verifiedAt === null && account.status !== 'closed') {
    const declared = { ...plan.declared, type, legalName: name, country: 'CO', declaredAt: null };
    await declareVerification(deps, account.id, declared, ACTOR);
  }
  for (const asset of ASSETS) await payIn(deps, account, asset, plan.funds[asset], key);
  return account;
}

/** The reference is the account's name in the demo world, so that the money is paid in once. */
async function payIn(
  deps: DemoDeps,
  { id: accountId, tenantId }: Account,
  asset: Asset,
  raw: bigint | undefined,
  key: string,
): Promise<void> {
  if (raw === undefined) return;
  const reference = `demo-${key}-${asset}`;
  const amount = { raw, asset };
  await recordPayIn(deps, {
    tenantId,
    accountId,
    amount,
    reference,
    description: null,
    by: await ensureSetupService(deps),
  });
}

async function ensureSetupService(deps: DemoDeps): Promise<StaffIdentity> {
  const known = await findStaff(deps.database.reader, SERVICE);
  const service =
    known ?? (await setService(deps, { name: SERVICE, rights: ['adjust'] }, ACTOR)).service;
  return identityOf(service, 'ops');
}

/** Adds only missing roles, and keeps roles that people have changed. */
async function grantRoles(
  { database, clock }: DemoDeps,
  plan: TenantPlan,
  people: ReadonlyMap<string, Member>,
  own: readonly Account[],
): Promise<void> {
  const granted = await database.reader.select(memberRoles, { accountId: own.map(({ id }) => id) });
  const has = new Set(granted.map(({ accountId, memberId }) => `${accountId}|${memberId}`));
  for (const [name, role] of Object.entries(plan.members)) {
    const member = people.get(name);
    if (member === undefined) continue;
    for (const { id } of own)
      if (!has.has(`${id}|${member.id}`)) await grantRole(database, clock, member, id, role, ACTOR);
  }
}

async function setFees(
  { database, clock }: DemoDeps,
  { id: tenantId, feeAccountId }: Tenant,
  { fees }: TenantPlan,
  own: ReadonlyMap<string, Account>,
): Promise<void> {
  const account = fees === null ? undefined : own.get(fees.account);
  if (fees === null || account === undefined) return;
  if (feeAccountId === null) await setFeeAccount({ database, clock }, tenantId, account.id, ACTOR);
  for (const schedule of fees.schedules) {
    const known = await database.reader.find(feeSchedules, feeKeyOf({ ...schedule, tenantId }));
    if (known === undefined)
      await setFeeSchedule({ database, clock }, { ...schedule, tenantId, flatRaw: 0n }, ACTOR);
  }
}

async function setPolicies(
  { database, clock }: DemoDeps,
  { policies }: TenantPlan,
  own: ReadonlyMap<string, Account>,
): Promise<void> {
  for (const { account, ...policy } of policies) {
    const accountId = own.get(account)?.id;
    if (accountId === undefined) continue;
    const known = await database.reader.find(approvalPolicies, { accountId, asset: policy.asset });
    if (known === undefined)
      await setPolicy(database, clock, { ...policy, refusesBatches: false, accountId }, ACTOR);
  }
}

async function ensureTokens(
  deps: DemoDeps,
  tenant: Tenant,
  plan: TenantPlan,
  people: ReadonlyMap<string, Member>,
): Promise<Record<string, string>> {
  const held: Record<string, string> = {};
  const issued: Record<string, string> = {};
  for (const [name, tokenPlan] of Object.entries(plan.tokens)) {
    const stored = deps.tokenFile.get(tenant.name, name);
    const member = people.get(tokenPlan.member);
    if (member === undefined)
      throw new Error(`the plan has a token of ${tokenPlan.member}, who is not a member`);
    if (stored !== undefined && (await isLive(deps, stored, member, tokenPlan)))
      held[name] = stored;
    else held[name] = issued[name] = await replaceToken(deps, tenant, name, tokenPlan, member);
  }
  if (Object.keys(issued).length > 0) deps.tokenFile.keep(tenant.name, issued);
  return held;
}

/** Returns false also for a token made before the plan gave it all of its scopes. */
async function isLive(
  { database }: DemoDeps,
  text: string,
  member: Member,
  { scopes }: TokenPlan,
): Promise<boolean> {
  const token = await database.reader.find(tokens, {
    keyId: keyIdOf(text) ?? '',
    memberId: member.id,
  });
  return (
    token !== undefined &&
    token.revokedAt === null &&
    sameBytes(token.secretHash, hashToken(text)) &&
    scopes.every((scope) => token.scopes.includes(scope))
  );
}

/** Issues a token. Revokes earlier ones of this name, which this checkout has lost. */
async function replaceToken(
  { database, clock }: DemoDeps,
  { id: tenantId }: Tenant,
  name: string,
  tokenPlan: TokenPlan,
  member: Member,
): Promise<string> {
  const request = { name: `demo ${name}`, scopes: tokenPlan.scopes, expiresAt: null, cidrs: [] };
  for (const old of await database.reader.select(tokens, {
    tenantId,
    name: request.name,
    revokedAt: null,
  }))
    await revokeToken(database, clock, old.keyId, ACTOR);
  return (await issueToken(database, clock, member, request, ACTOR)).text;
}

function describeAccount({ id, alias, phone, type, name }: Account): DemoAccount {
  return { id, alias, phone, type, display_name: displayName(type, name) };
}
