import { type Command, CommanderError } from 'commander';
import { EXIT, exitCodeOf, explain } from './failures.js';
import { linesWithEscapes } from './output.js';
import { buildProgram } from './program.js';

/**
 * `argv` as in Node. Returns the exit code: 0 done, 1 could not be done, 2 used wrongly, 3 unknown whether it was done.
 */
export async function runCommand(argv: readonly string[]): Promise<number> {
  try {
    await takeExits(buildProgram()).parseAsync(argv);
    return Number(process.exitCode ?? 0);
  } catch (failure) {
    return explainFailure(failure);
  }
}

/** Says what went wrong. Returns the exit code. */
export function explainFailure(failure: unknown): number {
  // Commander has already said what was wrong, or shown the requested help.
  if (failure instanceof CommanderError) return failure.exitCode === 0 ? 0 : EXIT.misused;
  process.stderr.write(`error: ${linesWithEscapes(explain(failure))}\n`);
  return exitCodeOf(failure);
}

/** Otherwise commander would end the process in the middle of running work. */
function takeExits(command: Command): Command {
  command.exitOverride();
  command.commands.forEach(takeExits);
  return command;
}
