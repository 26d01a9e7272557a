import { z } from 'zod';
import {
  approveFactorReset,
  proposeFactorReset,
  withdrawFactorReset,
} from '../../staff/factor-resets.js';
import { command } from '../command.js';
import { UsageError } from '../failures.js';
import { findStaffCalled } from '../finding.js';
import { flag, optional, text } from '../inputs.js';
import { PROGRAM } from '../help.js';
import { resetFields, showWithFactor } from '../presenting-service.js';

export const factorResetCommand = command({
  usage: 'reset-factor <name>',
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
  input: z.object({
    name: text,
    reason: optional('<text>', 'why, up to 140 characters: proposes it'),
    approve: flag('create what another person proposed'),
    withdraw: flag('end the proposal'),
  }),
  needs: {
    among: ['staff.reset_propose', 'staff.reset_approve', 'manage'],
    of: ({ approve, withdraw }) =>
      approve ? 'staff.reset_approve' : withdraw ? 'manage' : 'staff.reset_propose',
  },
  subject: ({ name }) => name,
  check: ({ reason, approve, withdraw }) => {
    if (Number(reason !== undefined) + Number(approve) + Number(withdraw) !== 1)
      throw new UsageError('give one of --reason, --approve and --withdraw');
  },
  run: async (ops, { name, reason, approve, withdraw }) => {
    const { database, clock, output, by } = ops;
    const deps = { database, clock, encryptionKeys: ops.encryptionKeys() };
    const person = await findStaffCalled(database.reader, name);
    if (withdraw) {
      const withdrawn = await withdrawFactorReset(deps, person, by());
      output.one({ name: person.name, withdrawn });
    } else if (approve) {
      const factor = await approveFactorReset(deps, person, by());
      showWithFactor(output, await findStaffCalled(database.reader, name), factor);
    } else {
      output.one(resetFields(person, await proposeFactorReset(deps, person, reason ?? '', by())));
      output.say(`A second person creates it: ${PROGRAM} staff reset-factor ${name} --approve`);
    }
  },
});
