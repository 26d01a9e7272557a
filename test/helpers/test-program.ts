import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';

/** A test run that is ended in the middle leaves none of them behind. */
const children = new Set<ChildProcess>();
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')));

/** Ends the child with this process, in every case. */
export function tieToThisProcess(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}

/** A program that a test runs, freezes and ends. It goes with this process. */
export abstract class TestProgram {
  protected child: ChildProcess | undefined;

  protected run(
    command: string,
    args: readonly string[],
    options: SpawnOptions = { stdio: 'ignore' },
  ): ChildProcess {
    this.child = spawn(command, args, options);
    tieToThisProcess(this.child);
    return this.child;
  }

  get isRunning(): boolean {
    return (
      this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null
    );
  }

  /** Stops it from doing anything, connections and all, until `thaw`. */
  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  /** Ends it as a power cut would. */
  kill(): Promise<number | null> {
    return this.end('SIGKILL');
  }

  /** Asks it to end. Returns its exit code. */
  stop(): Promise<number | null> {
    return this.end('SIGTERM');
  }

  private async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.child === undefined) return null;
    const { child } = this;
    if (this.isRunning) {
      const exit = once(child, 'exit');
      child.kill(signal);
      await exit;
    }
    return child.exitCode;
  }
}

/** A program with a folder of its own, which is removed with it. */
export abstract class FolderProgram extends TestProgram {
  constructor(readonly folder: string) {
    super();
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}
