import type { Command } from 'commander';
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
  const rails = groupOf(program, 'rails');
  for (const addTo of [...simulatedRailCommands, gatewayCheckCommand]) addTo(rails);
  webhookListenCommand(groupOf(program, 'webhooks'));
  return program;
}

function groupOf(program: Command, name: string): Command {
  const found = program.commands.find((command) => command.name() === name);
  if (found === undefined) throw new Error(`the command line has no ${name}`);
  return found;
}
