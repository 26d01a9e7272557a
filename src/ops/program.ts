import { Command, CommanderError } from 'commander';
import { EXAMPLE_ASSET } from '../core/amount.js';
import { escapeInvisible } from '../core/text.js';
import { addCommands, type Commands, group, withGlobalOptions } from './command.js';
import { openCommand } from './commands/open.js';
import { accountCommands } from './commands/accounts.js';
import { aliasCommands } from './commands/aliases.js';
import { auditCommand, auditLogCommand, findingCommands } from './commands/audit.js';
import { batchCommands } from './commands/batches.js';
import { bonusCommands } from './commands/bonuses.js';
import { completionCommand } from './commands/completion.js';
import { feeCommands } from './commands/fees.js';
import { adjustmentCommands, payInCommands } from './commands/funding.js';
import { keyCommands } from './commands/keys.js';
import { limitCommands, policyCommands } from './commands/limits.js';
import { memberCommands, tokenCommands } from './commands/members.js';
import { eventCommands } from './commands/events.js';
import { outboxCommands, sweepCommands } from './commands/outbox.js';
import { payoutCommands } from './commands/payouts.js';
import { railCommands } from './commands/rails.js';
import { reportCommands } from './commands/reports.js';
import { backupCommands, restoreCommands } from './commands/restore.js';
import { scheduleCommands } from './commands/schedules.js';
import { searchCommand } from './commands/search.js';
import { signInCommands } from './commands/sign-in.js';
import { staffCommands } from './commands/staff.js';
import { tenantCommands } from './commands/tenants.js';
import { transferCommands } from './commands/transfers.js';
import { waitingCommand } from './commands/waiting.js';
import { webhookCommands } from './commands/webhooks.js';
import {
  Canceled,
  EXIT,
  exitCodeOf,
  explain,
  failureJson,
  UnknownOutcome,
  UsageError,
} from './failures.js';
import { addParagraphs, PROGRAM } from './help.js';
import { forTerminal, linesWithEscapes } from './output.js';

