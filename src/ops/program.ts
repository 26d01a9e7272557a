import { Command } from 'commander';
import { EXAMPLE_ASSET } from '../core/amount.js';
import { withGlobalOptions } from './command.js';
import { addAccountCommands } from './commands/accounts.js';
import { addAliasCommands } from './commands/aliases.js';
import { addAuditCommand } from './commands/audit.js';
import { addAuditLogCommand } from './commands/audit-log.js';
import { addEventCommands } from './commands/events.js';
import { addBackupCommands } from './commands/backup.js';
import { addBatchCommands } from './commands/batches.js';
import { addCompletionCommand } from './commands/completion.js';
import { addFeeCommands } from './commands/fees.js';
import { addFindingCommands } from './commands/findings.js';
import { addAdjustmentCommands, addPayInCommands } from './commands/funding.js';
import { addKeyCommands } from './commands/keys.js';
import { addLimitCommands } from './commands/limits.js';
import { addMemberCommands } from './commands/members.js';
import { addOutboxCommands } from './commands/outbox.js';
import { addPayoutCommands } from './commands/payouts.js';
import { addPolicyCommands } from './commands/policies.js';
import { addRailCommands } from './commands/rails.js';
import { addReportCommands } from './commands/reports.js';
import { addRestoreCommands } from './commands/restore.js';
import { addSignInCommands } from './commands/sign-in.js';
import { addStaffCommands } from './commands/staff.js';
import { addSweepCommands } from './commands/sweeps.js';
import { addTenantCommands } from './commands/tenants.js';
import { addTokenCommands } from './commands/tokens.js';
import { addTransferCommands } from './commands/transfers.js';
import { addWebhookCommands } from './commands/webhooks.js';
import { PROGRAM } from './program-name.js';

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

export function buildProgram(): Command {
  const program = withGlobalOptions(new Command(PROGRAM))
    .description('The command line for operators of the service.')
    .addHelpText('after', FIRST_STEPS);
  addSignInCommands(program);
  addTenantCommands(program);
  addMemberCommands(program);
  addTokenCommands(program);
  addAccountCommands(program);
  addPayInCommands(program);
  addAdjustmentCommands(program);
  addBatchCommands(program);
  addFeeCommands(program);
  addLimitCommands(program);
  addPolicyCommands(program);
  addTransferCommands(program);
  addPayoutCommands(program);
  addRailCommands(program);
  addStaffCommands(program);
  addOutboxCommands(program);
  addSweepCommands(program);
  addAliasCommands(program);
  addEventCommands(program);
  addKeyCommands(program);
  addWebhookCommands(program);
  addReportCommands(program);
  addBackupCommands(program);
  addRestoreCommands(program);
  addAuditCommand(program);
  addFindingCommands(program);
  addAuditLogCommand(program);
  addCompletionCommand(program);
  return program;
}
