import assert from 'node:assert/strict';
import type { Command } from 'commander';
import { buildProgram } from '../../src/ops/program.js';
import { needsOf } from '../../src/ops/staff/authorisation.js';
import { STAFF_ACTIONS } from '../../src/staff/rules.js';
import { Recorder } from '../conformance/recorder.js';

function leaves(command: Command, path = ''): [string, Command][] {
  const own = command.commands.flatMap((child) => leaves(child, `${path} ${child.name()}`));
  return command.commands.length === 0 ? [[path.trim(), command]] : own;
}

/** Returns a line of the table: the command with its arguments and options, and what it needs. */
function lineOf([path, command]: [string, Command]): string {
  const options = command.options.map(({ flags }) => flags);
  const needs = [needsOf(command)].flat().join(', ');
  return [`${path} ${command.usage()}`.replace(' [options]', '').trim(), ...options, needs].join(
    ' | ',
  );
}

describe('the table of commands', () => {
  const commands = leaves(buildProgram());

  it('every command has its recorded arguments, options and needed rights', () => {
    const recorder = new Recorder('command-table');
    for (const command of commands) recorder.addLine(lineOf(command));
    recorder.finish();
  });

  it('the command line can do every staff action', () => {
    const named = new Set<unknown>(commands.flatMap(([, command]) => needsOf(command)));
    for (const action of Object.keys(STAFF_ACTIONS)) assert.ok(named.has(action), action);
  });
});
