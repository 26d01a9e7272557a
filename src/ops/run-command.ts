import { type Command, CommanderError } from 'commander';
import { EXIT, exitCodeOf, explain } from './failures.js';
import { linesWithEscapes } from './output.js';
import { buildProgram } from './program.js';

/** `argv` as Node has it. Answers the exit code: 0 done, 1 it could not be done, 2 the command was called wrongly, 3 nobody knows whether it was done. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  try {
    await takeExits(buildProgram()).parseAsync(argv);
    return Number(process.exitCode ?? 0);
  } catch (failure) {
    return explainFailure(failure);
  }
}

/** Says what went wrong. Answers the exit code. */
export function explainFailure(failure: unknown): number {
  // Commander has said already what was wrong, or shown the help that was asked for.
  if (failure instanceof CommanderError) return failure.exitCode === 0 ? 0 : EXIT.misused;
  process.stderr.write(`error: ${linesWithEscapes(explain(failure))}\n`);
  return exitCodeOf(failure);
}

/** Commander ends the process by itself otherwise, in the middle of what runs. */
function takeExits(command: Command): Command {
  command.exitOverride();
  command.commands.forEach(takeExits);
  return command;
}
