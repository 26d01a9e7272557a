import { z } from 'zod';
import {
  type AccountPolicy,
  DEFAULT_EXPIRY_S,
  listPolicies,
  MAX_EXPIRY_S,
  MAX_APPROVALS,
  removePolicy,
  setPolicy,
  MIN_EXPIRY_S,
} from '../../approvals/policies.js';
import { batchRule, policyDetails } from '../../approvals/policy-rules.js';
import { EXAMPLE_ASSET } from '../../core/amount.js';
import { toRfc3339 } from '../../core/instant.js';
import { command, group, query } from '../command.js';
import { findAccount } from '../finding.js';
import { asset, flag, option, raw, seconds, text, wholeNumber, within } from '../inputs.js';
import type { Fields } from '../output.js';

const NONE = 'Nothing of it needs approval.';

function policyFields(policy: AccountPolicy): Fields {
  const { asset, threshold: raw, coming } = policy;
  const pending =
    coming === null
      ? null
      : { ...policyDetails(coming.policy), effective_at: toRfc3339(coming.effectiveAt) };
  return {
    asset,
    ...policyDetails(policy),
    threshold: { raw, asset },
    batch_rule: batchRule(policy),
    pending,
  };
}

export const policyCommands = group(
  'policies',
  'amounts from which payments out of an account need approvals',
  [
    command({
      usage: 'set <account>',
      summary:
        'require approvals from an amount on; pending operations keep the policy of their creation',
      explanation: `
A batch whose total reaches the threshold, even of one row, does not wait for these approvals: one member other than its
uploader executes it. With --refuses-batches the batch is rejected when it is validated. If the tenant has a delay (tenants
policy-delay), a higher threshold, fewer approvals, a longer time and no more --refuses-batches take effect after the delay,
for members and operators. Setting the policy in force again withdraws a change that waits.`,
      examples: [
        `policies set '$acme' --tenant acme --asset ${EXAMPLE_ASSET} --threshold 100000000`,
        `policies set '$acme' --tenant acme --asset ${EXAMPLE_ASSET} --threshold 100000000 --approvals 2 --expires-in 24h --refuses-batches`,
      ],
      input: z.object({
        account: text,
        tenant: within,
        asset,
        threshold: option(
          '<raw>',
          "in the asset's smallest unit; an amount that reaches it needs approval",
          raw,
        ),
        approvals: option(
          '<count>',
          `how many, by different people: 1 to ${MAX_APPROVALS} (default: 1)`,
          wholeNumber(1, MAX_APPROVALS).prefault('1'),
        ),
        expiresIn: option(
          '<time>',
          'how long it may wait: 15m, 24h, 7d, or seconds; 1m to 30d (default: 7d)',
          seconds(MIN_EXPIRY_S, MAX_EXPIRY_S).prefault(`${DEFAULT_EXPIRY_S}`),
        ),
        refusesBatches: flag(
          'reject a batch whose total reaches the threshold when it is validated',
        ),
      }),
      needs: 'manage',
      run: async ({ database, clock, actor, output }, { expiresIn: expiresInS, ...input }) => {
        const { id: accountId } = await findAccount(database.reader, input);
        const { asset: of, threshold, approvals, refusesBatches } = input;
        const change = { accountId, asset: of, threshold, approvals, expiresInS, refusesBatches };
        output.one(policyFields(await setPolicy(database, clock, change, actor())));
      },
    }),
    query({
      usage: 'list <account>',
      summary: "an account's policies, one for each asset at most",
      examples: ["policies list '$acme' --tenant acme"],
      input: z.object({ account: text, tenant: within }),
      run: async ({ database, clock, output }, named) => {
        const { id } = await findAccount(database.reader, named);
        output.list((await listPolicies(database.reader, id, clock())).map(policyFields), NONE);
      },
    }),
    command({
      usage: 'remove <account>',
      summary:
        "remove a policy, at once or after the tenant's delay; pending operations keep waiting",
      examples: [`policies remove '$acme' --tenant acme --asset ${EXAMPLE_ASSET}`],
      input: z.object({ account: text, tenant: within, asset }),
      needs: 'manage',
      run: async ({ database, clock, actor, output }, { asset: of, ...named }) => {
        const { id } = await findAccount(database.reader, named);
        const removed = await removePolicy(database, clock, id, of, actor());
        output.list((await listPolicies(database.reader, id, clock())).map(policyFields), NONE);
        if (removed === null) output.say(`Nothing was changed: it had no policy in ${of}.`);
      },
    }),
  ],
);
