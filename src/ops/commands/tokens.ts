import type { Command } from 'commander';
import { z } from 'zod';
import { issueToken, listTokens, revokeToken } from '../../access/tokens.js';
import { members, tokens } from '../../db/entities/parties.js';
import { SCOPES } from '../../core/permissions.js';
import { addCommand, group } from '../command.js';
import { OpsError } from '../failures.js';
import { findMember, findTenant } from '../finding.js';
import { cidrs, scopes, text, time } from '../inputs.js';
import { tokenFields } from '../presenting.js';

const TENANT = ['--tenant <tenant>', 'id or name of the tenant'] as const;

export function addTokenCommands(program: Command): void {
  const own = group(program, 'tokens', 'what lets a member call the API');
  addCommand(own, {
    usage: 'issue <name>',
    summary: 'make a token for a member; it is shown once, and only its hash is kept',
    options: [
      TENANT,
      ['--member <member>', 'id or name of the member for whom it speaks'],
      ['--scopes <scopes>', `commas between, as few as will do: ${SCOPES.join(',')}; or all`],
      ['--expires <time>', 'from then on it is refused, such as 2027-01-31T00:00:00Z (default: never)'],
      ['--cidrs <ranges>', 'address ranges from which alone it may be used, commas between (default: anywhere)'],
    ],
    examples: [
      "tokens issue 'payroll server' --tenant acme --member payroll --scopes read,transfers --cidrs 203.0.113.0/24",
      'tokens issue report --tenant acme --member auditor --scopes read --expires 2027-01-31T00:00:00Z --json',
    ],
    input: z.object({ name: text, tenant: text, member: text, scopes, expires: time.optional(), cidrs }),
    run: async ({ database, clock, output }, input) => {
      const { id } = await findTenant(database.reader, input.tenant);
      const member = await findMember(database.reader, id, input.member);
      const wanted = { name: input.name, scopes: input.scopes, expiresAt: input.expires ?? null, cidrs: input.cidrs };
      const { token, text: secretText } = await issueToken(database, clock, member, wanted);
      output.one({ token: secretText, ...tokenFields(token, member.name) });
      output.say('The token is shown this once: keep it where only its user can read it.');
    },
  });
  addCommand(own, {
    usage: 'list',
    summary: "a tenant's tokens, revoked ones too, without their secrets",
    options: [TENANT],
    examples: ['tokens list --tenant acme'],
    input: z.object({ tenant: text }),
    run: async ({ database, output }, { tenant }) => {
      const { id: tenantId } = await findTenant(database.reader, tenant);
      const [own, people] = await Promise.all([
        listTokens(database.reader, tenantId),
        database.reader.select(members, { tenantId }),
      ]);
      const nameOf = new Map(people.map(({ id, name }) => [id, name]));
      const rows = own.map((token) => tokenFields(token, nameOf.get(token.memberId) ?? token.memberId));
      output.list(rows, `${tenant} has no tokens yet: npm run ops -- tokens issue --help`);
    },
  });
  addCommand(own, {
    usage: 'revoke <key-id>',
    summary: 'end a token for ever, within a second; the key id is its third part: svc_live_<key id>_…',
    options: [],
    examples: ['tokens revoke k3jd7q2mzx5tyw4a', 'tokens revoke k3jd7q2mzx5tyw4a --yes'],
    input: z.object({ keyId: text }),
    run: async ({ database, clock, output }, { keyId }) => {
      const known = await database.reader.find(tokens, { keyId });
      if (known === undefined) throw new OpsError(`there is no token with the key id ${keyId}`);
      const member = await database.reader.find(members, { id: known.memberId });
      if (known.revokedAt === null)
        await output.confirm(`Revoke the token ${known.name} of ${member?.name ?? known.memberId}`);
      output.one(tokenFields(await revokeToken(database, clock, keyId), member?.name ?? known.memberId));
    },
  });
}
