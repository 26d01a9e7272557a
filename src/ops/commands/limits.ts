import { clearAccountLimits, setAccountLimits } from '../../operations/limits.js';
import { readLimitState } from '../../operations/limits.js';
import {
  type AccountPolicy,
  DEFAULT_EXPIRY_S,
  listPolicies,
  MAX_APPROVALS,
  MAX_EXPIRY_S,
  MIN_EXPIRY_S,
  removePolicy,
  setPolicy,
} from '../../approvals/policies.js';
import { batchRule, planChange, type Policy, policyDetails } from '../../approvals/policy-rules.js';
import { type Asset, EXAMPLE_ASSET, formatAmount } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import { type Account, accounts, tenants } from '../../db/entities/parties.js';
import { literal } from '../../db/statements.js';
import { secondsText } from '../../support/reading/timeline.js';
import { managerCommand, type Ops, query } from '../command.js';
import { UsageError } from '../failures.js';
import { named } from '../lookups.js';
import {
  amount,
  type AmountIn,
  amountOrDefault,
  asset,
  flag,
  option,
  optionalTenant,
  reason,
  tenantOfAlias,
  wholeNumber,
} from '../inputs.js';
import { seconds } from '../times.js';
import type { Fields } from '../fields.js';

const OR_DEFAULT = 'or the word default';

const LIMITS = ['minimum', 'maximum', 'month'] as const;
type LimitsChange = Omit<Parameters<typeof setAccountLimits>[1], 'accountId'>;

/** Asks before a change of limits. Returns what changes; empty for nothing. */
async function confirmLimits(ops: Ops, account: Account, change: LimitsChange): Promise<string> {
  const { asset } = change;
  const state = await readLimitState(ops.database.reader, account, ops.clock());
  const { limits, isOwn } = state.find((one) => one.asset === asset) ?? {};
  const changes = LIMITS.flatMap((name) => {
    const [raw, before] = [change[name], limits?.[name]];
    if (raw === undefined || before === undefined || (raw === null && isOwn === false)) return [];
    const after = raw === null ? 'that of its type' : formatAmount({ raw, asset });
    return [`${name} from ${formatAmount({ raw: before, asset })} to ${after}`];
  });
  const text = changes.join(', ');
  if (text !== '')
    await ops.output.confirm(
      `Set the limits of ${account.name}: ${text}`,
      'they apply from its next operation on',
    );
  return text;
}

async function showLimits(
  { database, clock, output }: Ops,
  account: Account,
  changed = '',
): Promise<void> {
  if (changed !== '') output.happened(`The limits of ${account.name} are set: ${changed}.`);
  const state = await readLimitState(database.reader, account, clock());
  const rows = state.map(({ asset, limits, isOwn, used, resetsAt }) => ({
    asset,
    minimum: { raw: limits.minimum, asset },
    maximum: { raw: limits.maximum, asset },
    month: { raw: limits.month, asset },
    month_used: { raw: used, asset },
    resets_at: toRfc3339(resetsAt),
    set_for: isOwn ? 'this account' : 'its type',
  }));
  output.list(rows, 'It has no limits.', { detailsOnly: ['asset'] });
}

