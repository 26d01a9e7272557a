import type {
  StaffActionResult,
  ApprovalState,
  StaffActionSignal,
} from '../src/temporal/contracts.js';

/** Activities of workflows that wait for approval. Each may be repeated or late. */
export interface ApprovalActivities {
  read(resourceId: string): Promise<ApprovalState>;
  act(act: StaffActionSignal): Promise<StaffActionResult>;
  /** Expires the resource if that is due, and returns its state. */
  expire(resourceId: string): Promise<ApprovalState>;
}