const HELP_HINT = '(--help shows its commands and options)';
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
Exit codes: 0 done, 1 not done, 2 wrong usage, 3 unknown whether it was done, 130 canceled at a question.`;

/** The commands by the headings of the program's help. */
const COMMANDS: Readonly<Record<string, Commands>> = {
  'Tenants:': {
    tenants: group('the customers of the service', tenantCommands),
    members: group(
      'people and programs that act for a tenant, and their roles in its accounts',
      memberCommands,
    ),
    tokens: group('API tokens of members', tokenCommands),
    accounts: group('accounts of tenants', accountCommands),
    aliases: group('reserved aliases, which no account may take', aliasCommands),
    limits: group('limits of one operation and of one month', limitCommands),
    policies: group('amounts from which payments out of an account need approvals', policyCommands),
    fees: group('fees that a tenant charges on top of its operations', feeCommands),
    webhooks: group('webhook endpoints of tenants, and their deliveries', webhookCommands),
  },
  'Money:': {
    transfers: group(
      'find a transfer, see what it waits for, and decide it for support',
      transferCommands,
    ),
    bonuses: group('payments to people, made at once: find and show them', bonusCommands),
    schedules: group(
      'transfers to create later: show, pause, resume and cancel them',
      scheduleCommands,
    ),
    payouts: group(
      'money on its way to bank accounts: find it, decide it, and settle what is stuck',
      payoutCommands,
    ),
    rails: group('routes by which payouts reach bank accounts', railCommands),
    batches: group(
      'batches of bonuses and payouts: show, pause, resume and cancel them',
      batchCommands,
    ),
    payins: group('money that arrives from outside', payInCommands),
    adjustments: group('corrections: one person proposes, another approves', adjustmentCommands),
    waiting: waitingCommand,
    'open <resource>': openCommand,
    'search <text>': searchCommand,
  },
  'Checks and reports:': {
    audit: auditCommand,
    findings: group('contradictions found by the scheduled audit', findingCommands),
    'audit-log': auditLogCommand,
    reports: group('totals of the ledger', reportCommands),
  },
  'Operation:': {
    outbox: group('entries that Temporal has not received yet', outboxCommands),
    sweeps: group("the workers' loops for due and unfinished work", sweepCommands),
    events: group('the event log', eventCommands),
    keys: group('keys of fingerprints, cursors and sealed data, and their rotation', keyCommands),
    backup: group('the mark that closes a copy of the database', backupCommands),
    restore: group('reconcile a database restored to an earlier moment', restoreCommands),
  },
  'You and the staff:': {
    ...signInCommands,
    staff: group(
      'people and programs that operate the service, their rights and authenticators',
      staffCommands,
    ),
    'completion <shell>': completionCommand,
  },
};

export function buildProgram(): Command {
  const program = withGlobalOptions(new Command(PROGRAM)).description(
    'The command line for operators of the service.',
  );
  addParagraphs(program, FIRST_STEPS);
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    addCommands(program, commands);
  }
  return program.helpCommand('help [command]', 'show the help of a command: help accounts open');
}

export async function runProgram(program: Command): Promise<void> {
  process.on('uncaughtException', (failure: unknown) => process.exit(explainFailure(failure)));
  process.stdout.once('error', reportUnwritten).on('error', () => undefined);
  // With `2>&1 | head`, the reader closes standard error as well.
  process.stderr.on('error', () => undefined);
  process.exitCode = await runCommand(program, process.argv);
}

/** Runs a command with Node's `argv`. Returns the exit code. */
export async function runCommand(program: Command, argv: readonly string[]): Promise<number> {
  try {
    const [node = '', script = '', ...words] = argv;
    const [first, ...path] = words;
    // Commander's own help command shows only the group of a command.
    const asked =
      first === 'help' ? [...path, ...(isCommand(program, path) ? ['--help'] : [])] : words;
    await throwInsteadOfExit(program, hasJson(argv)).parseAsync([node, script, ...asked]);
    return Number(process.exitCode ?? 0);
  } catch (failure) {
    return explainFailure(failure, argv);
  }
}

/** Returns false for a word that names no command, for which commander then shows similar ones. */
function isCommand(parent: Command, [word, ...rest]: readonly string[]): boolean {
  if (word === undefined || parent.commands.length === 0) return true;
  const child = parent.commands.find((one) => one.name() === word);
  return child !== undefined && isCommand(child, rest);
}

/** A reader such as `head` may close the output early. The command still runs to its end. */
function reportUnwritten({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return;
  const message = `the output could not be written (${code}): check whether the command took effect before you repeat it`;
  process.exitCode = explainFailure(new UnknownOutcome(message));
}

function explainFailure(failure: unknown, argv: readonly string[] = process.argv): number {
  if (failure instanceof CommanderError && failure.exitCode === 0) return 0;
  if (hasJson(argv)) {
    const shown = failure instanceof CommanderError ? usageErrorOf(failure) : failure;
    process.stderr.write(`${escapeInvisible(failureJson(shown))}\n`);
    return exitCodeOf(shown);
  }
  // Commander has already printed the fault.
  if (failure instanceof CommanderError) return EXIT.misused;
  const hint = failure instanceof UsageError ? `\n${HELP_HINT}` : '';
  // The cursor is still on the line of the question.
  const label = failure instanceof Canceled ? '\n' : 'error: ';
  process.stderr.write(`${forTerminal(`${label}${linesWithEscapes(explain(failure))}`)}${hint}\n`);
  return exitCodeOf(failure);
}

function hasJson(argv: readonly string[]): boolean {
  return argv.includes('--json');
}

function usageErrorOf({ code, message }: CommanderError): UsageError {
  if (code === 'commander.help') return new UsageError('a command is missing');
  return new UsageError(message.replace(/^error: /, '').replaceAll('\n', ' '));
}

/**
 * Makes commander throw, because it would end the process in the middle of running work. With
 * `isSilent` it also prints no fault.
 */
function throwInsteadOfExit(command: Command, isSilent: boolean): Command {
  command.exitOverride().showHelpAfterError(HELP_HINT);
  if (isSilent) command.configureOutput({ writeErr: () => undefined });
  for (const child of command.commands) throwInsteadOfExit(child, isSilent);
  return command;
}
