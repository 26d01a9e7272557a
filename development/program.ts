import type { Command } from 'commander';
import { addCommands } from '../src/ops/command.js';
import { buildProgram } from '../src/ops/program.js';
import { gatewayCheckCommand } from './commands/gateway-check.js';
import { simulatedRailCommands } from './commands/simulated-rail.js';
import { webhookListenCommand } from './commands/webhooks-listen.js';

/**
 * The operators' command line, and what only those need who write a gateway, a receiver or the
 * service itself.
 */
export function buildDevelopmentProgram(): Command {
  const program = buildProgram();
  addCommands(groupOf(program, 'rails'), { ...simulatedRailCommands, check: gatewayCheckCommand });
  addCommands(groupOf(program, 'webhooks'), { listen: webhookListenCommand });
  return program;
}

function groupOf(program: Command, name: string): Command {
  const found = program.commands.find((command) => command.name() === name);
  if (found === undefined) throw new Error(`the command line has no ${name}`);
  return found;
}
