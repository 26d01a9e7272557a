import type { AuditDetails } from '../access/audit-log.js';
import { cleanText, MAX_REASON } from '../core/checked-text.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { type StaffSignal, WORKFLOW_ID_OF } from '../temporal/contracts.js';
import { STAFF_ACTIONS, type StaffActionName, type StaffIdentity } from './rules.js';
import { type StaffDeps, verifyClaim } from './verification.js';

interface SignalSubject {
  readonly tenantId: Uuid;
  readonly subjectType: keyof typeof WORKFLOW_ID_OF;
  readonly subjectId: Uuid;
  readonly details?: AuditDetails;
}

interface Signed {
  readonly by: StaffIdentity;
  readonly reason: string;
}

/** Judges codes at the moment at which Temporal received the signal. (docs/contract.md, Staff) */
export class StaffSignals {
  /** `receivedAt` returns null if this run of the workflow has no such signal. */
  constructor(
    private readonly deps: StaffDeps,
    private readonly receivedAt: (
      workflowId: string,
      signal: StaffSignal,
    ) => Promise<Instant | null>,
  ) {}

  /**
   * A repeated call with the same action and reason returns the same result; a refusal is recorded
   * once. Throws what the database throws, and TemporalUnavailable.
   */
  async verify(
    action: StaffActionName,
    signal: StaffSignal,
    { details, ...subject }: SignalSubject,
  ): Promise<Signed | { readonly refused: string }> {
    const { actor, actionId } = signal;
    const cleaned = cleanText(signal.reason ?? '', MAX_REASON);
    const reason = 'clean' in cleaned ? cleaned.clean : null;
    const code = signal.code ?? null;
    const workflowId = WORKFLOW_ID_OF[subject.subjectType](subject.subjectId);
    const verified = await verifyClaim(this.deps, {
      ...{ name: actor, code, channel: 'temporal', right: STAFF_ACTIONS[action].right },
      purpose: `signal/${action}/${subject.subjectId}/${actionId}/${reason ?? ''}`,
      fault: reason === null ? `no reason of 1 to ${MAX_REASON} characters was given` : null,
      receivedAt: signal.code === null ? null : await this.receivedAt(workflowId, signal),
      refusalEntry: { ...subject, action: `${action}_refused`, details: { ...details, reason } },
    });
    if ('refusal' in verified) return { refused: verified.refusal.message };
    // A signal without a reason was refused above.
    return { by: verified.identity, reason: reason ?? '' };
  }
}
