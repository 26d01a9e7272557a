import type { ActResult, ApprovalState, StaffAct } from '../src/temporal/contracts.js';

/** What a workflow that waits for approval needs done, whatever it waits for. Each is safe to run twice, and late. */
export interface ApprovalActivities {
  read(resourceId: string): Promise<ApprovalState>;
  act(act: StaffAct): Promise<ActResult>;
  /** Settles it if its time is over. */
  expire(resourceId: string): Promise<ApprovalState>;
}
