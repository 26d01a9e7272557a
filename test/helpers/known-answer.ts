import type { TestAnswer } from './api.js';
import { until } from './temporal.js';

/** Repeats a request, with its key, until its result is known: after a 503 and a broken connection it is not. */
export function knownAnswer(ask: () => Promise<TestAnswer>, limitMs: number): Promise<TestAnswer> {
  const attempt = async (): Promise<TestAnswer | null> => {
    const answer = await ask().catch(() => null);
    return answer?.status === 503 ? null : answer;
  };
  return until('a request is answered', attempt, { limitMs });
}
