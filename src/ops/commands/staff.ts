import { renderUnicodeCompact } from 'uqr';
import { parseUuid } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import {
  type Staff,
  staff,
  STAFF_RIGHTS,
  type StaffRight,
  staffSessions,
} from '../../db/entities/staff.js';
import type { NewFactor } from '../../staff/authenticator.js';
import {
  approveFactorReset,
  assertResetProposed,
  proposeFactorReset,
  withdrawFactorReset,
} from '../../staff/factor-resets.js';
import {
  deactivateStaff,
  findStaff,
  listStaff,
  setPerson,
  setService,
} from '../../staff/people.js';
import { listOpenSessions, revokeSessions } from '../../staff/sessions.js';
import { unlinkSubject } from '../../staff/subjects.js';
import { type AuthorisedOps, command, managerCommand, query } from '../command.js';
import { UsageError } from '../failures.js';
import { named } from '../lookups.js';
import { askedReason, flag, option, reasonOf, staffRights, text } from '../inputs.js';
import { PROGRAM } from '../help.js';
import { type Fields, rowFields } from '../fields.js';
import type { Output } from '../output.js';

function staffFields(one: Staff): Fields {
  const { name, kind, rights, active, factorSecret } = one;
  return {
    name,
    kind,
    can: rights,
    active,
    authenticator: kind === 'person' ? factorSecret !== null : null,
    ...rowFields(staff, one, 'lastUsedAt lockedUntil opsLockedUntil createdAt'),
  };
}

function showWithFactor(output: Output, person: Staff, factor: NewFactor | null): void {
  if (factor === null) return output.one(staffFields(person));
  output.one({ ...staffFields(person), otpauth_url: factor.url, secret: factor.secret });
  output.picture(`\n${renderUnicodeCompact(factor.url, { border: 2 })}`);
  output.say(
    `The secret is shown only now: ${person.name} scans it with an authenticator app, or types it there. It is not stored anywhere else.`,
  );
}

const ALL = STAFF_RIGHTS.join(',');
const NO_STAFF = `There is no staff yet: ${PROGRAM} staff add NAME --can ${ALL}`;
const can = option(
  `<rights> ${ALL}, or some of them; who may approve may also reject, who may pause also resume and retry`,
  staffRights,
);

async function confirmRights(
  { database, output }: AuthorisedOps,
  name: string,
  rights: readonly StaffRight[],
  more: Fields = {},
): Promise<void> {
  const known = await findStaff(database.reader, name);
  const inOrder = STAFF_RIGHTS.filter((right) => rights.includes(right));
  await output.confirmChange(
    known === undefined ? `Add ${name} to the staff` : `Set the rights of ${known.name}`,
    {
      rights: known?.active === true ? known.rights : null,
      ...(known === undefined ? {} : { key: 'the present one' }),
    },
    { rights: inOrder, ...more },
    'from now on they may do that, and nothing else',
  );
}

