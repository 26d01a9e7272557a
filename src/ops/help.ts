import { basename } from 'node:path';
import type { Command, Help, HelpConfiguration } from 'commander';
import { CURRENT_VERSION } from '../core/versions.js';
import { packageVersion } from '../http/metrics.js';

/** Name by which the command line was called, for its help and remarks. */
export const PROGRAM = [process.argv0, basename(process.argv[1] ?? '')].some((name) =>
  name.startsWith('money-ops'),
)
  ? 'money-ops'
  : 'npm run ops --';

export function versionText(): string {
  return `${packageVersion()} (API ${CURRENT_VERSION})`;
}

/** Paragraphs of a command's help that follow its options. */
const paragraphs = new WeakMap<Command, readonly string[]>();

export function addParagraphs(command: Command, texts: readonly string[]): void {
  paragraphs.set(command, texts);
}

/** Returns the options that every command takes, except --help. */
function optionsOfProgram(command: Command): Command['options'] {
  const { parent } = command;
  if (parent !== null) return optionsOfProgram(parent);
  return command.options.filter(({ long }) => long !== '--version');
}

/** Formats a help: purpose, usage, commands, own options, explanations, global options. */
function formatHelp(command: Command, helper: Help): string {
  const isProgram = command.parent === null;
  const all = helper.visibleOptions(command);
  const own = isProgram ? all : all.filter((option) => command.options.includes(option));
  const others = all.filter((option) => !own.includes(option));
  const option = (one: Command['options'][number]): Item => [
    helper.optionTerm(one),
    helper.optionDescription(one),
  ];
  const lists: readonly (readonly [heading: string, items: readonly Item[]])[] = [
    [
      'Commands:',
      helper
        .visibleCommands(command)
        .filter((one) => isProgram || one.name() !== 'help')
        .map((one) => [helper.subcommandTerm(one), helper.subcommandDescription(one)]),
    ],
    ['Options:', own.map(option)],
    ['Global options:', isProgram ? [] : [...optionsOfProgram(command), ...others].map(option)],
  ];
  const width = Math.max(...lists.flatMap(([, items]) => items.map(([term]) => term.length)));
  const [commands = [], options = [], globals = []] = lists.map(([heading, items]) => {
    const lines = items.map(([term, text]) => helper.formatItem(term, width, text, helper));
    return helper.formatItemList(heading, lines, helper);
  });
  return [
    ...[helper.boxWrap(helper.commandDescription(command), helper.helpWidth ?? 80), ''],
    ...[`Usage: ${helper.commandUsage(command)}`, ''],
    ...[...commands, ...options],
    ...(paragraphs.get(command) ?? []).flatMap((text) => [text.replaceAll(/^\n+|\s+$/g, ''), '']),
    ...globals,
  ].join('\n');
}

type Item = readonly [term: string, description: string];

export const HELP: HelpConfiguration = {
  formatHelp,
  subcommandTerm: (command) =>
    [
      command.name(),
      ...command.registeredArguments.map((one) =>
        one.required ? `<${one.name()}>` : `[${one.name()}]`,
      ),
    ].join(' '),
};
