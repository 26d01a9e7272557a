import { releaseAlias, setAlias } from '../../accounts/alias.js';
import {
  closeAccount,
  closingRefusal,
  freezeAccount,
  resetClock,
  unfreezeAccount,
} from '../../accounts/status.js';
import { listTenantAccounts, readAccountDetails } from '../../accounts/read-accounts.js';
import { displayName } from '../../accounts/recipients.js';
import { openAccount } from '../../accounts/open-accounts.js';
import { declareVerification, DOCUMENT_NUMBER } from '../../accounts/verification.js';
import { ApiError } from '../../core/errors.js';
import { isCountry } from '../../core/checked-text.js';
import { parseUuid } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import { DOCUMENT_TYPES } from '../../db/entities/identity.js';
import { type Account, ACCOUNT_STATUSES, accounts } from '../../db/entities/parties.js';
import { namesOf } from '../../support/reading/transfers.js';
import { type CommandDefinition, managerCommand, type Ops, query } from '../command.js';
import { UsageError } from '../failures.js';
import { named } from '../lookups.js';
import { PROGRAM } from '../help.js';
import { cursor, positionOf } from '../pages.js';
import {
  eitherOf,
  flag,
  grants,
  limit,
  metadata,
  oneOf,
  onlyTenant,
  option,
  optional,
  reason,
  status,
  tenant,
  text,
  tenantOfAlias,
} from '../inputs.js';
import { time } from '../times.js';
import { describeHolds } from './holds.js';
import { importCommand } from './import.js';
import { movementsCommand } from './movements.js';
import { beginningWith, Described, type Fields, rowFields } from '../fields.js';
import { capitalised } from '../output.js';
import { readLastAction } from '../history.js';
import { readStandardInput } from '../standard-input.js';

export function accountFields(account: Account): Fields {
  return rowFields(accounts, account, 'id type name alias phone status verifiedAt createdAt');
}

const NO_TERMINAL = '--document-number or --document-number-stdin is required without a terminal';

/** Reads the document number from an option, standard input or the terminal. Never quotes it. */
async function readDocumentNumber({ output }: Ops, given: string | undefined, fromStdin: boolean) {
  if (given !== undefined && fromStdin)
    throw new UsageError('give either --document-number or --document-number-stdin');
  const number =
    given ??
    (fromStdin ? await readStandardInput() : await output.ask('Document number', NO_TERMINAL));
  if (!DOCUMENT_NUMBER.test(number))
    throw new UsageError('the document number must be 5 to 20 letters, digits, . and -');
  return number;
}

function statusCommand(
  verb: 'freeze' | 'unfreeze' | 'close',
  summary: string,
  change: typeof freezeAccount,
  unchanged: string,
  question?: {
    readonly unless: readonly Account['status'][];
    readonly follows?: string;
    readonly refusal?: typeof closingRefusal;
  },
): CommandDefinition {
  return managerCommand({
    summary,
    examples: [`accounts ${verb} '$ana' --tenant acme --reason 'asked for in ticket 118'`],
    input: {
      account: named.account,
      tenant: tenantOfAlias,
      reason: reason(),
    },
    run: async (ops, { reason, account: before }) => {
      const { id, name, status } = before;
      if (question?.unless.includes(status) === false) {
        const refusal = (await question.refusal?.(ops.database.reader, before)) ?? null;
        if (refusal !== null) throw new ApiError(refusal);
        await ops.output.confirm(
          `${capitalised(verb)} the account of ${name} (${id})`,
          question.follows,
        );
      }
      const { account, changed } = await change(ops, id, { actor: ops.actor(), reason });
      const may = account.status === 'frozen' ? ': it may receive, but not send' : '';
      await ops.output.done(`The account of ${name} (${id}) is ${account.status}${may}.`, () =>
        ops.output.one(accountFields(account)),
      );
      if (!changed) ops.output.say(`Nothing was changed: ${unchanged}.`);
    },
  });
}

const STATUS_ACTIONS = ['account.freeze', 'account.unfreeze', 'account.close'] as const;

async function confirmRelease({ output }: Ops, { alias, name }: Account): Promise<void> {
  await output.confirm(`Release ${alias} of ${name}. Nobody may take it for 90 days`);
}

