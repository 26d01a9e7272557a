import assert from 'node:assert/strict';
import { request, type RequestOptions, type TestAnswer } from './api.js';
import type { Json } from './bank.js';
import { until } from './temporal.js';

/** How long a killed process and a restored server may take to come back. */
const REPEAT_MS = 1_200_000;

/** Repeats a request, with its key, until its result is known: after a 503 and a broken connection it is not. */
export function knownAnswer(ask: () => Promise<TestAnswer>, limitMs: number): Promise<TestAnswer> {
  const attempt = async (): Promise<TestAnswer | null> => {
    const answer = await ask().catch(() => null);
    return answer?.status === 503 ? null : answer;
  };
  return until('a request is answered', attempt, { limitMs });
}

/** Returns the JSON of the answer to a request that is repeated, with its key, until it is known. */
export async function answeredBy(
  { baseUrl }: { readonly baseUrl: string },
  ...asked: [method: string, path: string, options: RequestOptions]
): Promise<Json> {
  const answer = await knownAnswer(() => request(baseUrl, ...asked), REPEAT_MS);
  assert(answer.status < 300, answer.text);
  return answer.json;
}
