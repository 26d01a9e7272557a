import type { Command } from 'commander';
import { z } from 'zod';
import { listAccounts, readAccountDetails } from '../../accounts/directory.js';
import { openAccount } from '../../accounts/opening.js';
import { type Changed, freezeAccount, unfreezeAccount, verifyAccount } from '../../accounts/status.js';
import type { Uuid } from '../../core/ids.js';
import { addCommand, group, type Ops } from '../command.js';
import { findAccount, findMember, findTenant } from '../finding.js';
import { grants, limit, optionalText, text } from '../inputs.js';
import { accountDetailFields, accountFields } from '../presenting.js';

const TENANT = ['--tenant <tenant>', 'id or name of the tenant'] as const;
const WITHIN = ['--tenant <tenant>', 'id or name of its tenant; needed with an alias or phone'] as const;

export function addAccountCommands(program: Command): void {
  const own = group(program, 'accounts', 'who holds money');
  addOpening(own);
  addReading(own);
  addChange(own, {
    usage: 'verify <account>',
    summary: 'the account is verified: from now on it may send',
    done: 'it was verified already',
    change: ({ database, clock }, id) => verifyAccount(database, clock, id),
  });
  addChange(own, {
    usage: 'freeze <account>',
    summary: 'the account may receive, but not send',
    done: 'it was frozen already',
    change: ({ database }, id) => freezeAccount(database, id),
  });
  addChange(own, {
    usage: 'unfreeze <account>',
    summary: 'a frozen account may send again',
    done: 'it was not frozen',
    change: ({ database }, id) => unfreezeAccount(database, id),
  });
}

function addOpening(own: Command): void {
  addCommand(own, {
    usage: 'open <name>',
    summary: "open an account; the name is a person's full name or a business's trade name",
    options: [
      TENANT,
      ['--type <type>', 'person or business'],
      ['--alias <alias>', 'begins with $; 3 to 30 letters, digits and . _ - (default: none)'],
      ['--phone <phone>', 'in any format; Colombian without a country code (default: none)'],
      ['--grant <grants>', 'members and their roles in the account, such as ana=owner,payroll=operator'],
    ],
    examples: [
      "accounts open 'Ana María Pérez' --tenant acme --type person --alias '$ana' --phone '300 111 2233'",
      "accounts open 'Acme Treasury' --tenant acme --type business --grant finance=owner,payroll=operator",
    ],
    input: z.object({
      name: text,
      tenant: text,
      type: z.enum(['person', 'business'], { error: 'must be person or business' }),
      alias: optionalText,
      phone: optionalText,
      grant: grants,
    }),
    run: async ({ database, clock, output }, { name, type, alias, phone, ...input }) => {
      const { id: tenantId } = await findTenant(database.reader, input.tenant);
      const granted = await Promise.all(
        input.grant.map(async ({ name: member, role }) => ({
          memberId: (await findMember(database.reader, tenantId, member)).id,
          role,
        })),
      );
      const wanted = { tenantId, type, name, alias: alias ?? null, phone: phone ?? null, grants: granted };
      output.one(accountFields(await openAccount(database, clock, wanted)));
    },
  });
}

function addReading(own: Command): void {
  addCommand(own, {
    usage: 'list',
    summary: "a tenant's accounts, newest first",
    options: [TENANT, ['--limit <count>', 'how many at most (default: 100)']],
    examples: ['accounts list --tenant acme', 'accounts list --tenant acme --limit 5000 --json'],
    input: z.object({ tenant: text, limit }),
    run: async ({ database, output }, input) => {
      const { id } = await findTenant(database.reader, input.tenant);
      const found = await listAccounts(database.reader, id, input.limit);
      output.list(found.map(accountFields), `${input.tenant} has no accounts yet: npm run ops -- accounts open --help`);
      if (found.length === input.limit) output.say(`The newest ${input.limit}; --limit shows more.`);
    },
  });
  addCommand(own, {
    usage: 'show <account>',
    summary: 'one account with its balances and members, by id, alias or phone',
    options: [WITHIN],
    examples: ["accounts show '$ana' --tenant acme", "accounts show '+57 300 111 2233' --tenant acme --json"],
    input: z.object({ account: text, tenant: optionalText }),
    run: async ({ database, output }, named) => {
      const account = await findAccount(database.reader, named);
      output.one(accountDetailFields(account, await readAccountDetails(database.reader, account.id)));
    },
  });
}

interface ChangeSpec {
  readonly usage: `${string} <account>`;
  readonly summary: string;
  /** What is said when nothing had to change. */
  readonly done: string;
  readonly change: (ops: Ops, id: Uuid) => Promise<Changed>;
}

function addChange(own: Command, { usage, summary, done, change }: ChangeSpec): void {
  addCommand(own, {
    usage,
    summary,
    options: [WITHIN],
    examples: [`accounts ${usage.replace('<account>', "'$ana'")} --tenant acme`],
    input: z.object({ account: text, tenant: optionalText }),
    run: async (ops, named) => {
      const { id } = await findAccount(ops.database.reader, named);
      const { account, changed } = await change(ops, id);
      ops.output.one(accountFields(account));
      if (!changed) ops.output.say(`Nothing was changed: ${done}.`);
    },
  });
}
