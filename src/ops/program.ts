import { Command } from 'commander';
import { EXAMPLE_ASSET } from '../core/amount.js';
import { addCommands, type Commands, withGlobalOptions } from './command.js';
import { openCommand } from './commands/open.js';
import { accountCommands } from './commands/accounts.js';
import { aliasCommands } from './commands/aliases.js';
import { auditCommand, auditLogCommand, findingCommands } from './commands/audit.js';
import { batchCommands } from './commands/batches.js';
import { completionCommand } from './commands/completion.js';
import { feeCommands } from './commands/fees.js';
import { adjustmentCommands, payInCommands } from './commands/funding.js';
import { keyCommands } from './commands/keys.js';
import { limitCommands, policyCommands } from './commands/limits.js';
import { memberCommands, tokenCommands } from './commands/members.js';
import { eventCommands, outboxCommands, sweepCommands } from './commands/outbox.js';
import { payoutCommands } from './commands/payouts.js';
import { railCommands } from './commands/rails.js';
import { reportCommands } from './commands/reports.js';
import { backupCommands, restoreCommands } from './commands/restore.js';
import { signInCommands } from './commands/sign-in.js';
import { staffCommands } from './commands/staff.js';
import { tenantCommands } from './commands/tenants.js';
import { transferCommands } from './commands/transfers.js';
import { webhookCommands } from './commands/webhooks.js';
import { addParagraphs, PROGRAM } from './help.js';

const FIRST_STEPS = `
First steps:
  $ MYSQL_ADMIN_URL=… ${PROGRAM} staff add maria --can read,approve,cancel,pause,adjust,resolve,manage
  $ ${PROGRAM} login maria
  $ ${PROGRAM} tenants add acme
  $ ${PROGRAM} members add finance --tenant acme
  $ ${PROGRAM} accounts open 'Acme Treasury' --tenant acme --type business --alias '$acme' --grant finance=owner
  $ ${PROGRAM} accounts verify '$acme' --tenant acme --legal-name 'Acme S.A.S.' --document-type NIT --country CO
  $ ${PROGRAM} payins record --tenant acme --account '$acme' --amount 500000 --asset ${EXAMPLE_ASSET} --reference first
  $ ${PROGRAM} tokens issue 'first token' --tenant acme --member finance --scopes all

Every command explains itself: ${PROGRAM} accounts open --help
Exit codes: 0 done, 1 not done, 2 wrong usage, 3 unknown whether it was done.`;

const COMMANDS: Commands = {
  ...signInCommands,
  tenants: tenantCommands,
  members: memberCommands,
  tokens: tokenCommands,
  accounts: accountCommands,
  payins: payInCommands,
  adjustments: adjustmentCommands,
  batches: batchCommands,
  fees: feeCommands,
  limits: limitCommands,
  policies: policyCommands,
  transfers: transferCommands,
  payouts: payoutCommands,
  rails: railCommands,
  staff: staffCommands,
  outbox: outboxCommands,
  sweeps: sweepCommands,
  aliases: aliasCommands,
  events: eventCommands,
  keys: keyCommands,
  webhooks: webhookCommands,
  'open <resource>': openCommand,
  reports: reportCommands,
  backup: backupCommands,
  restore: restoreCommands,
  audit: auditCommand,
  findings: findingCommands,
  'audit-log': auditLogCommand,
  'completion <shell>': completionCommand,
};

export function buildProgram(): Command {
  const program = withGlobalOptions(new Command(PROGRAM))
    .description('The command line for operators of the service.')
    .helpCommand('help [command]', 'show the help of a command');
  addParagraphs(program, FIRST_STEPS);
  addCommands(program, COMMANDS);
  return program;
}
