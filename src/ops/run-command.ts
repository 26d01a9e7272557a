import { type Command, CommanderError } from 'commander';
import { EXIT, exitCodeOf, explain, UnknownOutcome } from './failures.js';
import { linesWithEscapes } from './output.js';

export async function runProgram(program: Command): Promise<void> {
  process.on('uncaughtException', (failure: unknown) => process.exit(explainFailure(failure)));
  process.stdout.once('error', reportUnwritten).on('error', () => undefined);
  process.exitCode = await runCommand(program, process.argv);
}

/** Runs a command with Node's `argv`. Returns the exit code. */
export async function runCommand(program: Command, argv: readonly string[]): Promise<number> {
  try {
    await throwInsteadOfExit(program).parseAsync(argv);
    return Number(process.exitCode ?? 0);
  } catch (failure) {
    return explainFailure(failure);
  }
}

/** A reader such as `head` may close the output early. The command still runs to its end. */
function reportUnwritten({ code }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return;
  const lost = `the output could not be written (${code}): check whether the command took effect before you repeat it`;
  process.exitCode = explainFailure(new UnknownOutcome(lost));
}

function explainFailure(failure: unknown): number {
  // Commander has already printed the fault, or the requested help.
  if (failure instanceof CommanderError) return failure.exitCode === 0 ? 0 : EXIT.misused;
  process.stderr.write(`error: ${linesWithEscapes(explain(failure))}\n`);
  return exitCodeOf(failure);
}

/** Makes commander throw, because it would end the process in the middle of running work. */
function throwInsteadOfExit(command: Command): Command {
  command.exitOverride().showHelpAfterError('(--help shows its commands and options)');
  command.commands.forEach(throwInsteadOfExit);
  return command;
}
