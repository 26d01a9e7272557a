import {
  addMember,
  grantRole,
  grantRoleEverywhere,
  listMembers,
  removeRole,
} from '../../access/members.js';
import type { Uuid } from '../../core/ids.js';
import { ROLES } from '../../core/permissions.js';
import type { Reader } from '../../db/database.js';
import { type Member, members } from '../../db/entities/parties.js';
import { command, group, query } from '../command.js';
import { UsageError } from '../failures.js';
import { findAccount, findMember, findTenant } from '../finding.js';
import { flag, optional, role, tenant, text } from '../inputs.js';
import { PROGRAM } from '../help.js';
import { type Fields, rowFields } from '../output.js';

function memberFields(member: Member): Fields {
  return rowFields(members, member, 'id name createdAt');
}

const PLACE = {
  tenant,
  account: optional('<account> id, alias or phone of one account'),
  allAccounts: flag('every account that the tenant has now'),
};

/** Returns the member and the account, or null for all accounts of the tenant. */
async function findPlace(
  reader: Reader,
  named: { member: string; tenant: string; account?: string | undefined; allAccounts: boolean },
): Promise<{ readonly member: Member; readonly accountId: Uuid | null }> {
  const { account, allAccounts } = named;
  if ((account !== undefined) === allAccounts)
    throw new UsageError('give either --account or --all-accounts');
  const { id: tenantId } = await findTenant(reader, named.tenant);
  const member = await findMember(reader, tenantId, named.member);
  if (account === undefined) return { member, accountId: null };
  return { member, accountId: (await findAccount(reader, { account, tenant: tenantId })).id };
}

export const memberCommands = group(
  'people and programs that act for a tenant, and their roles in its accounts',
  {
    'add <name>': command({
      summary: 'add a member, without a role at first',
      examples: ['members add payroll --tenant acme'],
      input: { name: text, tenant },
      needs: 'manage',
      run: async ({ database, clock, actor, output }, { name, tenant }) => {
        const { id } = await findTenant(database.reader, tenant);
        output.one(memberFields(await addMember(database, clock, id, name, actor())));
      },
    }),
    'grant <member> <role>': command({
      summary: `give a member a role (${ROLES.join(', ')}), replacing any other role there`,
      examples: [
        "members grant payroll operator --tenant acme --account '$acme-treasury'",
        'members grant auditor viewer --tenant acme --all-accounts',
      ],
      input: { member: text, role, ...PLACE },
      needs: 'manage',
      run: async ({ database, clock, actor, output }, input) => {
        const { member, accountId } = await findPlace(database.reader, input);
        let accounts = 1;
        if (accountId !== null)
          await grantRole(database, clock, member, accountId, input.role, actor());
        else accounts = await grantRoleEverywhere(database, clock, member, input.role, actor());
        output.one({ member: member.name, role: input.role, accounts });
      },
    }),
    'remove-role <member>': command({
      summary: "take a member's role away",
      examples: ["members remove-role payroll --tenant acme --account '$acme-treasury'"],
      input: { member: text, ...PLACE },
      needs: 'manage',
      run: async ({ database, clock, actor, output }, input) => {
        const { member, accountId } = await findPlace(database.reader, input);
        const accounts = await removeRole(database, clock, member, accountId, actor());
        output.one({ member: member.name, accounts });
      },
    }),
    list: query({
      summary: "a tenant's members, and in how many accounts they have which role",
      examples: ['members list --tenant acme'],
      input: { tenant },
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
  },
);
