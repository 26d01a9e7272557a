import type { RateState } from '../http/rate-limit.js';

/** Shown as a page instead of what was requested. Its texts are our own, in whole sentences. */
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

/** Throws DeskError. */
export function assertAllowed({ allowed, retryAfterS }: RateState): void {
  const headers = { 'Retry-After': `${retryAfterS}` };
  if (!allowed)
    throw new DeskError(429, 'Too many attempts', `Try again in ${retryAfterS} seconds.`, headers);
}
