import type { Command } from 'commander';
import { PROGRAM } from './help.js';

const MOST = 5;
/** A name with more changed letters, or a larger part of them, was hardly meant. */
const MAX_CHANGES = 3;
const MAX_PART = 0.5;

/** Names by other words for them. */
const SYNONYMS: Readonly<Record<string, string>> = { paid: 'completed', cancelled: 'canceled' };

/** Returns the names that contain the text or differ in a few letters, the most similar first. */
export function similarTo(text: string, names: readonly string[]): readonly string[] {
  const lower = text.toLowerCase();
  const given = SYNONYMS[lower] ?? lower;
  if (given === '') return [];
  const near = names.flatMap((name) => {
    const own = name.toLowerCase();
    if (own.includes(given)) return [{ name, changes: 0 }];
    const changes = changesBetween(given, own);
    return changes <= Math.min(MAX_CHANGES, given.length * MAX_PART) ? [{ name, changes }] : [];
  });
  return near
    .toSorted((one, other) => one.changes - other.changes)
    .slice(0, MOST)
    .map(({ name }) => name);
}

/** Verbs that the groups of commands use for the same. */
const SAME_VERBS = [
  'list show status get',
  'add open set issue propose record reserve create',
  'remove clear close revoke release cancel deactivate unreserve delete',
].map((verbs) => verbs.split(' '));

/** Describes a group of commands, which answers an unknown one with those that do the same or are similar. */
export function withSuggestions(group: Command, summary: string): Command {
  return group.description(summary).on('command:*', ([word = '']: readonly string[]) => {
    const names = group.commands.map((one) => one.name());
    const same = SAME_VERBS.find((verbs) => verbs.includes(word)) ?? [];
    const meant = new Set([
      ...names.filter((name) => same.includes(name)),
      ...similarTo(word, names),
    ]);
    const advice = meant.size > 0 ? `\n(Did you mean ${[...meant].join(' or ')}?)` : '';
    group.error(`error: unknown command '${word}'${advice}`, { code: 'commander.unknownCommand' });
  });
}

/** Returns how many letters must be added, removed or replaced. */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [at, second] of [...other].entries()) {
      const replaced = (row[at] ?? 0) + Number(letter !== second);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Returns the end of an error: the names that may have been meant, or a command that helps. */
export function orSimilar(names: readonly string[], help: string): string {
  return names.length > 0 ? `: did you mean ${names.join(', ')}?` : `: ${PROGRAM} ${help}`;
}

/** Returns the end of an error that lists the valid words: those that may have been meant, unless all are. */
export function didYouMean(text: unknown, names: readonly string[]): string {
  const similar = similarTo(String(text), names);
  const isSome = similar.length > 0 && similar.length < names.length;
  return isSome ? ` (did you mean ${similar.join(', ')}?)` : '';
}
