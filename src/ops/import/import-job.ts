import { importAccounts, type ImportDeps } from '../../accounts/importing.js';
import type { Uuid } from '../../core/ids.js';
import {
  type AccountLines,
  type LineProblem,
  problemsOf,
  type ReadLine,
  type WantedLine,
} from './account-lines.js';
import type { CsvLine } from './csv-lines.js';

const GROUP = 500;

/** The outcome of a line: its account was opened, was open already, or cannot be opened. */
type LineOutcome = 'opened' | 'known' | readonly LineProblem[];

/** Opens the accounts of valid lines in groups; yields a group's outcomes in file order. */
export async function* importLines(
  deps: ImportDeps,
  tenantId: Uuid,
  file: AsyncIterable<CsvLine>,
  lines: AccountLines,
): AsyncGenerator<readonly LineOutcome[]> {
  let group: ReadLine[] = [];
  for await (const line of file)
    if (group.push(lines.read(line)) === GROUP) {
      yield await importGroup(deps, tenantId, group);
      group = [];
    }
  yield await importGroup(deps, tenantId, group);
}

async function importGroup(
  deps: ImportDeps,
  tenantId: Uuid,
  group: readonly ReadLine[],
): Promise<LineOutcome[]> {
  const good = group.filter((line): line is WantedLine => 'wanted' in line);
  const outcomes = await importAccounts(
    deps,
    tenantId,
    good.map(({ wanted }) => wanted),
  );
  const outcomeOf = new Map(good.map((line, index) => [line, outcomes[index]]));
  return group.map((line) => {
    if ('problems' in line) return line.problems;
    const outcome = outcomeOf.get(line);
    if (outcome === undefined) throw new Error('a line has no outcome');
    return outcome.result === 'refused' ? problemsOf(line.line, outcome.refusal) : outcome.result;
  });
}