export const accountCommands = {
  'open <name>': managerCommand({
    summary: "open an account; the name is a person's full name or a business's trade name",
    examples: [
      "accounts open 'Ana María Pérez' --tenant acme --type person --alias '$ana' --phone '300 111 2233'",
      "accounts open 'Acme Treasury' --tenant acme --type business --grant finance=owner,payroll=operator",
    ],
    input: {
      name: text,
      tenant,
      type: option('<type> person or business', eitherOf('person', 'business')),
      alias: optional('<alias> begins with $; 3 to 30 letters, digits and . _ - (default: none)'),
      phone: optional('<phone> in any format; Colombian without a country code (default: none)'),
      metadata: option(
        '<json> your own data about it, such as {"region": "north"} (default: none)',
        metadata.optional(),
      ),
      grant: option(
        '<grants> members and their roles in the account, such as ana=owner,payroll=operator',
        grants,
      ),
    },
    run: async (ops, input, tenantName) => {
      const { tenant, name, type, alias = null, phone = null } = input;
      const grants = [];
      for (const { name: member, role } of input.grant) {
        const { id } = await named.member.parse(member).find(ops.database.reader, tenantName);
        grants.push({ memberId: id, role });
      }
      const { metadata = null } = input;
      const request = { tenantId: tenant.id, type, name, alias, phone, metadata, grants };
      ops.output.one(accountFields(await openAccount(ops, request, ops.actor())));
    },
  }),
  'import <file>': importCommand,
  list: query({
    summary: 'accounts of all tenants or of one, newest first',
    examples: ['accounts list --tenant acme --limit 5000 --json', 'accounts list --status frozen'],
    input: { tenant: onlyTenant, status: status(ACCOUNT_STATUSES), cursor, limit },
    run: async ({ database: { reader }, output }, input, tenantName) => {
      const { tenant, status, cursor: last, limit: most } = input;
      const own = tenant === undefined ? {} : { tenantId: tenant.id };
      const before = await positionOf(reader, accounts, own, last);
      const found = await listTenantAccounts(reader, tenant?.id, most + 1, before, status);
      const names = await namesOf(reader, found);
      const rows = found.map((account) => {
        const owner = tenant === undefined ? { tenant: names.tenant(account.tenantId) } : {};
        const fields = { ...accountFields(account), ...owner };
        return beginningWith('id name tenant status alias phone', fields);
      });
      const none = `${tenantName} has no accounts yet: ${PROGRAM} accounts open --help`;
      output.newest(
        rows,
        most,
        status === undefined && tenant !== undefined ? none : 'No results.',
        { detailsOnly: ['type', 'created_at'] },
      );
    },
  }),
  'show <account>': query({
    summary: 'one account with its balances and members, by id, alias or phone',
    examples: [
      "accounts show '$ana' --tenant acme",
      "accounts show '+57 300 111 2233' --tenant acme --json",
    ],
    input: { account: named.account, tenant: tenantOfAlias },
    run: async ({ database, output }, { account }) => {
      const { balances, members } = await readAccountDetails(database.reader, account.id);
      const names = await namesOf(database.reader, [account]);
      const sums = balances.flatMap(({ asset, available, held }) => [
        [`${asset}_available`, { raw: available, asset }],
        [`${asset}_held`, { raw: held, asset }],
      ]);
      output.one({
        ...accountFields(account),
        status_set: await readLastAction(database.reader, account.id, STATUS_ACTIONS),
        tenant: names.tenant(account.tenantId),
        tenant_id: account.tenantId,
        display_name: displayName(account.type, account.name),
        ...Object.fromEntries(sums),
        holds: await describeHolds(database.reader, account, balances),
        members: Described.each(
          members,
          ({ name, role }) => `${name} (${role})`,
          ({ name, role }) => ({ name, role }),
        ),
      });
    },
  }),
  'movements <account>': movementsCommand,
  'verify <account>': managerCommand({
    summary:
      'declare who is behind an account, so that it may send; repeated, it replaces the declaration',
    examples: [
      "accounts verify '$ana' --tenant acme --legal-name 'Ana María Pérez' --document-type CC --country CO",
      "accounts verify '$acme' --tenant acme --legal-name 'Acme S.A.S.' --document-type NIT --country CO --document-number-stdin < nit.txt",
    ],
    input: {
      account: named.account,
      tenant: tenantOfAlias,
      legalName: option('<name> as in the document; never shown to anyone else'),
      documentType: option(`<type> ${DOCUMENT_TYPES.join(', ')}`, oneOf(DOCUMENT_TYPES)),
      documentNumber: optional(
        '<number> 5 to 20 letters, digits, . and -; without it you are asked, which keeps it out of the history of your shell',
      ),
      documentNumberStdin: flag('read the number from standard input'),
      country: option(
        '<code> the country that issued the document: two capital letters, such as CO',
        text.refine(isCountry, 'must be the two capital letters of a country, such as CO'),
      ),
      declaredAt: option('<time> when it was declared (default: now)', time.optional()),
    },
    run: async (ops, { account, documentNumber, documentNumberStdin, ...declared }) => {
      const deps = { ...ops, encryptionKeys: ops.encryptionKeys() };
      const declaration = {
        ...declared,
        type: account.type === 'person' ? 'person' : 'business',
        documentNumber: await readDocumentNumber(ops, documentNumber, documentNumberStdin),
        declaredAt: declared.declaredAt ?? null,
      } as const;
      const result = await declareVerification(deps, account.id, declaration, ops.actor());
      ops.output.one({ name: account.name, ...result });
      if (account.verifiedAt !== null)
        ops.output.say('It was verified already: the declaration was replaced.');
    },
  }),
  'set-alias <account> <alias>': managerCommand({
    summary: 'give an account this alias; its previous alias is released, and blocked for 90 days',
    examples: ["accounts set-alias '+57 300 111 2233' '$ana' --tenant acme"],
    input: { account: named.account, alias: text, tenant: tenantOfAlias },
    run: async (ops, { alias, account }) => {
      if (account.alias !== null && account.alias !== alias) await confirmRelease(ops, account);
      ops.output.one(accountFields(await setAlias(ops, account.id, alias, ops.actor())));
    },
  }),
  'release-alias <account>': managerCommand({
    summary: 'release the alias of an account; it is blocked for 90 days',
    examples: ["accounts release-alias '$ana' --tenant acme"],
    input: { account: named.account, tenant: tenantOfAlias },
    run: async (ops, { account }) => {
      if (account.alias !== null) await confirmRelease(ops, account);
      ops.output.one(accountFields(await releaseAlias(ops, account.id, ops.actor())));
      if (account.alias === null) ops.output.say('Nothing was changed: it has no alias.');
    },
  }),
  'freeze <account>': statusCommand(
    'freeze',
    'the account may receive, but not send',
    freezeAccount,
    'it was frozen already',
    {
      unless: ['frozen', 'closed'],
      follows: 'until it is unfrozen it may receive, but not send',
    },
  ),
  'unfreeze <account>': statusCommand(
    'unfreeze',
    'a frozen account may send again',
    unfreezeAccount,
    'it was not frozen',
    { unless: ['active', 'closed'], follows: 'it may send again from now on' },
  ),
  'close <account>': statusCommand(
    'close',
    'close an account for good, empty and with nothing held; its alias and phone are released',
    closeAccount,
    'it was closed already',
    { unless: ['closed'], refusal: closingRefusal },
  ),
  // Only by id, because system accounts have no other name.
  'reset-clock <account-id>': managerCommand({
    summary: "allow postings again to an account that is dated ahead of the database's clock",
    explanation: `
An account can be dated ahead of the database's clock: the clock was set back, or a failover moved to a server whose clock
is slower. Until that time nothing is posted to the account (503), so that its date does not spread to other accounts. If
the time is near, wait. Otherwise this command lets postings continue from now. Movements keep their dates and run backwards
in time at this point, so lists by created_at are not exact around it.`,
    examples: [
      "accounts reset-clock 019a0d2e-6c1f-7b3a-9d58-2f4f6f0f3c11 --reason 'clock set back, ticket 118'",
    ],
    input: {
      accountId: text,
      reason: reason(),
    },
    run: async (ops, { accountId, reason }) => {
      const id = parseUuid(accountId);
      if (id === null) throw new UsageError(`${accountId} is not an id`);
      await ops.output.confirm(`Reset the clock of account ${id}`);
      const decision = { actor: ops.actor(), reason };
      const { lastPostedAt, changed } = await resetClock(ops, id, decision);
      ops.output.one({ account_id: id, last_posted_at: toRfc3339(lastPostedAt), reset: changed });
      if (!changed)
        ops.output.say("Nothing was changed: the account is not ahead of the database's clock.");
    },
  }),
};
