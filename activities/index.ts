import type { TransferApprovals } from '../src/transfers/approvals.js';
import { transferActivities, type TransferActivities } from './transfers.js';

/** The services that activities call. */
export interface ActivityServices {
  readonly transferApprovals: TransferApprovals;
}

/** The activities of each task queue. */
export interface Activities {
  readonly approvals: TransferActivities;
}

export function createActivities({ transferApprovals }: ActivityServices): Activities {
  return { approvals: { ...transferActivities(transferApprovals) } };
}
