import { addMember, listMembers, removeMember } from '../../members/members.js';
import { grantRole, grantRoleEverywhere, removeRole } from '../../members/roles.js';
import {
  issueToken,
  listTokens,
  revokeToken,
  revokeTokensOf,
  rotateToken,
} from '../../members/tokens.js';
import { toRfc3339 } from '../../core/instant.js';
import { type Role, ROLES, rolesCovering, SCOPES } from '../../core/permissions.js';
import {
  type Account,
  type Member,
  memberRoles,
  members,
  type Token,
  tokens,
} from '../../db/entities/parties.js';
import { secondsText } from '../../support/reading/timeline.js';
import { type AuthorisedOps, managerCommand, query } from '../command.js';
import { UsageError } from '../failures.js';
import { named } from '../lookups.js';
import { readDelayS } from './limits.js';
import { PROGRAM } from '../help.js';
import { commaSeparated, flag, oneOf, option, optional, scopes, tenant, text } from '../inputs.js';
import { duration, futureTime } from '../times.js';
import { type Fields, rowFields } from '../fields.js';

function memberFields(member: Member): Fields {
  return rowFields(members, member, 'id name createdAt');
}

const ACCOUNT_CHOICE = {
  tenant,
  account: option('<account> id, alias or phone of one account', named.account.optional()),
  allAccounts: flag('every account that the tenant has now'),
};

function checkAccountChoice(input: { account?: unknown; allAccounts: boolean }): void {
  if ((input.account !== undefined) === input.allAccounts)
    throw new UsageError('give either --account or --all-accounts');
}

/** Asks unless the member's role in the account already permits what the new one does. */
async function confirmGrant(
  { database, output }: AuthorisedOps,
  { id, name, tenantId }: Member,
  role: Role,
  account: Account | undefined,
): Promise<void> {
  const where = { memberId: id, ...(account && { accountId: account.id }) };
  const before = (await database.reader.select(memberRoles, where)).map((one) => one.role);
  const [only = null] = before;
  if (account !== undefined && only !== null && rolesCovering(role).includes(only)) return;
  const delayS = await readDelayS({ database }, tenantId);
  await output.confirm(
    `Grant ${name} the role ${role} in ${account?.name ?? 'every account of the tenant'}; before: ${[...new Set(before)].sort().join(', ') || 'none'}`,
    delayS === 0
      ? 'it applies from now on'
      : `a wider role waits for the delay of ${secondsText(delayS)}`,
  );
}

export const memberCommands = {
  'add <name>': managerCommand({
    summary: 'add a member, without a role at first',
    examples: ['members add payroll --tenant acme'],
    input: { name: text, tenant },
    run: async ({ database, clock, actor, output }, { name, tenant }) =>
      output.one(memberFields(await addMember(database, clock, tenant.id, name, actor()))),
  }),
  'grant <member> <role>': managerCommand({
    summary: `give a member a role (${ROLES.join(', ')}), replacing any other role there`,
    examples: [
      "members grant payroll operator --tenant acme --account '$acme-treasury'",
      'members grant auditor viewer --tenant acme --all-accounts',
    ],
    input: { member: named.member, role: oneOf(ROLES), ...ACCOUNT_CHOICE },
    check: checkAccountChoice,
    run: async (ops, { member, role, account }) => {
      await confirmGrant(ops, member, role, account);
      const { database, clock, actor, output } = ops;
      let accounts = 1;
      if (account === undefined)
        accounts = await grantRoleEverywhere(database, clock, member, role, actor());
      else await grantRole(database, clock, member, account.id, role, actor());
      output.one({ member: member.name, role, accounts });
    },
  }),
  'remove-role <member>': managerCommand({
    summary: "take a member's role away",
    examples: ["members remove-role payroll --tenant acme --account '$acme-treasury'"],
    input: { member: named.member, ...ACCOUNT_CHOICE },
    check: checkAccountChoice,
    run: async ({ database, clock, actor, output }, { member, account }) => {
      const id = account?.id ?? null;
      await output.confirm(
        `Take the role of ${member.name} in ${account?.name ?? 'every account'} away`,
        'they can no longer act there',
      );
      const accounts = await removeRole(database, clock, member, id, actor());
      output.one({ member: member.name, accounts });
    },
  }),
  'remove <member>': managerCommand({
    summary: 'remove a member with all roles and tokens; its name is free again',
    examples: ['members remove payroll --tenant acme'],
    input: { member: named.member, tenant },
    run: async ({ database, clock, actor, output }, { member }) => {
      await output.confirm(`Remove ${member.name} with all roles and tokens`);
      await removeMember(database, clock, member, actor());
      output.one(memberFields(member));
    },
  }),
  list: query({
    summary: "a tenant's members, and in how many accounts they have which role",
    examples: ['members list --tenant acme'],
    input: { tenant },
    run: async ({ database, output }, { tenant }, tenantName) => {
      const rows = (await listMembers(database.reader, tenant.id)).map(({ member, roles }) => ({
        ...memberFields(member),
        accounts_by_role: Object.fromEntries(roles),
      }));
      output.list(
        rows,
        `${tenantName} has no members yet: ${PROGRAM} members add NAME --tenant ${tenantName}`,
      );
    },
  }),
};

function tokenFields(token: Token, memberName: string): Fields {
  return {
    ...rowFields(tokens, token, 'keyId name'),
    member: memberName,
    scopes: token.scopes,
    cidrs: token.cidrs === '' ? [] : token.cidrs.split(','),
    ...rowFields(
      tokens,
      token,
      'effectiveAt expiresAt revokedAt createdAt createdByKey lastUsedAt',
    ),
  };
}

