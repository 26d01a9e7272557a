import { type Tenant, tenants } from '../../db/entities/parties.js';
import { readAllQuotas, setQuotas } from '../../access/quotas.js';
import { addTenant, DEFAULT_TIME_ZONE } from '../../accounts/tenants.js';
import { MAX_POLICY_DELAY_S, setPolicyDelay } from '../../approvals/policies.js';
import { setFeeAccount } from '../../operations/fees.js';
import { readOwnBudget } from '../../accounts/recipient-budget.js';
import { toRfc3339 } from '../../core/instant.js';
import { snakeCase } from '../../db/table.js';
import { command, managerCommand, query } from '../command.js';
import { named } from '../lookups.js';
import { UsageError } from '../failures.js';
import { countOrDefault, flag, option, optional, text } from '../inputs.js';
import { seconds, timeZone } from '../times.js';
import { PROGRAM } from '../help.js';
import { accountFields } from './accounts.js';
import { type Fields, rowFields } from '../fields.js';

function tenantFields(tenant: Tenant): Fields {
  return rowFields(tenants, tenant, 'id name network timeZone feeAccountId policyDelayS createdAt');
}

const quota = (counted: string) =>
  option(`<count> ${counted}, or the word default`, countOrDefault);

const QUOTAS = {
  openBatches: quota('batches that are validated, ready or paid'),
  problemRows: quota('problems kept of rejected files'),
  unpaidRows: quota('rows kept of batches without a payment'),
  storedBytes: quota('bytes kept of uploaded files'),
  statementRows: quota('movements in the statements that are kept, plus 100 for each statement'),
  accounts: quota('accounts, beyond which members open no more'),
  members: quota('members, beyond which members add no more'),
  tokens: quota('live tokens, beyond which members create no more'),
};

/** Returns the limits as operators name them; without those that are not given. */
function textsOf(limits: Readonly<Record<string, bigint | null | undefined>>): Fields {
  return Object.fromEntries(
    Object.entries(limits).flatMap(([name, limit]) =>
      limit === undefined ? [] : [[snakeCase(name), limit?.toString() ?? 'default']],
    ),
  );
}

function isChange(change: Readonly<Record<string, bigint | null | undefined>>): boolean {
  return Object.values(change).some((limit) => limit !== undefined);
}

