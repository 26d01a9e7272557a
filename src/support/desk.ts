import type { BatchControlDeps } from '../batches/control.js';
import type { Uuid } from '../core/ids.js';
import { counted } from '../core/collections.js';
import type { RateState } from '../http/rate-limit.js';
import type { PayoutApprovals } from '../payouts/decide.js';
import type { ReleaseDeps } from '../payouts/resolution/approve.js';
import type { StaffIdentity } from '../staff/rules.js';
import type { ProviderSettings } from '../staff/subjects.js';
import type { StaffDeps } from '../staff/verification.js';
import type { TransferApprovals } from '../transfers/approval-outcomes.js';
import type { Transfers } from '../transfers/service.js';

export interface DeskDeps extends StaffDeps, BatchControlDeps {
  readonly transfers: Transfers;
  readonly transferApprovals: TransferApprovals;
  readonly payoutApprovals: PayoutApprovals;
  readonly release: ReleaseDeps;
}

export interface DeskSettings {
  /** Base URL of the desk. With https, its cookies are restricted to TLS. */
  readonly url: string;
  /** Returns the URL of a workflow in the Temporal UI. Null if no UI is configured. */
  readonly workflowUrl: ((workflowId: string) => string) | null;
  readonly trustedProxies: readonly string[];
  readonly provider: ProviderSettings | null;
  readonly withCode: boolean;
}

/** The signed-in person. `secret` is the session's token, to which forms are bound. */
export interface SignedInPerson {
  readonly identity: StaffIdentity;
  readonly sessionId: Uuid;
  readonly secret: string;
}

/** Thrown to show an error page. The texts are complete sentences. */
export class DeskError extends Error {
  override name = 'DeskError';

  constructor(
    readonly status: number,
    readonly title: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    /** Address of the form that was refused, if what was written is kept for it. */
    readonly form: string | null = null,
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
