import { cleanText, MAX_REASON } from '../core/checked-text.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { type SignedAct, WORKFLOW_ID_OF } from '../temporal/contracts.js';
import { STAFF_ACTS, type StaffActName, type StaffIdentity } from './rules.js';
import { type StaffDeps, verifyClaim } from './verification.js';

/** What a signal of the staff is about, and what else the audit log says if it is refused. */
interface SignalSubject {
  readonly tenantId: Uuid;
  readonly subjectType: keyof typeof WORKFLOW_ID_OF;
  readonly subjectId: Uuid;
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
}

/** A verified signal: its proven sender, and the reason. */
interface Signed {
  readonly by: StaffIdentity;
  readonly reason: string;
}

/** Verifies who sent a signal, by the code of the moment at which Temporal received it. (docs/contract.md, Staff) */
export class StaffSignals {
  /** `receivedAt` returns when the server received this very signal in the activity's run, if it is this workflow's. */
  constructor(
    private readonly deps: StaffDeps,
    private readonly receivedAt: (workflowId: string, signal: SignedAct) => Promise<Instant | null>,
  ) {}

  /**
   * The same for the same act with the same reason; a refusal is recorded once. Throws what the database throws,
   * TemporalUnavailable.
   */
  async verify(
    act: StaffActName,
    signal: SignedAct,
    { details, ...subject }: SignalSubject,
  ): Promise<Signed | { readonly refused: string }> {
    const { actor, actId } = signal;
    const cleaned = cleanText(signal.reason ?? '', MAX_REASON);
    const reason = 'clean' in cleaned ? cleaned.clean : null;
    const code = signal.code ?? null;
    const verified = await verifyClaim(this.deps, {
      ...{
        name: actor,
        code,
        door: 'temporal',
        right: STAFF_ACTS[act].right,
        purpose: `signal/${act}/${subject.subjectId}/${actId}/${reason ?? ''}`,
      },
      fault: reason === null ? `no reason of 1 to ${MAX_REASON} characters was given` : null,
      receivedAt: await this.momentOf(signal, subject),
      refusedAct: { ...subject, action: `${act}_refused`, details: { ...details, reason } },
    });
    if ('refusal' in verified) return { refused: verified.refusal.message };
    // A signal without a reason was refused.
    return { by: verified.identity, reason: reason ?? '' };
  }

  /** Not looked up if there is no code to check. */
  private async momentOf(
    signal: SignedAct,
    { subjectType, subjectId }: Pick<SignalSubject, 'subjectType' | 'subjectId'>,
  ): Promise<Instant | null> {
    return signal.code === null
      ? null
      : this.receivedAt(WORKFLOW_ID_OF[subjectType](subjectId), signal);
  }
}
