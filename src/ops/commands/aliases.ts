import {
  listReservedAliases,
  releaseAlias,
  reserveAlias,
  setAlias,
  unreserveAlias,
} from '../../accounts/alias.js';
import { reservedAliases } from '../../db/entities/identity.js';
import { type Account, accounts } from '../../db/entities/parties.js';
import { type CommandDefinition, managerCommand, type Ops, query } from '../command.js';
import { named } from '../finding.js';
import { text, within } from '../inputs.js';
import { type Fields, rowFields } from '../output.js';

export function accountFields(account: Account): Fields {
  return rowFields(accounts, account, 'id type name alias phone status verifiedAt createdAt');
}

async function confirmRelease({ output }: Ops, { alias, name }: Account): Promise<void> {
  await output.confirm(`Release ${alias} of ${name}. Nobody may take it for 90 days`);
}

export const aliasChangeCommands = {
  'set-alias <account> <alias>': managerCommand({
    summary: 'give an account this alias; its previous alias is released, and blocked for 90 days',
    examples: ["accounts set-alias '+57 300 111 2233' '$ana' --tenant acme"],
    input: { account: named.account, alias: text, tenant: within },
    run: async (ops, { alias, account }) => {
      if (account.alias !== null && account.alias !== alias) await confirmRelease(ops, account);
      ops.output.one(accountFields(await setAlias(ops, account.id, alias, ops.actor())));
    },
  }),
  'release-alias <account>': managerCommand({
    summary: 'release the alias of an account; it is blocked for 90 days',
    examples: ["accounts release-alias '$ana' --tenant acme"],
    input: { account: named.account, tenant: within },
    run: async (ops, { account }) => {
      if (account.alias !== null) await confirmRelease(ops, account);
      ops.output.one(accountFields(await releaseAlias(ops, account.id, ops.actor())));
      if (account.alias === null) ops.output.say('Nothing was changed: it has no alias.');
    },
  }),
};

function reservationCommand(
  verb: 'reserve' | 'unreserve',
  summary: string,
  change: typeof reserveAlias,
  unchanged: string,
): CommandDefinition {
  return managerCommand({
    summary,
    examples: [`aliases ${verb} '$tesoreria'`],
    input: { alias: text },
    run: async (ops, { alias }) => {
      const isChanged = await change(ops, alias, ops.actor());
      ops.output.one({ alias, reserved: verb === 'reserve' });
      if (!isChanged) ops.output.say(`Nothing was changed: ${unchanged}.`);
    },
  });
}

export const aliasCommands = {
  'reserve <alias>': reservationCommand(
    'reserve',
    'reserve an alias, so that no other account may take it; an account that has it keeps it',
    reserveAlias,
    'it was reserved already',
  ),
  'unreserve <alias>': reservationCommand(
    'unreserve',
    'end the reservation of an alias; any account may take it again',
    unreserveAlias,
    'it was not reserved',
  ),
  list: query({
    summary: 'the reserved aliases',
    examples: ['aliases list', 'aliases list --json'],
    run: async ({ database, output }) => {
      const reserved = await listReservedAliases(database.reader);
      const rows = reserved.map((one) =>
        rowFields(reservedAliases, one, 'alias reservedBy createdAt'),
      );
      output.list(rows, 'No alias is reserved.');
    },
  }),
};
