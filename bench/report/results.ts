import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../options.js';
import type { Measured } from '../row.js';
import type { Machine } from './machine.js';

export type RowResult =
  | {
      readonly name: string;
      readonly title: string;
      readonly measured: Measured;
      readonly ratios: readonly number[];
    }
  | { readonly name: string; readonly title: string; readonly failure: string };

interface Results {
  readonly date: string;
  readonly machine: Machine;
  readonly options: Options;
  readonly rows: readonly RowResult[];
}

/** Returns whether every row was measured and meets its targets. */
export function meetsAllTargets({ rows }: Results): boolean {
  return rows.every(
    (row) => 'measured' in row && row.measured.targets.every((target) => target.isMet),
  );
}

/**
 * Writes the results under their date as JSON, and the table as latest.md, for docs/performance.md. Returns
 * the JSON's path.
 */
export function writeResults(folder: string, results: Results): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${results.date.replaceAll(':', '-')}.json`);
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(folder, 'latest.md'), markdownTable(results));
  return path;
}

/** The table of docs/performance.md. */
export function markdownTable(results: Results): string {
  const { machine, date, options } = results;
  const lines = results.rows.map((row) => {
    if ('failure' in row)
      return `| ${row.title} | failed: ${row.failure.split('\n')[0]} | | | no |`;
    const { figures, baseline, ratio, targets } = row.measured;
    const targetText = targets.map(({ text, isMet }) => (isMet ? text : `**${text}**`)).join('; ');
    const passed =
      targets.length === 0 ? '–' : targets.every(({ isMet }) => isMet) ? 'yes' : '**no**';
    const spread =
      row.ratios.length === 1
        ? ''
        : ` (${row.ratios.at(0)?.toFixed(2)} to ${row.ratios.at(-1)?.toFixed(2)})`;
    return `| ${row.title} | ${figures} | ${baseline} | ${ratio.toFixed(2)}${spread} | ${targetText} | ${passed} |`;
  });
  return [
    `Measured on ${date.slice(0, 10)}: ${machine.cpus} cores (${machine.cpuModel}), ${machine.memoryGiB} GiB, ` +
      `${machine.system}, Node ${machine.node}, ${machine.database}, commit ${machine.commit}; ` +
      `${options.seconds} s a row, ${options.repeat === 1 ? 'once' : `the median of ${options.repeat}`}; database, service and load generator on the one machine, whose load average was ` +
      `${machine.loadBefore.toFixed(2)} before.` +
      (options.isQuick ? ' **A quick run: not for comparing.**' : ''),
    '',
    '| Workload | Measured | Baseline of the same run | Ratio | Target | Met |',
    '|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}
