import { ApiError, type Refusal } from '../core/errors.js';
import type { ApiAnswer } from './route.js';

const REPLAYED_HEADER = 'Svc-Idempotent-Replayed';
const REPLAYED: Readonly<Record<string, string>> = { [REPLAYED_HEADER]: 'true' };

/** The ledger's result of a command, declared here because `http` may not import the ledger. */
interface LedgerResult<Resource> {
  readonly outcome:
    | { readonly done: true; readonly resource: Resource }
    | { readonly done: false; readonly refusal: Refusal };
  readonly replayed: boolean;
}

/** Returns the response to a command, marked if it is a replay. Throws a refusal. */
export function answerOf<Resource>(
  result: LedgerResult<Resource>,
  present: (resource: Resource, replayed: boolean) => ApiAnswer,
): ApiAnswer {
  const { outcome, replayed } = result;
  if (!outcome.done) throw new ApiError(outcome.refusal, replayed ? REPLAYED : {});
  const response = present(outcome.resource, replayed);
  return replayed ? { ...response, headers: { ...response.headers, ...REPLAYED } } : response;
}
