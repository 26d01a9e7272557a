import type { Command } from 'commander';
import { z } from 'zod';
import { deactivateStaff, findStaff, listStaff, setPerson } from '../../staff/people.js';
import { STAFF_RIGHTS } from '../../db/entities/staff.js';
import { addCommand, group } from '../command.js';
import { OpsError } from '../failures.js';
import { staffRights, text } from '../inputs.js';
import { staffFields } from '../presenting.js';

const NOBODY = 'There is no support staff yet: npm run ops -- staff add NAME --can approve,cancel,pause';

export function addStaffCommands(program: Command): void {
  const own = group(program, 'staff', "support staff: who of the operators' people may act for support");
  addCommand(own, {
    usage: 'add <name>',
    summary: 'let somebody act for support; repeated, it gives exactly these rights, and makes them active again',
    options: [
      [
        '--can <rights>',
        `${STAFF_RIGHTS.join(',')}, or some of them; who may approve may also reject, who may pause also resume and retry`,
      ],
    ],
    explanation: "\nThe name is what they sign with: a signal's actor in Temporal, --operator here.",
    examples: ['staff add maria --can approve,cancel,pause', 'staff add leo --can cancel'],
    input: z.object({ name: text, can: staffRights }),
    run: async ({ database, clock, actor, encryptionKeys, output }, { name, can: rights }) => {
      const parts = { database, clock, encryptionKeys: encryptionKeys() };
      const { person, factor } = await setPerson(parts, { name, rights }, actor());
      output.one(staffFields(person));
      if (factor !== null) output.say(factor.url);
    },
  });
  addCommand(own, {
    usage: 'list',
    summary: 'the support staff, those who are no longer active too',
    options: [],
    examples: ['staff list', 'staff list --json'],
    input: z.object({}),
    run: async ({ database, output }) => {
      output.list((await listStaff(database.reader)).map(staffFields), NOBODY);
    },
  });
  addCommand(own, {
    usage: 'deactivate <name>',
    summary: 'from now on nothing that they sign changes anything; what they did stays',
    options: [],
    examples: ['staff deactivate maria'],
    input: z.object({ name: text }),
    run: async ({ database, clock, actor, output }, { name }) => {
      const person = await findStaff(database.reader, name);
      if (person === undefined) throw new OpsError(`there is nobody called ${name} among the support staff`);
      const changed = await deactivateStaff(database, clock, person, actor());
      output.one(staffFields({ ...person, active: false }));
      if (!changed) output.say('Nothing was changed: they were not active.');
    },
  });
}
