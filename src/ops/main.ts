import { type Command, CommanderError } from 'commander';
import { explain, UsageError } from './failures.js';
import { linesWithEscapes } from './output.js';
import { buildProgram } from './program.js';

/** `npm run ops -- …`. Exit code 0: done; 1: it could not be done; 2: the command was called wrongly. */

/** Commander ends the process by itself otherwise, in the middle of what runs. */
function takeExits(command: Command): Command {
  command.exitOverride();
  command.commands.forEach(takeExits);
  return command;
}

function exitCodeOf(failure: unknown): number {
  // Commander has said already what was wrong, or shown the help that was asked for.
  if (failure instanceof CommanderError) return failure.exitCode === 0 ? 0 : 2;
  process.stderr.write(`error: ${linesWithEscapes(explain(failure))}\n`);
  return failure instanceof UsageError ? 2 : 1;
}

process.on('uncaughtException', (failure: unknown) => process.exit(exitCodeOf(failure)));
// Whoever reads a list through `head` has seen enough.
process.stdout.on('error', () => process.exit(0));
try {
  await takeExits(buildProgram()).parseAsync(process.argv);
} catch (failure) {
  process.exitCode = exitCodeOf(failure);
}
