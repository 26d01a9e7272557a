import type { BatchControlDeps } from '../batches/control.js';
import type { Uuid } from '../core/ids.js';
import type { ReleaseDeps } from '../payouts/release.js';
import type { StaffIdentity } from '../staff/rules.js';
import type { StaffDeps } from '../staff/verification.js';
import type { ProviderSettings } from '../staff/provider.js';
import type { TransferApprovals } from '../transfers/approval-outcomes.js';
import type { PayoutApprovals } from '../payouts/approval-outcomes.js';

/** What the desk acts and reads with: the same services as elsewhere. */
export interface DeskDeps extends StaffDeps, BatchControlDeps {
  readonly transferApprovals: TransferApprovals;
  readonly payoutApprovals: PayoutApprovals;
  readonly release: ReleaseDeps;
}

export interface DeskSettings {
  /** The desk's address; with https its cookies are for TLS only. */
  readonly url: string;
  /** A workflow's address in the Temporal UI; null if there is no UI. */
  readonly workflowUrl: ((workflowId: string) => string) | null;
  readonly trustedProxies: readonly string[];
  readonly provider: ProviderSettings | null;
  /** Whether people sign in by name and code. Acts that move money require a code either way. */
  readonly withCode: boolean;
}

/** The person signed in. `secret` is the session's token, to which forms are bound. */
export interface SignedInPerson {
  readonly identity: StaffIdentity;
  readonly sessionId: Uuid;
  readonly secret: string;
}
