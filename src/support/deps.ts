import type { BatchControlDeps } from '../batches/control.js';
import type { Uuid } from '../core/ids.js';
import type { ReleaseDeps } from '../payouts/release.js';
import type { StaffIdentity } from '../staff/rules.js';
import type { StaffDeps } from '../staff/verification.js';
import type { ProviderSettings } from '../staff/subjects.js';
import type { TransferApprovals } from '../transfers/approval-outcomes.js';
import type { PayoutApprovals } from '../payouts/decide.js';

export interface DeskDeps extends StaffDeps, BatchControlDeps {
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
