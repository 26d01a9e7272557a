import { basename } from 'node:path';
import type { Command, Help, HelpConfiguration, Option } from 'commander';
import { CURRENT_VERSION } from '../db/entities/webhooks.js';
import { packageVersion } from '../http/metrics.js';

/** Command with which the user started the program, for help and remarks. */
export const PROGRAM = [process.argv0, basename(process.argv[1] ?? '')].some((name) =>
  name.startsWith('money-ops'),
)
  ? 'money-ops'
  : 'npm run ops --';

export function versionText(): string {
  return `${packageVersion()} (API ${CURRENT_VERSION})`;
}

/** Paragraphs of a command's help that follow its options. */
const paragraphs = new WeakMap<Command, readonly (string | undefined)[]>();

export function addParagraphs(command: Command, ...texts: readonly (string | undefined)[]): void {
  paragraphs.set(command, texts);
}

/** Formats a help: purpose, usage, commands, own options, explanations, global options. */
function formatHelp(command: Command, helper: Help): string {
  const isProgram = command.parent === null;
  const all = helper.visibleOptions(command);
  const isOwn = (one: Option): boolean => isProgram || command.options.includes(one);
  const globals = helper.visibleGlobalOptions(command).filter(({ long }) => long !== '--version');
  const optionItem = (one: Option) => [helper.optionTerm(one), helper.optionDescription(one)];
  const commands = helper
    .visibleCommands(command)
    .filter((one) => isProgram || one.name() !== 'help')
    .map((one) => [helper.subcommandTerm(one), helper.subcommandDescription(one)]);
  const options = all.filter(isOwn).map(optionItem);
  const others = [...globals, ...all.filter((one) => !isOwn(one))].map(optionItem);
  const terms = [...commands, ...options, ...others].map(([term = '']) => term.length);
  const list = (heading: string, items: readonly string[][]): string[] => {
    const lines = items.map(([term = '', text = '']) =>
      helper.formatItem(term, Math.max(...terms), text, helper),
    );
    return helper.formatItemList(heading, lines, helper);
  };
  const texts = (paragraphs.get(command) ?? []).filter((text) => text !== undefined);
  return [
    ...[helper.boxWrap(helper.commandDescription(command), helper.helpWidth ?? 80), ''],
    ...[`Usage: ${helper.commandUsage(command)}`, ''],
    ...[...list('Commands:', commands), ...list('Options:', options)],
    ...texts.flatMap((text) => [text.replaceAll(/^\n+|\s+$/g, ''), '']),
    ...list('Global options:', others),
  ].join('\n');
}

export const HELP: HelpConfiguration = {
  showGlobalOptions: true,
  formatHelp,
  subcommandTerm: (command) =>
    [
      command.name(),
      ...command.registeredArguments.map((one) =>
        one.required ? `<${one.name()}>` : `[${one.name()}]`,
      ),
    ].join(' '),
};
