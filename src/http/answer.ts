import { ApiError, type Refusal } from '../core/errors.js';
import type { ApiAnswer } from './route.js';

/** Says that the answer is what the key did before, and that nothing happened now. */
export const REPLAYED_HEADER = 'Svc-Idempotent-Replayed';
const REPLAYED: Readonly<Record<string, string>> = { [REPLAYED_HEADER]: 'true' };

/** What the posting desk answers, in the shape that this layer needs (it knows no ledger). */
export interface DeskAnswer<Resource> {
  readonly outcome:
    { readonly done: true; readonly resource: Resource } | { readonly done: false; readonly refusal: Refusal };
  readonly replayed: boolean;
}

/**
 * The HTTP answer to what the desk decided: `present` makes status and body of the resource; a replay is marked as such.
 * Throws the refusal, if it is one.
 */
export function answerOf<Resource>(
  answer: DeskAnswer<Resource>,
  present: (resource: Resource, replayed: boolean) => ApiAnswer,
): ApiAnswer {
  const { outcome, replayed } = answer;
  if (!outcome.done) throw new ApiError(outcome.refusal, replayed ? REPLAYED : {});
  const shown = present(outcome.resource, replayed);
  return replayed ? { ...shown, headers: { ...shown.headers, ...REPLAYED } } : shown;
}
