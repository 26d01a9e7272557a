import { z } from 'zod';
import { releaseAlias, setAlias } from '../../accounts/alias.js';
import {
  listReservedAliases,
  reserveAlias,
  unreserveAlias,
} from '../../accounts/reserved-aliases.js';
import type { Account } from '../../db/entities/parties.js';
import { command, group, type Ops, query } from '../command.js';
import { findAccount } from '../finding.js';
import { text, within } from '../inputs.js';
import { accountFields, reservedAliasFields } from '../presenting.js';

async function confirmRelease({ output }: Ops, { alias, name }: Account): Promise<void> {
  await output.confirm(`Release ${alias} of ${name}. Nobody may take it for 90 days`);
}

export const aliasChangeCommands = [
  command({
    usage: 'set-alias <account> <alias>',
    summary: 'give an account this alias; its previous alias is released, and blocked for 90 days',
    examples: ["accounts set-alias '+57 300 111 2233' '$ana' --tenant acme"],
    input: z.object({ account: text, alias: text, tenant: within }),
    needs: 'manage',
    run: async (ops, { alias, ...named }) => {
      const { database, clock, actor, output } = ops;
      const found = await findAccount(database.reader, named);
      if (found.alias !== null && found.alias !== alias) await confirmRelease(ops, found);
      output.one(accountFields(await setAlias(database, clock, found.id, alias, actor())));
    },
  }),
  command({
    usage: 'release-alias <account>',
    summary: 'release the alias of an account; it is blocked for 90 days',
    examples: ["accounts release-alias '$ana' --tenant acme"],
    input: z.object({ account: text, tenant: within }),
    needs: 'manage',
    run: async (ops, named) => {
      const { database, clock, actor, output } = ops;
      const found = await findAccount(database.reader, named);
      if (found.alias !== null) await confirmRelease(ops, found);
      output.one(accountFields(await releaseAlias(database, clock, found.id, actor())));
      if (found.alias === null) output.say('Nothing was changed: it has no alias.');
    },
  }),
];

export const aliasCommands = group('aliases', 'reserved aliases, which no account may take', [
  command({
    usage: 'reserve <alias>',
    summary:
      'reserve an alias, so that no other account may take it; an account that has it keeps it',
    examples: ["aliases reserve '$tesoreria'"],
    input: z.object({ alias: text }),
    needs: 'manage',
    run: async ({ database, clock, actor, output }, { alias }) => {
      const isNew = await reserveAlias(database, clock, alias, actor());
      output.one({ alias, reserved: true });
      if (!isNew) output.say('Nothing was changed: it was reserved already.');
    },
  }),
  command({
    usage: 'unreserve <alias>',
    summary: 'end the reservation of an alias; any account may take it again',
    examples: ["aliases unreserve '$tesoreria'"],
    input: z.object({ alias: text }),
    needs: 'manage',
    run: async ({ database, clock, actor, output }, { alias }) => {
      const wasReserved = await unreserveAlias(database, clock, alias, actor());
      output.one({ alias, reserved: false });
      if (!wasReserved) output.say('Nothing was changed: it was not reserved.');
    },
  }),
  query({
    usage: 'list',
    summary: 'the reserved aliases',
    examples: ['aliases list', 'aliases list --json'],
    run: async ({ database, output }) =>
      output.list(
        (await listReservedAliases(database.reader)).map(reservedAliasFields),
        'No alias is reserved.',
      ),
  }),
]);
