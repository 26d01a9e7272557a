import { z } from 'zod';
import {
  addMember,
  grantRole,
  grantRoleEverywhere,
  listMembers,
  removeRole,
} from '../../access/members.js';
import { ROLES } from '../../core/permissions.js';
import { command, group, query } from '../command.js';
import { UsageError } from '../failures.js';
import { findAccount, findMember, findTenant } from '../finding.js';
import { flag, optional, role, tenant, text } from '../inputs.js';
import { PROGRAM } from '../help.js';
import { memberFields } from '../presenting.js';

const WHERE = {
  tenant,
  account: optional('<account>', 'id, alias or phone of one account'),
  allAccounts: flag('every account that the tenant has now'),
};

/** Returns one account, or null for all of them: exactly one of the two options must be set. */
function oneOrAll({
  account,
  allAccounts,
}: {
  account?: string | undefined;
  allAccounts: boolean;
}): string | null {
  if ((account !== undefined) === allAccounts)
    throw new UsageError('give either --account or --all-accounts');
  return account ?? null;
}

export const memberCommands = group(
  'members',
  'people and programs that act for a tenant, and their roles in its accounts',
  [
    command({
      usage: 'add <name>',
      summary: 'add a member, without a role at first',
      examples: ['members add payroll --tenant acme'],
      input: z.object({ name: text, tenant }),
      needs: 'manage',
      run: async ({ database, clock, actor, output }, { name, tenant }) => {
        const { id } = await findTenant(database.reader, tenant);
        output.one(memberFields(await addMember(database, clock, id, name, actor())));
      },
    }),
    command({
      usage: 'grant <member> <role>',
      summary: `give a member a role (${ROLES.join(', ')}), replacing any other role there`,
      examples: [
        "members grant payroll operator --tenant acme --account '$acme-treasury'",
        'members grant auditor viewer --tenant acme --all-accounts',
      ],
      input: z.object({ member: text, role, ...WHERE }),
      needs: 'manage',
      run: async ({ database, clock, actor, output }, input) => {
        const account = oneOrAll(input);
        const { id: tenantId } = await findTenant(database.reader, input.tenant);
        const member = await findMember(database.reader, tenantId, input.member);
        if (account === null) {
          const count = await grantRoleEverywhere(database, clock, member, input.role, actor());
          return output.one({ member: member.name, role: input.role, accounts: count });
        }
        const { id } = await findAccount(database.reader, { account, tenant: tenantId });
        await grantRole(database, clock, member, id, input.role, actor());
        output.one({ member: member.name, role: input.role, accounts: 1 });
      },
    }),
    command({
      usage: 'remove-role <member>',
      summary: "take a member's role away",
      examples: ["members remove-role payroll --tenant acme --account '$acme-treasury'"],
      input: z.object({ member: text, ...WHERE }),
      needs: 'manage',
      run: async ({ database, clock, actor, output }, input) => {
        const account = oneOrAll(input);
        const { id: tenantId } = await findTenant(database.reader, input.tenant);
        const member = await findMember(database.reader, tenantId, input.member);
        const id =
          account === null
            ? null
            : (await findAccount(database.reader, { account, tenant: tenantId })).id;
        output.one({
          member: member.name,
          accounts: await removeRole(database, clock, member, id, actor()),
        });
      },
    }),
    query({
      usage: 'list',
      summary: "a tenant's members, and in how many accounts they have which role",
      examples: ['members list --tenant acme'],
      input: z.object({ tenant }),
      run: async ({ database, output }, { tenant }) => {
        const { id } = await findTenant(database.reader, tenant);
        const rows = (await listMembers(database.reader, id)).map(({ member, roles }) => ({
          ...memberFields(member),
          roles: Object.fromEntries(roles),
        }));
        output.list(
          rows,
          `${tenant} has no members yet: ${PROGRAM} members add NAME --tenant ${tenant}`,
        );
      },
    }),
  ],
);
