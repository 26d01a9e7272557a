import { basename } from 'node:path';
import type { Command, Help, HelpConfiguration, Option } from 'commander';
import { CURRENT_VERSION } from '../core/api-version.js';
import { packageVersion } from '../http/metrics.js';

/** Command with which the user started the program, for help and remarks. */
export const PROGRAM = [process.argv0, basename(process.argv[1] ?? '')].some((name) =>
  name.startsWith('money-ops'),
)
  ? 'money-ops'
  : 'npm run ops --';

/** Advice on an alias that the shell took for a variable. */
export const QUOTED = "quote an alias, as in '$ana', because the shell replaces $ana";

/** Adds the advice to the error about an account or text that is missing. */
export function withAdvice(error: string): string {
  const mayBeAlias = /missing.*'(account|text|resource)'|'--account/.test(error);
  return mayBeAlias ? `${error.trimEnd()}: ${QUOTED}\n` : error;
}

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
  const options = helper.visibleOptions(command);
  const isOwn = (one: Option): boolean => isProgram || command.options.includes(one);
  const globalOptions = [
    ...helper.visibleGlobalOptions(command).filter(({ long }) => long !== '--version'),
    ...options.filter((one) => !isOwn(one)),
  ];
  const commands = helper
    .visibleCommands(command)
    .filter((one) => isProgram || one.name() !== 'help');
  const width = helper.padWidth(command, helper);
  const list = (heading: string, items: readonly (readonly [term: string, text: string])[]) => {
    const lines = items.map(([term, text]) => helper.formatItem(term, width, text, helper));
    return helper.formatItemList(heading, lines, helper);
  };
  const listOptions = (heading: string, items: readonly Option[]) =>
    list(
      heading,
      items.map((one) => [helper.optionTerm(one), helper.optionDescription(one)]),
    );
  const groups = helper.groupItems(commands, commands, (one) => one.helpGroup() || 'Commands:');
  const texts = (paragraphs.get(command) ?? []).filter((text) => text !== undefined);
  return [
    helper.boxWrap(helper.commandDescription(command), helper.helpWidth ?? 80),
    '',
    `Usage: ${helper.commandUsage(command)}`,
    '',
    ...Array.from(groups).flatMap(([heading, items]) =>
      list(
        heading,
        items.map((one) => [helper.subcommandTerm(one), helper.subcommandDescription(one)]),
      ),
    ),
    ...listOptions('Options:', options.filter(isOwn)),
    ...texts.flatMap((text) => [text.replaceAll(/^\n+|\s+$/g, ''), '']),
    ...listOptions('Global options:', globalOptions),
  ].join('\n');
}

export const HELP: HelpConfiguration = {
  showGlobalOptions: true,
  formatHelp,
  subcommandTerm: (command) =>
    [
      command.name(),
      ...command.registeredArguments.map((one) =>
        one.required ? `<${one.name()}${one.variadic ? '...' : ''}>` : `[${one.name()}]`,
      ),
    ].join(' '),
};
