import { counted } from '../core/collections.js';
import type { RateState } from '../http/rate-limit.js';

/** Thrown to show an error page. The texts are complete sentences. */
export class DeskError extends Error {
  override name = 'DeskError';

  constructor(
    readonly status: number,
    readonly title: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

export function noSuchPage(): DeskError {
  return new DeskError(
    404,
    'Not found',
    'This page does not exist. Search for the id, name, alias or reference that you have.',
  );
}

/** Throws `DeskError` if the rate limit was exceeded. */
export function assertAllowed({ allowed, retryAfterS }: RateState): void {
  const headers = { 'Retry-After': `${retryAfterS}` };
  if (!allowed)
    throw new DeskError(
      429,
      'Too many attempts',
      `Try again in ${counted(retryAfterS, 'second')}.`,
      headers,
    );
}