const SHOWN_ONCE = 'The token is shown only now: keep it where only its user can read it.';

async function revokeAll(
  { database, clock, actor, output }: AuthorisedOps,
  member: Member,
): Promise<void> {
  await output.confirm(`Revoke every live token of ${member.name}`);
  const revoked = await revokeTokensOf(database, clock, member, actor());
  const rows = revoked.map((token) => tokenFields(token, member.name));
  output.list(rows, `Nothing was changed: ${member.name} had no live token.`);
  if (revoked.length > 0) output.say(`New ones: ${PROGRAM} tokens issue --help`);
}

export const tokenCommands = {
  'issue <name>': managerCommand({
    summary: 'issue a token for a member; it is shown once, and only its hash is kept',
    examples: [
      "tokens issue 'payroll server' --tenant acme --member payroll --scopes read,transfers --cidrs 203.0.113.0/24",
      'tokens issue report --tenant acme --member auditor --scopes read --expires 90d --json',
    ],
    input: {
      name: text,
      tenant,
      member: option('<member> id or name of the member that it acts for', named.member),
      scopes: option(
        `<scopes> comma-separated, as few as possible: ${SCOPES.join(',')}; or all`,
        scopes,
      ),
      expires: option(
        '<expiry> when it expires: how long after now, such as 90d, or a date in UTC (default: never)',
        futureTime.optional(),
      ),
      cidrs: option(
        '<ranges> the only address ranges from which it may be used, separated by commas (default: anywhere)',
        commaSeparated,
      ),
    },
    run: async ({ database, clock, actor, output }, { member, ...input }) => {
      const request = { ...input, expiresAt: input.expires ?? null };
      const issued = await issueToken(database, clock, member, request, actor());
      output.one({ token: issued.text, ...tokenFields(issued.token, member.name) });
      output.say(SHOWN_ONCE);
    },
  }),
  list: query({
    summary: "a tenant's tokens, including revoked ones, without their secrets",
    examples: ['tokens list --tenant acme'],
    input: { tenant },
    run: async ({ database, output }, { tenant }, tenantName) => {
      const [own, people] = await Promise.all([
        listTokens(database.reader, tenant.id),
        database.reader.select(members, { tenantId: tenant.id }),
      ]);
      const nameOf = new Map(people.map(({ id, name }) => [id, name]));
      const rows = own.map((one) => tokenFields(one, nameOf.get(one.memberId) ?? one.memberId));
      const none = `${tenantName} has no tokens yet: ${PROGRAM} tokens issue --help`;
      output.list(rows, none, { detailsOnly: ['cidrs', 'effective_at', 'created_at'] });
    },
  }),
  'revoke [key-id]': managerCommand({
    summary:
      'revoke a token for ever, within 5 seconds; the key id is its third part: svc_live_<key id>_…',
    examples: [
      'tokens revoke k3jd7q2mzx5tyw4a',
      'tokens revoke --tenant acme --member payroll --yes',
    ],
    input: {
      keyId: named.token.optional(),
      tenant: optional('<tenant> id or name of the tenant'),
      member: option(
        '<member> instead of a key id: every live token of this member (id or name)',
        named.member.optional(),
      ),
      cascade: flag('also every token that it created, and those that they created'),
    },
    check: ({ keyId, tenant, member }) => {
      const isById = keyId !== undefined;
      if ((tenant !== undefined) === isById || (member !== undefined) === isById)
        throw new UsageError(
          'give the key id of a token, or --tenant and --member for all tokens of a member',
        );
    },
    run: async (ops, { keyId: found, member, cascade }) => {
      if (member !== undefined) return revokeAll(ops, member);
      if (found === undefined) return;
      const { database, clock, actor, output } = ops;
      const { token, memberName } = found;
      const others = cascade ? ', and every token that it created' : '';
      if (token.revokedAt === null || cascade)
        await output.confirm(
          `Revoke the token ${token.name ?? token.keyId} of ${memberName}${others}`,
        );
      const revoked = await revokeToken(database, clock, token.keyId, actor(), cascade);
      output.one(tokenFields(revoked, memberName));
    },
  }),
  'rotate <key-id>': managerCommand({
    summary:
      'replace a token with a new one with the same member, scopes, expiry and ranges; the old one ends',
    examples: [
      'tokens rotate k3jd7q2mzx5tyw4a --grace 24h',
      'tokens rotate k3jd7q2mzx5tyw4a --yes --json',
    ],
    input: {
      keyId: named.token,
      grace: option(
        '<duration> how long the old one keeps working, such as 15m, 24h, 7d (default: it ends now)',
        duration.prefault('0s'),
      ),
    },
    run: async ({ database, clock, actor, output }, { keyId: found, grace }) => {
      const { token, memberName } = found;
      const end = grace === 0 ? 'now' : 'after the grace';
      await output.confirm(
        `Replace the token ${token.name ?? token.keyId} of ${memberName}; the old one ends ${end}`,
      );
      const rotated = await rotateToken(database, clock, token.keyId, grace, actor());
      const { revokedAt, expiresAt } = rotated.old;
      output.one({
        token: rotated.text,
        ...tokenFields(rotated.token, memberName),
        replaces: token.keyId,
        replaced_ends_at: toRfc3339(revokedAt ?? expiresAt),
      });
      output.say(SHOWN_ONCE);
    },
  }),
};