export const limitCommands = {
  'show <account>': query({
    summary: "an account's limits, and what this month has used of them",
    examples: ["limits show '$ana' --tenant acme"],
    input: { account: named.account, tenant: tenantOfAlias },
    run: (ops, { account }) => showLimits(ops, account),
  }),
  'set <account>': managerCommand({
    summary: "set an account's own limits; limits not named stay unchanged",
    examples: [
      `limits set '$ana' --tenant acme --asset ${EXAMPLE_ASSET} --maximum 24,000,000.00 --reason 'ticket 118'`,
      `limits set '$ana' --tenant acme --asset ${EXAMPLE_ASSET} --month default --reason 'ticket 118'`,
    ],
    input: {
      account: named.account,
      tenant: tenantOfAlias,
      asset,
      reason: reason(),
      minimum: option(`<amount> minimum of one operation, ${OR_DEFAULT}`, amountOrDefault),
      maximum: option(`<amount> maximum of one operation, ${OR_DEFAULT}`, amountOrDefault),
      month: option(`<amount> maximum of one month, 0 for nothing, ${OR_DEFAULT}`, amountOrDefault),
    },
    check: ({ minimum, maximum, month }) => {
      if (minimum === undefined && maximum === undefined && month === undefined)
        throw new UsageError('give at least one of --minimum, --maximum and --month');
    },
    run: async (ops, { account, asset, reason, minimum, maximum, month }) => {
      const rawOf = (given: AmountIn | null | undefined) => (given ? given(asset) : given);
      const limits = { minimum: rawOf(minimum), maximum: rawOf(maximum), month: rawOf(month) };
      const change = { asset, ...limits };
      const changed = await confirmLimits(ops, account, change);
      await setAccountLimits(ops, { accountId: account.id, ...change }, ops.actor(), { reason });
      await showLimits(ops, account, changed);
    },
  }),
  'clear <account>': managerCommand({
    summary: 'reset an account to the limits of its type',
    examples: [`limits clear '$ana' --tenant acme --asset ${EXAMPLE_ASSET} --reason 'ticket 118'`],
    input: { account: named.account, tenant: tenantOfAlias, asset, reason: reason() },
    run: async (ops, { asset, account, reason }) => {
      const own = { asset, minimum: null, maximum: null, month: null };
      const changed = await confirmLimits(ops, account, own);
      const cleared = await clearAccountLimits(ops, account.id, asset, ops.actor(), { reason });
      await showLimits(ops, account, changed);
      if (!cleared) ops.output.say(`Nothing was changed: it had no limits of its own in ${asset}.`);
    },
  }),
};

function policyFields(policy: AccountPolicy): Fields {
  const { asset, threshold: raw, pending } = policy;
  return {
    asset,
    ...policyDetails(policy),
    threshold: { raw, asset },
    batch_rule: batchRule(policy),
    pending: pending && {
      asset,
      ...policyDetails(pending.policy),
      effective_at: toRfc3339(pending.effectiveAt),
    },
  };
}

async function listAccountPolicies(
  { database, clock, output }: Ops,
  accountId: Uuid,
): Promise<void> {
  const policies = await listPolicies(database.reader, accountId, clock());
  output.list(policies.map(policyFields), 'Nothing of it needs approval.');
}

function questionFields(asset: Asset, { threshold, expiresInS, ...policy }: Policy): Fields {
  return {
    threshold: { raw: threshold, asset },
    approvals: policy.approvals,
    expiry: secondsText(expiresInS),
    refuses_batches: policy.refusesBatches,
  };
}

export async function readDelayS(
  { database }: Pick<Ops, 'database'>,
  tenantId: Uuid,
): Promise<number> {
  return (await database.reader.find(tenants, { id: tenantId }))?.policyDelayS ?? 0;
}

/** Returns when a change of a policy takes effect. */
async function effectOf(
  ops: Ops,
  { tenantId }: Account,
  before: AccountPolicy,
  change: Policy,
): Promise<string> {
  const delayS = await readDelayS(ops, tenantId);
  const state = { current: before, pending: before.pending };
  const { pending, isRequest } = planChange(state, change, delayS, ops.clock());
  if (pending === null) return 'it takes effect at once';
  const when = isRequest
    ? `in ${secondsText(delayS)}`
    : `at ${toRfc3339(pending.effectiveAt)}, as requested before`;
  return `what weakens it takes effect ${when}`;
}

