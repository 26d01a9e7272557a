import { open, type FileHandle } from 'node:fs/promises';
import { csvLines } from '../../spreadsheets/writing/cells.js';
import { OpsError } from '../failures.js';
import type { LineProblem } from './account-lines.js';

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
