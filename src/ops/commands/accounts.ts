import { z } from 'zod';
import { resetClock } from '../../accounts/clock.js';
import { closeAccount } from '../../accounts/closing.js';
import { listAccounts, readAccountDetails } from '../../accounts/directory.js';
import { openAccount } from '../../accounts/opening.js';
import {
  type StatusChange,
  type Decided,
  freezeAccount,
  unfreezeAccount,
} from '../../accounts/status.js';
import { parseUuid, type Uuid } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import { command, type CommandDefinition, group, type Ops, query } from '../command.js';
import { UsageError } from '../failures.js';
import { findAccount, findMember, findTenant } from '../finding.js';
import { grants, limit, option, optional, tenant, text, within } from '../inputs.js';
import { aliasChangeCommands } from './aliases.js';
import { importCommand } from './import.js';
import { verificationCommand } from './verification.js';
import { PROGRAM } from '../help.js';
import { accountDetailFields, accountFields } from '../presenting.js';

/** Takes only an id, as shown in the alert, because system accounts have no other name. */
const clockResetCommand = command({
  usage: 'reset-clock <account-id>',
  summary: "allow postings again to an account that is dated ahead of the database's clock",
  explanation: `
An account can be dated ahead of the database's clock: the clock was set back, or a failover moved to a server whose clock
is slower. Until that time nothing is posted to the account (503), so that its date does not spread to other accounts. If
the time is near, wait. Otherwise this command lets postings continue from now. Movements keep their dates and run backwards
in time at this point, so lists by created_at are not exact around it.`,
  examples: [
    "accounts reset-clock 019a0d2e-6c1f-7b3a-9d58-2f4f6f0f3c11 --reason 'clock set back, ticket 118'",
  ],
  input: z.object({
    accountId: text,
    reason: option('<text>', 'why, for the audit log; up to 140 characters'),
  }),
  needs: 'manage',
  run: async (ops, { accountId, reason }) => {
    const id = parseUuid(accountId);
    if (id === null) throw new UsageError(`${accountId} is not an id`);
    await ops.output.confirm(`Reset the clock of account ${id}`);
    const { account, changed } = await resetClock(ops, id, { actor: ops.actor(), reason });
    ops.output.one({
      account_id: id,
      last_posted_at: toRfc3339(account.lastPostedAt),
      reset: changed,
    });
    if (!changed)
      ops.output.say("Nothing was changed: the account is not ahead of the database's clock.");
  },
});

const openingCommand = command({
  usage: 'open <name>',
  summary: "open an account; the name is a person's full name or a business's trade name",
  examples: [
    "accounts open 'Ana María Pérez' --tenant acme --type person --alias '$ana' --phone '300 111 2233'",
    "accounts open 'Acme Treasury' --tenant acme --type business --grant finance=owner,payroll=operator",
  ],
  input: z.object({
    name: text,
    tenant,
    type: option(
      '<type>',
      'person or business',
      z.enum(['person', 'business'], { error: 'must be person or business' }),
    ),
    alias: optional('<alias>', 'begins with $; 3 to 30 letters, digits and . _ - (default: none)'),
    phone: optional('<phone>', 'in any format; Colombian without a country code (default: none)'),
    grant: option(
      '<grants>',
      'members and their roles in the account, such as ana=owner,payroll=operator',
      grants,
    ),
  }),
  needs: 'manage',
  run: async ({ database, clock, actor, output }, { name, type, alias, phone, ...input }) => {
    const { id: tenantId } = await findTenant(database.reader, input.tenant);
    const granted = await Promise.all(
      input.grant.map(async ({ name: member, role }) => ({
        memberId: (await findMember(database.reader, tenantId, member)).id,
        role,
      })),
    );
    const wanted = {
      tenantId,
      type,
      name,
      alias: alias ?? null,
      phone: phone ?? null,
      grants: granted,
    };
    output.one(accountFields(await openAccount(database, clock, wanted, actor())));
  },
});

const readingCommands = [
  query({
    usage: 'list',
    summary: "a tenant's accounts, newest first",
    examples: ['accounts list --tenant acme', 'accounts list --tenant acme --limit 5000 --json'],
    input: z.object({ tenant, limit }),
    run: async ({ database, output }, input) => {
      const { id } = await findTenant(database.reader, input.tenant);
      const found = await listAccounts(database.reader, id, input.limit);
      output.newest(
        found.map(accountFields),
        input.limit,
        `${input.tenant} has no accounts yet: ${PROGRAM} accounts open --help`,
        ['type', 'created_at'],
      );
    },
  }),
  query({
    usage: 'show <account>',
    summary: 'one account with its balances and members, by id, alias or phone',
    examples: [
      "accounts show '$ana' --tenant acme",
      "accounts show '+57 300 111 2233' --tenant acme --json",
    ],
    input: z.object({ account: text, tenant: within }),
    run: async ({ database, output }, named) => {
      const account = await findAccount(database.reader, named);
      output.one(
        accountDetailFields(account, await readAccountDetails(database.reader, account.id)),
      );
    },
  }),
];

interface ChangeSpec {
  readonly usage: `${string} <account>`;
  readonly summary: string;
  /** The message if no change was necessary. */
  readonly done: string;
  /** Asked, followed by the account's name, before an action that cannot be undone. */
  readonly question?: string;
  readonly change: (ops: Ops, id: Uuid, decided: Decided) => Promise<StatusChange>;
}

function changeCommand({ usage, summary, done, question, change }: ChangeSpec): CommandDefinition {
  const example = `accounts ${usage.replace('<account>', "'$ana'")} --tenant acme`;
  return command({
    usage,
    summary,
    examples: [`${example} --reason 'asked for in ticket 118'`],
    input: z.object({
      account: text,
      tenant: within,
      reason: optional('<text>', 'why, for the audit log; up to 140 characters'),
    }),
    needs: 'manage',
    run: async (ops, { reason, ...named }) => {
      const found = await findAccount(ops.database.reader, named);
      if (question !== undefined && found.status !== 'closed')
        await ops.output.confirm(`${question} ${found.name} (${found.id})`);
      const decided = { actor: ops.actor(), reason: reason ?? null };
      const { account, changed } = await change(ops, found.id, decided);
      ops.output.one(accountFields(account));
      if (!changed) ops.output.say(`Nothing was changed: ${done}.`);
    },
  });
}

export const accountCommands = group('accounts', 'accounts of tenants', [
  openingCommand,
  importCommand,
  ...readingCommands,
  verificationCommand,
  ...aliasChangeCommands,
  changeCommand({
    usage: 'freeze <account>',
    summary: 'the account may receive, but not send',
    done: 'it was frozen already',
    change: ({ database, clock }, id, decided) => freezeAccount(database, clock, id, decided),
  }),
  changeCommand({
    usage: 'unfreeze <account>',
    summary: 'a frozen account may send again',
    done: 'it was not frozen',
    change: ({ database, clock }, id, decided) => unfreezeAccount(database, clock, id, decided),
  }),
  changeCommand({
    usage: 'close <account>',
    summary:
      'close an account for good, empty and with nothing held; its alias and phone are released',
    done: 'it was closed already',
    question: 'Close the account of',
    change: ({ database, clock }, id, decided) => closeAccount(database, clock, id, decided),
  }),
  clockResetCommand,
]);
