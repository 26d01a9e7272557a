import type { Command, Option } from 'commander';
import { type CommandDefinition, localCommand } from '../command.js';
import { acceptedValuesOf, oneOf } from '../inputs.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const NAME = 'money-ops';

interface Word {
  readonly word: string;
  readonly meaning: string;
}

/**
 * The words that can follow a place: a path and the word before, as `/tenants/add --network`, or a
 * path alone with any word before. Patterns of the shell's `case`, the first that fits applies.
 */
type Completions = readonly (readonly [place: string, words: readonly Word[]])[];

export const completionCommand: CommandDefinition = (program, usage) => {
  localCommand({
    summary: `print a script that completes commands and options in a shell: ${SHELLS.join(', ')}`,
    explanation: `
In ~/.bashrc:                  source <(money-ops completion bash)
In ~/.zshrc, after compinit:   source <(money-ops completion zsh)
In ~/.config/fish/config.fish: money-ops completion fish | source
It completes the program money-ops, which npm links (npm link, or npm install of the package).`,
    examples: ['completion bash', 'completion zsh', 'completion fish'],
    input: { shell: oneOf(SHELLS) },
    run: (output, { shell }) => output.verbatim(completionScript(program, shell)),
  })(program, usage);
};

export function completionScript(program: Command, shell: Shell): string {
  const globals = program.options.filter(({ long }) => long !== '--version');
  const completions = completionsOf(program, '', globals);
  const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
  return scripts[shell](pathsOf(program), completions);
}

function completionsOf(command: Command, path: string, globals: readonly Option[]): Completions {
  const options = path === '' ? command.options : [...command.options, ...globals];
  const valuesOf = (name: string): readonly Word[] =>
    (acceptedValuesOf(command)[name] ?? []).map((word) => ({ word, meaning: name }));
  const words = [
    ...command.commands.map((child) => ({ word: child.name(), meaning: child.description() })),
    ...command.registeredArguments.flatMap((argument) => valuesOf(argument.name())),
    ...options.map(({ long, description }) => ({ word: long ?? '', meaning: description })),
    { word: '--help', meaning: 'show its help' },
  ];
  const ofOptions = options.flatMap(({ long }): Completions => {
    const values = valuesOf(long?.slice(2) ?? '');
    return values.length === 0 ? [] : [[`'${path} ${long ?? ''}'`, values]];
  });
  return [
    ...ofOptions,
    [`'${path} '*`, words],
    ...command.commands.flatMap((child) =>
      completionsOf(child, `${path}/${child.name()}`, globals),
    ),
  ];
}

function pathsOf(command: Command, path = ''): readonly string[] {
  return command.commands.flatMap((child) => {
    const own = `${path}/${child.name()}`;
    return [own, ...pathsOf(child, own)];
  });
}

/** Returns a script that finds the command before the cursor. Ignores words of other kinds. */
function positionScript(paths: readonly string[], words: string): string {
  return `  local at= word
  for word in ${words}; do
    case "$at/$word" in
      ${paths.join(' | ')}) at="$at/$word" ;;
    esac
  done`;
}

function casesScript(completions: Completions, assign: (words: readonly Word[]) => string): string {
  const cases = completions.map(([place, words]) => `    ${place}) ${assign(words)} ;;`);
  return `  case "$at $previous" in
${cases.join('\n')}
  esac`;
}

/** Prints the names of the tenants, for the option --tenant. */
const LIST_TENANTS = `${NAME} tenants list --json 2>/dev/null </dev/null | sed -n 's/^ *"name": "\\(.*\\)",$/\\1/p'`;
const TENANTS = `_money_ops_tenants() {
  ${LIST_TENANTS}
}`;

function bashScript(paths: readonly string[], completions: Completions): string {
  return `# Completes ${NAME} in bash: source <(${NAME} completion bash)
${TENANTS}
_money_ops() {
${positionScript(paths, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  local words= name current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  if [[ $previous == --tenant ]]; then
    COMPREPLY=()
    while IFS= read -r name; do
      if [[ $name == "$current"* ]]; then COMPREPLY+=("$(printf %q "$name")"); fi
    done < <(_money_ops_tenants)
    return 0
  fi
${casesScript(completions, (words) => `words='${words.map(({ word }) => word).join(' ')}'`)}
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _money_ops ${NAME}
`;
}

function zshScript(paths: readonly string[], completions: Completions): string {
  const item = ({ word, meaning }: Word): string => {
    const text = `${word.replaceAll(':', String.raw`\:`)}:${meaning}`;
    return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  };
  return `#compdef ${NAME}
# Completes ${NAME} in zsh: source <(${NAME} completion zsh), after compinit
${TENANTS}
_money_ops() {
${positionScript(paths, '"${(@)words[2,CURRENT-1]}"')}
  local -a found
  local previous="\${words[CURRENT-1]}"
  if [[ $previous == --tenant ]]; then
    found=("\${(@f)$(_money_ops_tenants)}")
    compadd -a found
    return
  fi
${casesScript(completions, (words) => `found=(${words.map(item).join(' ')})`)}
  _describe '${NAME}' found || _files
}
compdef _money_ops ${NAME}
`;
}

function fishScript(paths: readonly string[], completions: Completions): string {
  const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
  const cases = completions.map(([place, words]) => {
    const lines = words.flatMap(({ word, meaning }) => [quoted(word), quoted(meaning)]);
    // Fish expands a pattern of files unless it is quoted.
    return `    case ${place.replace("'*", "*'")}\n      printf '%s\\t%s\\n' ${lines.join(' ')}`;
  });
  return `# Completes ${NAME} in fish: ${NAME} completion fish | source
function _money_ops
  set -l words (commandline -opc)
  set -l at ''
  for word in $words[2..-1]
    switch "$at/$word"
      case ${paths.join(' ')}
        set at "$at/$word"
    end
  end
  if test "$words[-1]" = --tenant
    ${LIST_TENANTS}
    return
  end
  switch "$at $words[-1]"
${cases.join('\n')}
  end
end
complete -c ${NAME} -f -a '(_money_ops)'
`;
}
