import { type FileHandle, open } from 'node:fs/promises';
import { importAccounts, type ImportDeps } from '../../accounts/importing.js';
import type { Uuid } from '../../core/ids.js';
import { OpsError } from '../failures.js';
import {
  type AccountLines,
  type LineProblem,
  problemsOf,
  type ReadLine,
  type ImportLine,
} from './account-lines.js';
import type { CsvLine } from './csv-lines.js';
import { csvLines } from '../../spreadsheets/writing/cells.js';

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
  const good = group.filter((line): line is ImportLine => 'wanted' in line);
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

const HEADER = 'line,column,code,value,message\n';

/** The file to which an import's bad lines are written as CSV, as they are found. */
export class ReportFile {
  private constructor(private readonly file: FileHandle) {}

  /**
   * Creates or overwrites the file, readable only by its owner because it has personal data of the
   * import. Throws OpsError.
   */
  static async create(path: string): Promise<ReportFile> {
    try {
      const file = await open(path, 'w', 0o600);
      await file.write(HEADER);
      return new ReportFile(file);
    } catch (failure) {
      throw new OpsError(
        `${path} cannot be written: ${failure instanceof Error ? failure.message : String(failure)}`,
      );
    }
  }

  async write(problems: readonly LineProblem[]): Promise<void> {
    if (problems.length === 0) return;
    const rows = problems.map(({ line, column, code, value, message }) => [
      String(line),
      column,
      code,
      value,
      message,
    ]);
    await this.file.write(csvLines(rows, [], '\n'));
  }

  close(): Promise<void> {
    return this.file.close();
  }
}
