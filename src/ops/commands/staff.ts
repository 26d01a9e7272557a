import { z } from 'zod';
import { parseUuid } from '../../core/ids.js';
import { STAFF_RIGHTS } from '../../db/entities/staff.js';
import { deactivateStaff, listStaff, setPerson, setService } from '../../staff/people.js';
import { listOpenSessions, revokeSessions } from '../../staff/sessions.js';
import { unbindSubject } from '../../staff/subjects.js';
import { command, group, query } from '../command.js';
import { UsageError } from '../failures.js';
import { findStaffCalled } from '../finding.js';
import { option, staffRights, text } from '../inputs.js';
import { factorResetCommand } from './staff-factors.js';
import { PROGRAM } from '../help.js';
import { sessionFields, showWithFactor, staffFields } from '../presenting-service.js';

const ALL = STAFF_RIGHTS.join(',');
const NOBODY = `There is no staff yet: ${PROGRAM} staff add NAME --can ${ALL}`;
const can = option(
  '<rights>',
  `${ALL}, or some of them; who may approve may also reject, who may pause also resume and retry`,
  staffRights,
);

const unbindCommand = command({
  usage: 'unbind <name>',
  summary: "release a person from their account at the company's identity provider",
  explanation:
    'For a person who has a new account there. Their sessions end, and their next sign-in needs a code.',
  examples: ['staff unbind maria'],
  input: z.object({ name: text }),
  needs: 'manage',
  run: async (ops, { name }) => {
    const { database, clock, output, by } = ops;
    const person = await findStaffCalled(database.reader, name);
    const changed = await unbindSubject({ database, clock }, person, by());
    output.one(staffFields(person));
    if (!changed) output.say('Nothing was changed: they had no account at the identity provider.');
  },
});

const personCommand = command({
  usage: 'add <name>',
  summary:
    'add a person; repeated, it sets exactly these rights, and makes the person active again',
  explanation: `
A new person gets an authenticator: its secret is shown once, as a QR code, as a URL and for typing. Repeating the command
creates no new one. Names that differ only by case, accents or look-alike letters are the same name. The first person with
manage is added with the database administrator's URL, MYSQL_ADMIN_URL. Add two more, because replacing a lost authenticator
takes two colleagues with manage (staff reset-factor --help).`,
  examples: ['staff add maria --can approve,cancel,pause', 'staff add leo --can read'],
  input: z.object({ name: text, can }),
  needs: 'manage',
  firstByAdministrator: true,
  run: async (
    { database, clock, actor, encryptionKeys, output, isFirst },
    { name, can: rights },
  ) => {
    if (isFirst && !rights.includes('manage'))
      throw new UsageError('--can: the first of the staff must have manage');
    const deps = { database, clock, encryptionKeys: encryptionKeys() };
    const { person, factor } = await setPerson(deps, { name, rights }, actor(), isFirst);
    showWithFactor(output, person, factor);
  },
});

const serviceCommand = command({
  usage: 'add-service <name>',
  summary:
    'add a service, for programs; its key is shown once; repeated, it sets these rights and makes a new key',
  explanation: `
The program has the key in OPS_KEY and uses no --as. A service never counts as a person, so it cannot be one of two people.`,
  examples: ['staff add-service nightly-reconcile --can resolve --json'],
  input: z.object({ name: text, can }),
  needs: 'manage',
  run: async ({ database, clock, actor, output }, { name, can: rights }) => {
    const { service, key } = await setService({ database, clock }, { name, rights }, actor());
    output.one({ ...staffFields(service), key });
    output.say(
      'The key is shown only now: keep it where only that program can read it. Earlier keys stop working.',
    );
  },
});

const sessionCommands = [
  query({
    usage: 'sessions',
    summary: 'open sessions at the command line and at the support desk',
    examples: ['staff sessions', 'staff sessions --json'],
    run: async ({ database, clock, output }) =>
      output.list(
        (await listOpenSessions(database.reader, clock())).map(sessionFields),
        'Nobody is signed in.',
        ['created_at'],
      ),
  }),
  command({
    usage: 'revoke-session <id|name>',
    summary: 'end one session at once, or all sessions of a person',
    examples: [
      'staff revoke-session 01a1feef-38a9-7169-8296-3070b51f3af4',
      'staff revoke-session maria',
    ],
    input: z.object({ 'id|name': text }),
    needs: 'manage',
    run: async ({ database, clock, by, output }, { 'id|name': named }) => {
      const id = parseUuid(named);
      const which =
        id === null ? { staffId: (await findStaffCalled(database.reader, named)).id } : { id };
      const ended = await revokeSessions({ database, clock }, which, by());
      output.one({ ended_sessions: ended });
      if (ended === 0) output.say('Nothing was changed: no such session is open.');
    },
  }),
];

export const staffCommands = group(
  'staff',
  'people and programs that operate the service, their rights and authenticators',
  [
    personCommand,
    serviceCommand,
    query({
      usage: 'list',
      summary: 'all staff, including inactive ones',
      examples: ['staff list', 'staff list --json'],
      run: async ({ database, output }) => {
        output.list((await listStaff(database.reader)).map(staffFields), NOBODY, ['created_at']);
      },
    }),
    command({
      usage: 'deactivate <name>',
      summary: 'deactivate a person or service: their sessions end, and they can no longer act',
      examples: ['staff deactivate maria'],
      input: z.object({ name: text }),
      needs: 'manage',
      run: async ({ database, clock, actor, output }, { name }) => {
        const person = await findStaffCalled(database.reader, name);
        const changed = await deactivateStaff(database, clock, person, actor());
        output.one(staffFields({ ...person, active: false }));
        if (!changed) output.say('Nothing was changed: they were not active.');
      },
    }),
    unbindCommand,
    factorResetCommand,
    ...sessionCommands,
  ],
);
