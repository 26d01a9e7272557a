import type { RecipientKey } from '../../src/payouts/rails/destinations.js';
import {
  type KeyHolder,
  type Rail,
  type RailOrder,
  RailUnresponsive,
} from '../../src/payouts/rails/rail.js';
import type { RailReport } from '../../src/payouts/rails/rail.js';

export type Answer = RailReport | null | 'silent';

/** A rail that says what it is told to, one answer after the other, and remembers what it was given: it never deduplicates. */
export class ScriptedRail implements Rail {
  readonly given: RailOrder[] = [];
  readonly asked: string[] = [];
  readonly voided: string[] = [];
  readonly resolved: RecipientKey[] = [];
  private answers: Answer[];

  constructor(...answers: Answer[]) {
    this.answers = answers;
  }

  /** From now on this, and what was given and asked before is forgotten. */
  willSay(...answers: Answer[]): void {
    this.answers = answers;
    for (const heard of [this.given, this.asked, this.voided]) heard.length = 0;
  }

  submit(order: RailOrder): Promise<RailReport> {
    this.given.push(order);
    const answer = this.next();
    if (answer === null) throw new RailUnresponsive('nothing');
    return Promise.resolve(answer);
  }

  async status(key: string): Promise<RailReport | null> {
    this.asked.push(key);
    return Promise.resolve(this.next());
  }

  async void(key: string): Promise<RailReport | null> {
    this.voided.push(key);
    return Promise.resolve(this.next());
  }

  /** Answers about keys from now on. */
  holders: (KeyHolder | null | 'silent')[] = [];

  resolve(key: RecipientKey): Promise<KeyHolder | null> {
    this.resolved.push(key);
    const holder = this.holders.shift();
    if (holder === undefined || holder === 'silent') throw new RailUnresponsive('no answer');
    return Promise.resolve(holder);
  }

  list(): Promise<null> {
    return Promise.resolve(null);
  }

  private next(): RailReport | null {
    const answer = this.answers.shift();
    if (answer === undefined || answer === 'silent') throw new RailUnresponsive('no answer');
    return answer;
  }
}

export function say(
  status: RailReport['status'],
  failureCode: RailReport['failureCode'] = null,
  reference: string | null = 'R-1',
): RailReport {
  return { status, reference, failureCode };
}
