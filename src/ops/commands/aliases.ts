import { listReservedAliases, reserveAlias, unreserveAlias } from '../../accounts/alias.js';
import { reservedAliases } from '../../db/entities/identity.js';
import { type CommandDefinition, managerCommand, query } from '../command.js';
import { text } from '../inputs.js';
import { rowFields } from '../fields.js';

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
      if (verb === 'unreserve')
        await ops.output.confirm(
          `End the reservation of ${alias}`,
          'any account may take it from now on',
        );
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