export const tenantCommands = {
  'add <name>': managerCommand({
    summary: 'create a tenant with its system accounts',
    examples: [
      'tenants add acme',
      'tenants add initech --network andes --time-zone America/Mexico_City',
    ],
    input: {
      name: text,
      network: optional('<name> tenants of one network can pay each other (default: none)'),
      timeZone: option(
        `<zone> IANA zone in which monthly allowances renew (default: ${DEFAULT_TIME_ZONE})`,
        timeZone.default(DEFAULT_TIME_ZONE),
      ),
    },
    run: async ({ database, clock, actor, output }, { name, network, timeZone }) => {
      const request = { name, network: network ?? null, timeZone };
      output.one(tenantFields(await addTenant(database, clock, request, actor())));
    },
  }),
  list: query({
    summary: 'all tenants',
    examples: ['tenants list', 'tenants list --json'],
    run: async ({ database, output }) => {
      const all = await database.reader.select(tenants, {}, { orderBy: ['createdAt', 'id'] });
      const none = `There is no tenant yet: ${PROGRAM} tenants add acme`;
      output.list(all.map(tenantFields), none, { detailsOnly: ['fee_account_id'] });
    },
  }),
  'show <tenant>': query({
    summary: 'one tenant, by its id or name',
    examples: ['tenants show acme'],
    input: { tenant: named.tenant },
    run: async ({ output }, { tenant }) => output.one(tenantFields(tenant)),
  }),
  'quotas <tenant>': command({
    summary: "a tenant's quotas and what it has stored; with an option, changes a quota",
    explanation:
      'Anything beyond a quota is refused with quota_exceeded. A smaller quota removes nothing.',
    examples: [
      'tenants quotas acme',
      'tenants quotas acme --open-batches 500 --stored-bytes default',
    ],
    input: { tenant: named.tenant, ...QUOTAS },
    needs: {
      anyOf: ['manage'],
      for: ({ tenant: _, ...change }) => (isChange(change) ? 'manage' : null),
    },
    run: async ({ database, clock, actor, output }, { tenant: { id, name }, ...change }) => {
      if (isChange(change)) {
        const { limits: before } = await readAllQuotas(database.reader, id, clock());
        await output.confirmChange(
          `Set the quotas of ${name}`,
          textsOf(before),
          textsOf(change),
          'anything beyond a quota is refused',
        );
        await setQuotas(database, clock, id, change, actor());
      }
      const { limits, used } = await readAllQuotas(database.reader, id, clock());
      const names = Object.keys(QUOTAS) as (keyof typeof QUOTAS)[];
      const rows = names.map((name) => ({
        quota: snakeCase(name),
        used: used[name].toString(),
        limit: limits[name].toString(),
      }));
      output.list(rows, '');
    },
  }),
  'recipient-budget <tenant>': command({
    summary: 'how many new people a tenant may name by alias or phone; --size changes it',
    explanation: `
If a tenant has a size of its own, each of its tokens may use the whole budget. A change fills the budget; running
processes apply it within seconds.`,
    examples: ['tenants recipient-budget acme', 'tenants recipient-budget acme --size 500000'],
    input: {
      tenant: named.tenant,
      size: option('<count> people at once, or the word default (as configured)', countOrDefault),
    },
    needs: { anyOf: ['manage'], for: ({ size }) => (size === undefined ? null : 'manage') },
    run: async ({ database, clock, actor, output }, { tenant: { id, name }, size }) => {
      if (size !== undefined) {
        const before = (await readOwnBudget(database.reader, id)).newRecipients;
        await output.confirmChange(
          `Set the recipient budget of ${name}`,
          textsOf({ size: before }),
          textsOf({ size }),
          'running processes apply it within seconds',
        );
        await setQuotas(database, clock, id, { newRecipients: size }, actor());
      }
      const { newRecipients, fullAt } = await readOwnBudget(database.reader, id);
      const isFull = fullAt === null || fullAt <= clock();
      output.one({
        size: newRecipients?.toString() ?? 'default',
        full_at: isFull ? 'now' : toRfc3339(fullAt),
      });
    },
  }),
  'policy-delay <tenant>': command({
    summary:
      "how long changes that weaken the tenant's approval policies wait; with an option, changes it",
    explanation: `
The delay applies to members and operators, from the next change on; changes that already wait keep their time. Stricter
changes never wait.`,
    examples: [
      'tenants policy-delay acme',
      'tenants policy-delay acme --seconds 86400',
      'tenants policy-delay acme --none',
    ],
    input: {
      tenant: named.tenant,
      seconds: option(
        '<duration> 24h, 7d, or seconds; 1s to 30d',
        seconds(1, MAX_POLICY_DELAY_S).optional(),
      ),
      none: flag('changes that weaken a policy take effect at once'),
    },
    needs: {
      anyOf: ['manage'],
      for: ({ seconds: given, none }) => (given !== undefined || none ? 'manage' : null),
    },
    check: ({ seconds: given, none }) => {
      if (given !== undefined && none) throw new UsageError('give either --seconds or --none');
    },
    run: async ({ database, clock, actor, output }, { tenant, seconds: given, none }) => {
      const { id, name, policyDelayS: before } = tenant;
      const after = given ?? 0;
      if ((given !== undefined || none) && after < before)
        await output.confirmChange(
          `Shorten the delay of weaker approval policies of ${name}`,
          { seconds: before },
          { seconds: after },
          'the next change that weakens a policy or widens access waits no longer than that',
        );
      if (given !== undefined || none)
        await setPolicyDelay(database, clock, id, given ?? null, actor());
      const { policyDelayS } = (await database.reader.find(tenants, { id })) ?? tenant;
      output.one({ tenant: name, policy_delay_s: policyDelayS });
    },
  }),
  'set-fee-account <tenant> <account>': managerCommand({
    summary: 'the account that receives what the tenant charges; it pays no fees itself',
    examples: ["tenants set-fee-account acme '$acme-fees'"],
    input: { tenant: named.tenant, account: named.account },
    run: async (ops, { tenant: { name, feeAccountId }, account: { id, tenantId } }) => {
      if (feeAccountId !== null)
        await ops.output.confirmChange(
          `Change the fee account of ${name}`,
          { account: feeAccountId },
          { account: id },
          'what it charges goes there from now on',
        );
      ops.output.one(accountFields(await setFeeAccount(ops, tenantId, id, ops.actor())));
    },
  }),
};
