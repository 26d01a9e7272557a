import type { Command, Option } from 'commander';
import { type CommandDefinition, localCommand } from '../command.js';
import { oneOf } from '../inputs.js';

const SHELLS = ['bash', 'zsh'] as const;
type Shell = (typeof SHELLS)[number];

const NAME = 'money-ops';

/** The words that can follow a command. */
interface CompletionEntry {
  /** Path of the command, such as `/tenants/add`. Empty for the program itself. */
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly meaning: string }[];
}

export const completionCommand: CommandDefinition = (program, usage) => {
  localCommand({
    summary: `print a script that completes commands and options in a shell: ${SHELLS.join(', ')}`,
    explanation: `
In ~/.bashrc:                  source <(money-ops completion bash)
In ~/.zshrc, after compinit:   source <(money-ops completion zsh)
It completes the program money-ops, which npm links (npm link, or npm install of the package).`,
    examples: ['completion bash', 'completion zsh'],
    input: { shell: oneOf(SHELLS) },
    run: (output, { shell }) => output.verbatim(completionScript(program, shell)),
  })(program, usage);
};

export function completionScript(program: Command, shell: Shell): string {
  const entries = completionEntries(program, '', globalOptions(program));
  return shell === 'bash' ? bashScript(entries) : zshScript(entries);
}

function globalOptions(program: Command): readonly Option[] {
  return program.options.filter(({ long }) => long !== '--version');
}

function completionEntries(
  command: Command,
  path: string,
  globals: readonly Option[],
): CompletionEntry[] {
  const own = path === '' ? command.options : [...command.options, ...globals];
  const options = own.flatMap(({ long, description }) =>
    typeof long === 'string' ? [{ word: long, meaning: description }] : [],
  );
  const commands = command.commands.map((child) => ({
    word: child.name(),
    meaning: child.description(),
  }));
  const help = { word: '--help', meaning: 'explain it, with examples' };
  return [
    { path, words: [...commands, ...options, help] },
    ...command.commands.flatMap((child) =>
      completionEntries(child, `${path}/${child.name()}`, globals),
    ),
  ];
}

/** Returns a script that finds the command before the cursor. Ignores words of other kinds. */
function positionScript(entries: readonly CompletionEntry[], words: string): string {
  const paths = entries.flatMap(({ path }) => (path === '' ? [] : [path]));
  return `  local at= word
  for word in ${words}; do
    case "$at/$word" in
      ${paths.join(' | ')}) at="$at/$word" ;;
    esac
  done`;
}

function bashScript(entries: readonly CompletionEntry[]): string {
  const cases = entries.map(
    ({ path, words }) => `    '${path}') words='${words.map(({ word }) => word).join(' ')}' ;;`,
  );
  return `# Completes ${NAME} in bash: source <(${NAME} completion bash)
_money_ops() {
${positionScript(entries, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  local words=
  case "$at" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _money_ops ${NAME}
`;
}

function zshScript(entries: readonly CompletionEntry[]): string {
  const cases = entries.map(
    ({ path, words }) =>
      `    '${path}') found=(${words.map(({ word, meaning }) => zshItem(word, meaning)).join(' ')}) ;;`,
  );
  return `#compdef ${NAME}
# Completes ${NAME} in zsh: source <(${NAME} completion zsh), after compinit
_money_ops() {
${positionScript(entries, '"${(@)words[2,CURRENT-1]}"')}
  local -a found
  case "$at" in
${cases.join('\n')}
  esac
  _describe '${NAME}' found || _files
}
compdef _money_ops ${NAME}
`;
}

function zshItem(word: string, meaning: string): string {
  const text = `${word.replaceAll(':', String.raw`\:`)}:${meaning}`;
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
