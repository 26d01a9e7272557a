export class Deadline {
  private constructor(private readonly endsAt: number) {}

  static afterMs(ms: number): Deadline {
    return new Deadline(performance.now() + ms);
  }

  static latestOf(deadlines: readonly [Deadline, ...Deadline[]]): Deadline {
    return new Deadline(Math.max(...deadlines.map((deadline) => deadline.endsAt)));
  }

  leftMs(): number {
    return Math.max(0, Math.ceil(this.endsAt - performance.now()));
  }

  passed(): boolean {
    return performance.now() >= this.endsAt;
  }
}