export const policyCommands = {
  'set <account>': managerCommand({
    summary:
      'require approvals from an amount on; pending operations keep the policy of their creation',
    explanation: `
A batch whose total reaches the threshold, even of one row, does not wait for these approvals: one member other than its
uploader executes it. With --refuses-batches the batch is rejected when it is validated. If the tenant has a delay (tenants
policy-delay), a higher threshold, fewer approvals, a longer time and --accepts-batches take effect after the delay,
for members and operators. What is not named stays as it is. Setting the policy in force again withdraws a change that
waits.`,
    examples: [
      `policies set '$acme' --tenant acme --asset ${EXAMPLE_ASSET} --threshold 1,000,000.00`,
      `policies set '$acme' --tenant acme --asset ${EXAMPLE_ASSET} --threshold 1,000,000.00 --approvals 2 --expires-in 24h --refuses-batches`,
    ],
    input: {
      account: named.account,
      tenant: tenantOfAlias,
      asset,
      threshold: option('<amount> an amount that reaches it needs approval', amount.optional()),
      approvals: option(
        `<count> how many, by different people: 1 to ${MAX_APPROVALS} (at first: 1)`,
        wholeNumber(1, MAX_APPROVALS).optional(),
      ),
      expiresIn: option(
        '<duration> how long it may wait: 15m, 24h, 7d, or seconds; 1m to 30d (at first: 7d)',
        seconds(MIN_EXPIRY_S, MAX_EXPIRY_S).optional(),
      ),
      refusesBatches: flag('reject a batch whose total reaches the threshold when it is validated'),
      acceptsBatches: flag('no longer reject such a batch'),
    },
    check: ({ refusesBatches, acceptsBatches }) => {
      if (refusesBatches && acceptsBatches)
        throw new UsageError('give either --refuses-batches or --accepts-batches');
    },
    run: async (ops, { account, asset, ...given }) => {
      const { id: accountId, name } = account;
      const { database, clock, actor, output } = ops;
      const policies = await listPolicies(database.reader, accountId, clock());
      const before = policies.find((one) => one.asset === asset);
      const threshold = given.threshold?.(asset) ?? before?.threshold;
      if (threshold === undefined)
        throw new UsageError('--threshold is required: the account has no policy yet');
      const change = {
        accountId,
        asset,
        threshold,
        approvals: given.approvals ?? before?.approvals ?? 1,
        expiresInS: given.expiresIn ?? before?.expiresInS ?? DEFAULT_EXPIRY_S,
        refusesBatches:
          given.refusesBatches || (!given.acceptsBatches && before?.refusesBatches === true),
      };
      if (before !== undefined)
        await output.confirmChange(
          `Change the approval policy of ${name}`,
          questionFields(asset, before),
          questionFields(asset, change),
          await effectOf(ops, account, before, change),
        );
      output.one(policyFields(await setPolicy(database, clock, change, actor())));
    },
  }),
  'list [account]': query({
    summary:
      "an account's policies, one for each asset at most, or those of all accounts of a tenant",
    examples: ["policies list '$acme' --tenant acme", 'policies list --tenant acme'],
    input: { account: named.account.optional(), tenant: optionalTenant('those of') },
    run: async (ops, { account, tenant }) => {
      if (account !== undefined) return listAccountPolicies(ops, account.id);
      if (tenant === undefined) throw new UsageError('give an account or --tenant');
      const { reader } = ops.database;
      const own = `tenant_id=${literal(accounts, 'tenantId', tenant.id)}`;
      const where = `WHERE ${own} AND id IN (SELECT account_id FROM approval_policies)`;
      const found = await reader.list(accounts, where);
      const nameOf = new Map(found.map(({ id, name }) => [id, name]));
      const policies = await listPolicies(reader, [...nameOf.keys()], ops.clock());
      const rows = policies.map((policy) => {
        const { accountId: account_id } = policy;
        return { account: nameOf.get(account_id) ?? null, account_id, ...policyFields(policy) };
      });
      ops.output.list(rows, `No account of ${tenant.name} has a policy.`);
    },
  }),
  'remove <account>': managerCommand({
    summary:
      "remove a policy, at once or after the tenant's delay; pending operations keep waiting",
    examples: [
      `policies remove '$acme' --tenant acme --asset ${EXAMPLE_ASSET} --reason 'ticket 118'`,
    ],
    input: { account: named.account, tenant: tenantOfAlias, asset, reason: reason() },
    run: async (ops, { asset, reason, account: { id, tenantId, name } }) => {
      const { database, clock, actor, output } = ops;
      const policies = await listPolicies(database.reader, id, clock());
      const policy = policies.find((one) => one.asset === asset);
      const delayS = await readDelayS(ops, tenantId);
      if (policy !== undefined)
        await output.confirm(
          `Remove the approval policy of ${name} from ${formatAmount({ raw: policy.threshold, asset })} on`,
          `${delayS === 0 ? 'from now on' : `after the tenant's delay of ${secondsText(delayS)}`} payments of any amount leave it without approval`,
        );
      const removed = await removePolicy(database, clock, id, asset, actor(), { reason });
      await listAccountPolicies(ops, id);
      if (removed === null) output.say(`Nothing was changed: it had no policy in ${asset}.`);
    },
  }),
};
