import assert from 'node:assert/strict';
import type { TestAnswer } from '../helpers/api.js';
import { answered, list, text, withQuery } from '../helpers/bank.js';
import type { ReadFilter } from './arbitraries.js';
import type { ActorName } from './operations.js';
import { type Expected, type Json, time } from './reference-state.js';
import type { ModelWorld } from './world.js';

/** How anything is read beside the reference. */

/** Pages that are read in the middle of a run; at its end all are. */
export const SOME_PAGES = 3;

export class Reading {
  constructor(private readonly world: ModelWorld) {}

  get(actor: ActorName, path: string): Promise<TestAnswer> {
    return this.world.ask(actor, 'GET', path);
  }

  /** At most this many pages. In a log that is followed upward, an empty page is the last one: that list has no end. */
  async walk(actor: ActorName, path: string, pages: number): Promise<Walked> {
    const items: Json[] = [];
    let next = path;
    for (let page = 0; page < pages; page += 1) {
      const { json } = answered(await this.get(actor, next), 200);
      const own = list(json.items);
      items.push(...own);
      if (json.next_cursor === null || own.length === 0) return { items, isWhole: true };
      next = withQuery(path, `cursor=${text(json.next_cursor)}`);
    }
    return { items, isWhole: false };
  }

  /** The parameters of the bounds on the time. */
  bounds({ sinceMs, untilMs }: TimeBounds): Record<string, string | null> {
    const ago = (ms: number | null) => (ms === null ? null : time(this.world.ledger.now - ms));
    return { 'created_at[gte]': ago(sinceMs), 'created_at[lte]': ago(untilMs) };
  }

  isWithin(at: number, { sinceMs, untilMs }: TimeBounds): boolean {
    const agoMs = this.world.ledger.now - at;
    return (sinceMs === null || agoMs <= sinceMs) && (untilMs === null || agoMs >= untilMs);
  }
}

type TimeBounds = Pick<ReadFilter, 'sinceMs' | 'untilMs'>;

interface Walked {
  readonly items: readonly Json[];
  readonly isWhole: boolean;
}

/** The rows that were read beside the expected ones: all, or as many as were read. */
export function pairs<T>(
  { items, isWhole }: Walked,
  expected: readonly T[],
): (readonly [Json, T])[] {
  if (isWhole) assert.equal(items.length, expected.length);
  else assert(items.length <= expected.length);
  return items.map((item, index) => [item, expected[index]!]);
}

export function nthOf<T>(items: readonly T[], nth: number): T | undefined {
  return items[nth % Math.max(1, items.length)];
}

/** The answer is what the reference says, in everything that it says. */
export function assertSame(answer: TestAnswer, expected: Expected): void {
  assert.deepEqual([answer.status, answer.code], [expected.status, expected.code], answer.text);
  if (expected.details !== undefined) assert.deepEqual(answer.details, expected.details);
  if (expected.body !== undefined) assert.deepEqual(answer.json, expected.body);
  assert.equal(
    answer.headers.get('svc-idempotent-replayed'),
    expected.replayed === true ? 'true' : null,
    answer.text,
  );
}

export function queryOf(parameters: Readonly<Record<string, string | number | null>>): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join('&');
}
