import { z } from 'zod';
import { clearAccountLimits, setAccountLimits } from '../../accounts/limit-overrides.js';
import { readLimitState } from '../../accounts/reading.js';
import { EXAMPLE_ASSET } from '../../core/amount.js';
import type { Account } from '../../db/entities/parties.js';
import { command, group, type Ops, query } from '../command.js';
import { UsageError } from '../failures.js';
import { findAccount } from '../finding.js';
import { asset, option, rawOrDefault, text, within } from '../inputs.js';
import { limitFields } from '../presenting.js';

const OR_DEFAULT = "in the asset's smallest unit, or the word default";

async function show({ database, clock, output }: Ops, account: Account): Promise<void> {
  output.list(
    (await readLimitState(database.reader, account, clock())).map(limitFields),
    'It has no limits.',
  );
}

export const limitCommands = group('limits', 'limits of one operation and of one month', [
  query({
    usage: 'show <account>',
    summary: "an account's limits, and what this month has used of them",
    examples: ["limits show '$ana' --tenant acme"],
    input: z.object({ account: text, tenant: within }),
    run: async (ops, named) => show(ops, await findAccount(ops.database.reader, named)),
  }),
  command({
    usage: 'set <account>',
    summary: "set an account's own limits; limits not named stay unchanged",
    examples: [
      `limits set '$ana' --tenant acme --asset ${EXAMPLE_ASSET} --maximum 2400000000 --month 10000000000`,
      `limits set '$ana' --tenant acme --asset ${EXAMPLE_ASSET} --month default`,
    ],
    input: z.object({
      account: text,
      tenant: within,
      asset,
      minimum: option('<raw>', `minimum of one operation, at least 1, ${OR_DEFAULT}`, rawOrDefault),
      maximum: option('<raw>', `maximum of one operation, ${OR_DEFAULT}`, rawOrDefault),
      month: option('<raw>', `maximum of one month, 0 for nothing, ${OR_DEFAULT}`, rawOrDefault),
    }),
    needs: 'manage',
    run: async (ops, { account: named, tenant, ...wanted }) => {
      const { database, clock, actor } = ops;
      const { minimum, maximum, month } = wanted;
      if (minimum === undefined && maximum === undefined && month === undefined)
        throw new UsageError('give at least one of --minimum, --maximum and --month');
      const account = await findAccount(database.reader, { account: named, tenant });
      await setAccountLimits(database, clock, { accountId: account.id, ...wanted }, actor());
      await show(ops, account);
    },
  }),
  command({
    usage: 'clear <account>',
    summary: 'reset an account to the limits of its type',
    examples: [`limits clear '$ana' --tenant acme --asset ${EXAMPLE_ASSET}`],
    input: z.object({ account: text, tenant: within, asset }),
    needs: 'manage',
    run: async (ops, { account: named, tenant, asset: of }) => {
      const { database, clock, actor } = ops;
      const account = await findAccount(database.reader, { account: named, tenant });
      const cleared = await clearAccountLimits(database, clock, account.id, of, actor());
      await show(ops, account);
      if (!cleared) ops.output.say(`Nothing was changed: it had no limits of its own in ${of}.`);
    },
  }),
]);