export const staffCommands = {
  'add <name>': managerCommand({
    summary:
      'add a person; repeated, it sets exactly these rights, and makes the person active again',
    explanation: `
A new person gets an authenticator: its secret is shown once, as a QR code, as a URL and for typing. Repeating the command
creates no new one. Names that differ only by case, accents or look-alike letters are the same name. The first person with
manage is added with the database administrator's URL, MYSQL_ADMIN_URL. Add two more, because replacing a lost authenticator
takes two colleagues with manage (staff reset-factor --help).`,
    examples: ['staff add maria --can approve,cancel,pause', 'staff add leo --can read'],
    input: { name: text, can },
    firstByAdministrator: true,
    run: async (ops, { name, can: rights }) => {
      const { actor, output, isAdministrator } = ops;
      if (isAdministrator && !rights.includes('manage'))
        throw new UsageError('--can: the first of the staff must have manage');
      const deps = { ...ops, encryptionKeys: ops.encryptionKeys() };
      if (!isAdministrator) await confirmRights(ops, name, rights);
      const request = { name, rights, isFirst: isAdministrator };
      const { person, factor } = await setPerson(deps, request, actor());
      showWithFactor(output, person, factor);
    },
  }),
  'add-service <name>': managerCommand({
    summary:
      'add a service, for programs; its key is shown once; repeated, it sets these rights and makes a new key',
    explanation: `
The program has the key in OPS_KEY and uses no --as. A service never counts as a person, so it cannot be one of two people.`,
    examples: ['staff add-service nightly-reconcile --can resolve --json'],
    input: { name: text, can },
    run: async (ops, { name, can: rights }) => {
      await confirmRights(ops, name, rights, { key: 'a new one' });
      const { service, key } = await setService(ops, { name, rights }, ops.actor());
      ops.output.one({ ...staffFields(service), key });
      ops.output.say(
        'The key is shown only now: keep it where only that program can read it. Earlier keys stop working.',
      );
    },
  }),
  list: query({
    summary: 'all staff, including inactive ones',
    examples: ['staff list', 'staff list --json'],
    run: async ({ database, output }) => {
      const rows = (await listStaff(database.reader)).map(staffFields);
      output.list(rows, NO_STAFF, { detailsOnly: ['created_at'] });
    },
  }),
  'deactivate <name>': managerCommand({
    summary: 'deactivate a person or service: their sessions end, and they can no longer act',
    examples: ['staff deactivate maria'],
    input: { name: named.staff },
    run: async ({ database, clock, actor, output }, { name: person }) => {
      if (person.active)
        await output.confirm(
          `Deactivate ${person.name}`,
          'their sessions end now, and they can no longer act',
        );
      const changed = await deactivateStaff(database, clock, person, actor());
      output.one(staffFields({ ...person, active: false }));
      if (!changed) output.say('Nothing was changed: they were not active.');
    },
  }),
  'unbind <name>': managerCommand({
    summary: "release a person from their account at the company's identity provider",
    explanation:
      'For a person who has a new account there. Their sessions end, and their next sign-in needs a code.',
    examples: ['staff unbind maria'],
    input: { name: named.staff },
    run: async (ops, { name: person }) => {
      if (person.subjectHash !== null)
        await ops.output.confirm(
          `Release ${person.name} from their account at the identity provider`,
          'their sessions end now, and their next sign-in needs a code',
        );
      const changed = await unlinkSubject(ops, person, await ops.by());
      ops.output.one(staffFields(person));
      if (!changed)
        ops.output.say('Nothing was changed: they had no account at the identity provider.');
    },
  }),
  'reset-factor <name>': command({
    summary:
      'a new authenticator for a person who lost theirs: one colleague proposes it, a second creates it',
    explanation: `
  staff reset-factor NAME --reason TEXT   proposes; nothing changes yet
  staff reset-factor NAME --approve       a second person makes it: the secret is shown once, to hand it over
  staff reset-factor NAME --withdraw      ends the proposal

Neither step can be done for oneself, so two colleagues with manage are needed. The old authenticator stops working, all
sessions of the person end, and so does a lock-out by wrong codes.`,
    examples: [
      "staff reset-factor maria --reason 'lost her phone, ticket 118'",
      'staff reset-factor maria --approve',
    ],
    input: {
      name: named.staff,
      reason: askedReason(': proposes it'),
      approve: flag('create what another person proposed'),
      withdraw: flag('end the proposal'),
    },
    needs: {
      anyOf: ['staff.reset_propose', 'staff.reset_approve', 'manage'],
      for: ({ approve, withdraw }) =>
        approve ? 'staff.reset_approve' : withdraw ? 'manage' : 'staff.reset_propose',
    },
    check: ({ reason, approve, withdraw }) => {
      if (Number(reason !== undefined) + Number(approve) + Number(withdraw) > 1)
        throw new UsageError('give one of --reason, --approve and --withdraw');
    },
    run: async (ops, { name: person, reason, approve, withdraw }) => {
      const { database, output, by } = ops;
      const deps = { ...ops, encryptionKeys: ops.encryptionKeys() };
      if (withdraw) {
        const withdrawn = await withdrawFactorReset(deps, person, await by());
        output.one({ name: person.name, withdrawn });
      } else if (approve) {
        await assertResetProposed(database.reader, person, ops.user());
        const factor = await approveFactorReset(deps, person, await by());
        const changed = await database.reader.find(staff, { id: person.id });
        showWithFactor(output, changed ?? person, factor);
      } else {
        const text = await reasonOf(reason, output);
        const reset = await proposeFactorReset(deps, person, text, await by());
        const { status, reason: why, createdAt } = reset;
        output.one({ name: person.name, status, reason: why, proposed_at: toRfc3339(createdAt) });
        output.say(
          `A second person creates it: ${PROGRAM} staff reset-factor ${person.name} --approve`,
        );
      }
    },
  }),
  sessions: query({
    summary: 'open sessions at the command line and at the support desk',
    examples: ['staff sessions', 'staff sessions --json'],
    run: async ({ database, clock, output }) => {
      const open = await listOpenSessions(database.reader, clock());
      const rows = open.map(({ session, name }) => ({
        id: session.id,
        name,
        ...rowFields(staffSessions, session, 'channel place createdAt lastUsedAt expiresAt'),
      }));
      output.list(rows, 'Nobody is signed in.', { detailsOnly: ['created_at'] });
    },
  }),
  'revoke-session <id|name>': managerCommand({
    summary: 'end one session at once, or all sessions of a person',
    examples: [
      'staff revoke-session 01a1feef-38a9-7169-8296-3070b51f3af4',
      'staff revoke-session maria',
    ],
    input: { 'id|name': text },
    run: async (ops, { 'id|name': given }) => {
      const id = parseUuid(given);
      const lookup = named.staff.parse(given);
      const which = id === null ? { staffId: (await lookup.find(ops.database.reader)).id } : { id };
      const ended = await revokeSessions(ops, which, await ops.by());
      ops.output.one({ ended_sessions: ended });
      if (ended === 0) ops.output.say('Nothing was changed: no such session is open.');
    },
  }),
};
