import type { BatchControlDeps } from '../batches/control.js';
import type { Uuid } from '../core/ids.js';
import type { PayoutApprovals } from '../payouts/approvals.js';
import type { ReleaseDeps } from '../payouts/release.js';
import type { StaffIdentity } from '../staff/rules.js';
import type { StaffDeps } from '../staff/verification.js';
import type { ProviderSettings } from '../staff/provider.js';
import type { TransferApprovals } from '../transfers/approvals.js';

/** What the desk acts and reads with: the services of the other doors. */
export interface DeskDeps extends StaffDeps, BatchControlDeps {
  readonly transferApprovals: TransferApprovals;
  readonly payoutApprovals: PayoutApprovals;
  readonly release: ReleaseDeps;
}

export interface DeskSettings {
  /** Where people reach the desk; https: its cookies are for TLS alone. */
  readonly url: string;
  /** Where the Temporal UI shows a workflow; null where there is none. */
  readonly workflowUrl: ((workflowId: string) => string) | null;
  readonly trustedProxies: readonly string[];
  /** Sign-in by the company's identity provider; null: there is none. */
  readonly provider: ProviderSettings | null;
  /** Whether people sign in by name and code. What moves money asks for a code either way. */
  readonly withCode: boolean;
}

/** Who is signed in. `secret` is the session's token: forms are bound to it. */
export interface SignedInPerson {
  readonly identity: StaffIdentity;
  readonly sessionId: Uuid;
  readonly secret: string;
}
