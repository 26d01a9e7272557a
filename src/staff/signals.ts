import { cleanText, MAX_REASON } from '../core/checked-text.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { SignedAct } from '../temporal/contracts.js';
import { STAFF_ACTS, type StaffActName, type StaffIdentity } from './rules.js';
import { type StaffDeps, verifyClaim } from './verification.js';

/** What a signal of the staff is about, and what else the audit log says where it is refused. */
export interface SignalSubject {
  readonly tenantId: Uuid;
  readonly subjectType: string;
  readonly subjectId: Uuid;
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
}

/** A signal that is somebody's: who sent it, proven, and why. */
export interface Signed {
  readonly by: StaffIdentity;
  readonly reason: string;
}

/**
 * Whose a signal is: for transfers, payouts, batches and endpoints alike. The code is judged for the moment at which Temporal had the
 * signal, so that a worker which was away for less than ten minutes spoils nothing. (docs/contract.md, Staff)
 */
export class StaffSignals {
  /** `receivedAt` says when the server had the signal of this name and number in the run that the activity belongs to. */
  constructor(
    private readonly deps: StaffDeps,
    private readonly receivedAt: (name: string, number: number) => Promise<Instant | null>,
  ) {}

  /**
   * Asked again about the same act, it answers the same. A refusal is recorded, once. Throws what the database throws, and
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
        purpose: `signal/${act}/${subject.subjectId}/${actId}`,
      },
      fault: reason === null ? `no reason of 1 to ${MAX_REASON} characters was given` : null,
      receivedAt: await this.momentOf(signal, code),
      refusedAct: { ...subject, action: `${act}_refused`, details: { ...details, reason } },
    });
    if ('refusal' in verified) return { refused: verified.refusal.message };
    // Who has no reason was refused.
    return { by: verified.identity, reason: reason ?? '' };
  }

  /** Not asked for where there is no code to judge. */
  private async momentOf({ action, number }: SignedAct, code: string | null): Promise<Instant | null> {
    return code === null || number === undefined ? null : this.receivedAt(action, number);
  }
}
