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
    'There is nothing here. Search for the id, the alias or the key that you have.',
  );
}

/** Throws `DeskError` if the rate limit was exceeded. */
export function assertAllowed({ allowed, retryAfterS }: RateState): void {
  const headers = { 'Retry-After': `${retryAfterS}` };
  if (!allowed)
    throw new DeskError(429, 'Too many attempts', `Try again in ${retryAfterS} seconds.`, headers);
}
