import { Random } from '../ledgers/random.js';

/** The sizes of the ledger writer's groups, from its histogram (`ledger_group_commands`). */
export interface GroupHistogram {
  /** Groups of at most `upTo` commands that are not in a smaller bucket. */
  readonly buckets: readonly { readonly upTo: number; readonly groups: number }[];
  readonly commands: number;
  readonly groups: number;
}

const LINE = /^ledger_group_commands_(?:bucket\{le="([^"]+)"\}|(sum)|(count)) (\S+)$/gm;

/** Reads the histogram from the text of the metrics page. */
export function parseGroupSizes(metrics: string): GroupHistogram {
  const buckets: { upTo: number; groups: number }[] = [];
  let commands = 0;
  let groups = 0;
  let below = 0;
  for (const [, le, sum, , value] of metrics.matchAll(LINE)) {
    const number = Number(value);
    if (le !== undefined) {
      if (le !== '+Inf') buckets.push({ upTo: Number(le), groups: number - below });
      below = number;
    } else if (sum !== undefined) commands = number;
    else groups = number;
  }
  if (buckets.length === 0) throw new Error('the metrics page has no ledger_group_commands');
  return { buckets, commands, groups };
}

/** Returns the groups posted between two readings. */
export function groupsBetween(before: GroupHistogram, after: GroupHistogram): GroupHistogram {
  return {
    buckets: after.buckets.map(({ upTo, groups }, index) => ({
      upTo,
      groups: groups - (before.buckets[index]?.groups ?? 0),
    })),
    commands: after.commands - before.commands,
    groups: after.groups - before.groups,
  };
}

/**
 * A size for each group, in random order. A histogram does not show the sizes within a bucket, so they are spread
 * evenly and then shifted until they sum to the number of commands, which it does show.
 */
export function sizesOf({ buckets, commands }: GroupHistogram): number[] {
  const ranges = buckets.flatMap(({ upTo, groups }, index) => {
    const from = (buckets[index - 1]?.upTo ?? 0) + 1;
    return Array.from({ length: groups }, (_, place) => ({
      from,
      upTo,
      size: Math.round(from + ((upTo - from) * (place + 0.5)) / groups),
    }));
  });
  let missing = commands - ranges.reduce((sum, { size }) => sum + size, 0);
  while (missing !== 0) {
    const step = Math.sign(missing);
    const movable = ranges.filter(
      ({ from, upTo, size }) => size + step >= from && size + step <= upTo,
    );
    if (movable.length === 0) break;
    for (const range of movable.slice(0, Math.abs(missing))) {
      range.size += step;
      missing -= step;
    }
  }
  return new Random(3).shuffle(ranges.map(({ size }) => size));
}
