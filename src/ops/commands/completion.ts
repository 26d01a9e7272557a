import type { Command, Option } from 'commander';
import { type CommandDefinition, localCommand } from '../command.js';
import { oneOf } from '../inputs.js';

const SHELLS = ['bash', 'zsh'] as const;
type Shell = (typeof SHELLS)[number];

const NAME = 'money-ops';

interface Word {
  readonly word: string;
  readonly meaning: string;
}

/** The words that can follow a command, by its path: `/tenants/add`, empty for the program. */
type Completions = readonly (readonly [path: string, words: readonly Word[]])[];

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
  const globals = program.options.filter(({ long }) => long !== '--version');
  const completions = completionsOf(program, '', globals);
  return shell === 'bash' ? bashScript(completions) : zshScript(completions);
}

function completionsOf(command: Command, path: string, globals: readonly Option[]): Completions {
  const options = path === '' ? command.options : [...command.options, ...globals];
  const words = [
    ...command.commands.map((child) => ({ word: child.name(), meaning: child.description() })),
    ...options.map(({ long, description }) => ({ word: long ?? '', meaning: description })),
    { word: '--help', meaning: 'show its help' },
  ];
  return [
    [path, words],
    ...command.commands.flatMap((child) =>
      completionsOf(child, `${path}/${child.name()}`, globals),
    ),
  ];
}

/** Returns a script that finds the command before the cursor. Ignores words of other kinds. */
function positionScript(completions: Completions, words: string): string {
  const paths = completions.flatMap(([path]) => (path === '' ? [] : path));
  return `  local at= word
  for word in ${words}; do
    case "$at/$word" in
      ${paths.join(' | ')}) at="$at/$word" ;;
    esac
  done`;
}

function casesScript(completions: Completions, assign: (words: readonly Word[]) => string): string {
  const cases = completions.map(([path, words]) => `    '${path}') ${assign(words)} ;;`);
  return `  case "$at" in
${cases.join('\n')}
  esac`;
}

function bashScript(completions: Completions): string {
  return `# Completes ${NAME} in bash: source <(${NAME} completion bash)
_money_ops() {
${positionScript(completions, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  local words=
${casesScript(completions, (words) => `words='${words.map(({ word }) => word).join(' ')}'`)}
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _money_ops ${NAME}
`;
}

function zshScript(completions: Completions): string {
  const item = ({ word, meaning }: Word): string => {
    const text = `${word.replaceAll(':', String.raw`\:`)}:${meaning}`;
    return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  };
  return `#compdef ${NAME}
# Completes ${NAME} in zsh: source <(${NAME} completion zsh), after compinit
_money_ops() {
${positionScript(completions, '"${(@)words[2,CURRENT-1]}"')}
  local -a found
${casesScript(completions, (words) => `found=(${words.map(item).join(' ')})`)}
  _describe '${NAME}' found || _files
}
compdef _money_ops ${NAME}
`;
}
