import type { ActResult, ApprovalState, StaffAct } from '../src/temporal/contracts.js';

/** The activities of any workflow that waits for approval. Each may run twice and late. */
export interface ApprovalActivities {
  read(resourceId: string): Promise<ApprovalState>;
  act(act: StaffAct): Promise<ActResult>;
  /** Expires it if it is due. */
  expire(resourceId: string): Promise<ApprovalState>;
}
