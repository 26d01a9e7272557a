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

/** Values that the program itself prints: names of tenants and staff, aliases of a tenant, columns of a list. */
type Source = 'tenants' | 'staff' | 'aliases' | 'columns';

/** Options of any command whose values the program is asked for. */
const SOURCES: Readonly<Record<string, Source>> = {
  '--tenant': 'tenants',
  '--as': 'staff',
  '--actor': 'staff',
  '--account': 'aliases',
  '--columns': 'columns',
};

/**
 * The words that can follow a place: a path and the word before, as `/tenants/add --network`, or a path alone
 * with any word before. Patterns of the shell's `case`, the first that fits applies.
 */
interface Completion {
  readonly place: string;
  readonly words: readonly Word[];
  readonly source: Source | undefined;
}
type Completions = readonly Completion[];

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
  const ofSources = Object.entries(SOURCES).map(([option, source]) => ({
    place: `*' ${option}'`,
    words: [],
    source,
  }));
  const completions = [...ofSources, ...completionsOf(program, '', globals)];
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
    const place = `'${path} ${long ?? ''}'`;
    return values.length === 0 ? [] : [{ place, words: values, source: undefined }];
  });
  const sources = command.registeredArguments.map((argument) => sourceOf(path, argument.name()));
  return [
    ...ofOptions,
    { place: `'${path} '*`, words, source: sources.find((source) => source !== undefined) },
    ...command.commands.flatMap((child) =>
      completionsOf(child, `${path}/${child.name()}`, globals),
    ),
  ];
}

/** Returns what an existing resource, which an argument names, is listed by. */
function sourceOf(path: string, argument: string): Source | undefined {
  if (argument === 'tenant') return 'tenants';
  if (argument === 'account') return 'aliases';
  const isOfStaff = /^\/(login|staff\/.*)$/.test(path) && argument === 'name';
  return isOfStaff ? 'staff' : undefined;
}

function pathsOf(command: Command, path = ''): readonly string[] {
  return command.commands.flatMap((child) => {
    const own = `${path}/${child.name()}`;
    return [own, ...pathsOf(child, own)];
  });
}

/**
 * Returns a script that finds the command before the cursor, and the tenant that --tenant names.
 * Ignores words of other kinds.
 */
function positionScript(paths: readonly string[], words: string): string {
  return `  local at= tenant= last= word
  for word in ${words}; do
    if [[ $last == --tenant ]]; then tenant="\${word//[\\\\\\"\\']/}"; fi
    last="$word"
    case "$at/$word" in
      ${paths.join(' | ')}) at="$at/$word" ;;
    esac
  done`;
}

function casesScript(completions: Completions, assign: (words: readonly Word[]) => string): string {
  const cases = completions.map(({ place, words, source }) => {
    const assigned = source === undefined ? assign(words) : `${assign(words)} source=${source}`;
    return `    ${place}) ${assigned} ;;`;
  });
  return `  case "$at $previous" in
${cases.join('\n')}
  esac`;
}

const valuesOf = (field: string): string =>
  String.raw`2>/dev/null </dev/null | sed -n 's/^ *"${field}": "\(.*\)",$/\1/p'`;
/** Commands that print what a source has. A list names its columns if it is asked for a wrong one. */
const LISTS = {
  tenants: `${NAME} tenants list --json ${valuesOf('name')}`,
  staff: `${NAME} staff list --json ${valuesOf('name')}`,
  aliases: (tenant: string) =>
    `${NAME} accounts list --tenant "${tenant}" --limit 10000 --json ${valuesOf('alias')}`,
  columns: (command: string) =>
    String.raw`${NAME} ${command} --columns '?' 2>&1 </dev/null | sed -n 's/.*there is no ?, only //p' | tr -d ' ' | tr , '\n'`,
};
/** Prints the names that a source has, at a command and for a tenant. */
const NAMES = `_money_ops_names() {
  case "$1" in
    tenants) ${LISTS.tenants} ;;
    staff) ${LISTS.staff} ;;
    aliases) if [[ -n $3 ]]; then ${LISTS.aliases('$3')}; fi ;;
    columns) eval "set -- $2"; ${LISTS.columns('"$@"')} ;;
  esac
}`;

function bashScript(paths: readonly string[], completions: Completions): string {
  return `# Completes ${NAME} in bash: source <(${NAME} completion bash)
${NAMES}
_money_ops() {
${positionScript(paths, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  local words= source= name prefix= current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local start="\${current//[\\\\\\"\\']/}"
${casesScript(completions, (words) => `words='${words.map(({ word }) => word).join(' ')}'`)}
  if [[ $source == columns ]]; then words="$(_money_ops_names columns "\${at//\\// }")" source=; fi
  # After a comma, another one of several.
  if [[ $current == *,* ]]; then prefix="\${current%,*},"; fi
  COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "\${current##*,}")) || true
  if [[ -z $source || $current == -* ]]; then return 0; fi
  while IFS= read -r name; do
    if [[ $name != "$start"* ]]; then continue; fi
    if [[ $current != \\'* ]]; then name="$(printf %q "$name")"; fi
    COMPREPLY+=("$name")
  done < <(_money_ops_names "$source" "$at" "$tenant")
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
${NAMES}
_money_ops() {
${positionScript(paths, '"${(@)words[2,CURRENT-1]}"')}
  local -a found names
  local source= previous="\${words[CURRENT-1]}"
${casesScript(completions, (words) => `found=(${words.map(item).join(' ')})`)}
  if [[ -n $source && $PREFIX != -* ]]; then
    names=("\${(@f)$(_money_ops_names "$source" "\${at//\\// }" "$tenant")}")
  fi
  # After a comma, another one of several.
  compset -P '*,'
  compadd -a names
  if (( $#found )); then _describe '${NAME}' found || _files; fi
}
compdef _money_ops ${NAME}
`;
}

function fishScript(paths: readonly string[], completions: Completions): string {
  const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
  const cases = completions.map(({ place, words, source }) => {
    const lines = words.flatMap(({ word, meaning }) => [quoted(word), quoted(meaning)]);
    const print = lines.length === 0 ? [] : [`printf '%s\\t%s\\n' ${lines.join(' ')}`];
    const ask = source === undefined ? [] : [`_money_ops_names ${source} "$at" "$tenant"`];
    // Fish expands a pattern of files unless it is quoted.
    const pattern = `'${place.replaceAll("'", '')}'`;
    return `    case ${pattern}\n${[...print, ...ask].map((line) => `      ${line}\n`).join('')}`;
  });
  return `# Completes ${NAME} in fish: ${NAME} completion fish | source
function _money_ops_names
  switch $argv[1]
    case tenants
      ${LISTS.tenants}
    case staff
      ${LISTS.staff}
    case aliases
      test -n "$argv[3]"; and ${LISTS.aliases('$argv[3]')}
    case columns
      ${LISTS.columns('(string split -n / $argv[2])')}
  end
end
function _money_ops
  set -l words (commandline -opc)
  set -l at ''
  set -l tenant ''
  set -l last ''
  for word in $words[2..-1]
    test "$last" = --tenant; and set tenant $word
    set last $word
    switch "$at/$word"
      case ${paths.join(' ')}
        set at "$at/$word"
    end
  end
  # After a comma, another one of several.
  set -l prefix (string match -r '.*,' -- (commandline -ct))
  switch "$at $words[-1]"
${cases.join('')}  end | string replace -r '^' "$prefix"
end
complete -c ${NAME} -f -a '(_money_ops)'
`;
}
