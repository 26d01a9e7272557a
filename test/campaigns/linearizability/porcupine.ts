import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { importScript } from '../../helpers/scripts.js';
import { ROOT } from '../../helpers/service-process.js';

/** The checker in Go beside this file, which judges histories with porcupine. */

interface Verdict {
  readonly file: string;
  readonly group: number;
  readonly result: 'Ok' | 'Illegal' | 'Unknown';
  /** For an illegal history, the earliest requests that the longest order leaves out. */
  readonly left?: readonly unknown[];
}

const execute = promisify(execFile);
const SOURCE = join(ROOT, 'test/campaigns/linearizability');
const PROGRAM = join(ROOT, '.run/linearizability');
const MAX_OUTPUT = 64 * 1024 * 1024;

export class Porcupine {
  private constructor() {}

  /** Builds the checker. Returns null if this machine has no Go, or if Go cannot fetch porcupine. */
  static async build(): Promise<Porcupine | null> {
    const { findProgram } = await importScript<{ findProgram(name: string): string | undefined }>(
      'run.mjs',
    );
    const go = findProgram('go');
    if (go === undefined) return null;
    const isFetched = await execute(go, ['mod', 'download'], { cwd: SOURCE }).then(
      () => true,
      () => false,
    );
    if (!isFetched) return null;
    await execute(go, ['build', '-o', PROGRAM, '.'], { cwd: SOURCE });
    return new Porcupine();
  }

  /** The verdict on each group of each file. */
  async judge(files: readonly string[]): Promise<readonly Verdict[]> {
    const { stdout, code } = await execute(PROGRAM, files, { maxBuffer: MAX_OUTPUT }).then(
      (done) => ({ ...done, code: 0 }),
      (failure: { stdout: string; code: unknown }) => failure,
    );
    // 1 for histories that are not linearizable.
    assert(code === 0 || code === 1, `the checker ended with ${String(code)}`);
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Verdict);
  }
}
