import { ApiError, type Refusal } from '../core/errors.js';
import type { ApiAnswer } from './route.js';

/** Marks an answer that repeats the key's earlier result: nothing happened now. */
const REPLAYED_HEADER = 'Svc-Idempotent-Replayed';
const REPLAYED: Readonly<Record<string, string>> = { [REPLAYED_HEADER]: 'true' };

/** An answer of the posting desk, in the shape that this layer needs, which knows no ledger. */
interface DeskAnswer<Resource> {
  readonly outcome:
    | { readonly done: true; readonly resource: Resource }
    | { readonly done: false; readonly refusal: Refusal };
  readonly replayed: boolean;
}

/** `present` turns the resource into status and body; a replay is marked. Throws a refusal. */
export function answerOf<Resource>(
  answer: DeskAnswer<Resource>,
  present: (resource: Resource, replayed: boolean) => ApiAnswer,
): ApiAnswer {
  const { outcome, replayed } = answer;
  if (!outcome.done) throw new ApiError(outcome.refusal, replayed ? REPLAYED : {});
  const shown = present(outcome.resource, replayed);
  return replayed ? { ...shown, headers: { ...shown.headers, ...REPLAYED } } : shown;
}
