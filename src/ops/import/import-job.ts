import { importAccounts, type ImportDeps } from '../../accounts/importing.js';
import type { Uuid } from '../../core/ids.js';
import { type LineProblem, problemsOf, type ReadLine, type WantedLine } from './account-lines.js';

const GROUP = 500;

interface ImportWatchers {
  readonly onBadLine: (problems: readonly LineProblem[]) => Promise<void>;
  readonly onProgress: (done: number) => void;
}

/** Opens the accounts of valid lines in groups, and reports bad lines in file order. */
export class ImportJob {
  readonly counts = { lines: 0, opened: 0, known: 0, bad: 0 };
  private waiting: ReadLine[] = [];

  constructor(
    private readonly deps: ImportDeps,
    private readonly tenantId: Uuid,
    private readonly watchers: ImportWatchers,
  ) {}

  async take(line: ReadLine): Promise<void> {
    this.waiting.push(line);
    if (this.waiting.length >= GROUP) await this.finish();
  }

  async finish(): Promise<void> {
    const group = this.waiting;
    this.waiting = [];
    const good = group.filter((line): line is WantedLine => 'wanted' in line);
    const wanted = good.map((line) => line.wanted);
    const outcomes = await importAccounts(this.deps, this.tenantId, wanted);
    const outcomeOf = new Map(good.map((line, index) => [line, outcomes[index]]));
    for (const line of group) {
      this.counts.lines += 1;
      if ('problems' in line) await this.refuse(line.problems);
      else await this.count(line, outcomeOf.get(line));
    }
    this.watchers.onProgress(this.counts.lines);
  }

  private async count(
    { line }: WantedLine,
    outcome: Awaited<ReturnType<typeof importAccounts>>[number] | undefined,
  ): Promise<void> {
    if (outcome === undefined) throw new Error('a line has no outcome');
    if (outcome.result === 'refused') await this.refuse(problemsOf(line, outcome.refusal));
    else this.counts[outcome.result] += 1;
  }

  private async refuse(problems: readonly LineProblem[]): Promise<void> {
    this.counts.bad += 1;
    await this.watchers.onBadLine(problems);
  }
}
