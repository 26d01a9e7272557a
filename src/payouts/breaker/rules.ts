import type { Uuid } from '../../core/ids.js';
import { instant, type Instant } from '../../core/instant.js';
import type { RailBreaker } from '../../db/entities/rail-breakers.js';

/** When a rail is considered silent, and when it is probed. Pure. (docs/contract.md, Rails) */

export interface BreakerOptions {
  /** This many consecutive unanswered calls, about different payouts, open it. */
  readonly opensAfter: number;
  /** From opening to the first probe; each later pause is twice the last, up to six times this. */
  readonly probeAfterMs: number;
}

export const USUAL_BREAKER: BreakerOptions = { opensAfter: 5, probeAfterMs: 10_000 };

export function newBreaker(rail: string, now: Instant): RailBreaker {
  const unheard = { lastPayoutId: null, lastFailure: null, lastFailureAt: null } as const;
  return {
    rail,
    state: 'closed',
    since: now,
    failures: 0,
    ...unheard,
    probes: 0,
    probeAt: null,
    wakeAt: null,
  };
}

interface Silence {
  readonly payoutId: Uuid;
  /** A line for operators, without personal data. */
  readonly reason: string;
}

const MAX_REASON = 200;

/** Only a failure for a different payout counts: one that is never answered says nothing of the others. */
export function afterSilence(
  before: RailBreaker,
  { payoutId, reason }: Silence,
  now: Instant,
  { opensAfter, probeAfterMs }: BreakerOptions,
): RailBreaker {
  const failures = before.failures + (before.lastPayoutId === payoutId ? 0 : 1);
  const lastFailure = [...reason].slice(0, MAX_REASON).join('');
  const told = { ...before, failures, lastPayoutId: payoutId, lastFailure, lastFailureAt: now };
  switch (before.state) {
    case 'closed': {
      if (failures < opensAfter) return told;
      const probeAt = instant(now + probeAfterMs);
      return { ...told, state: 'open', since: now, probes: 0, probeAt, wakeAt: null };
    }
    case 'half_open':
      return {
        ...told,
        state: 'open',
        probeAt: instant(now + pauseAfter(before.probes, probeAfterMs)),
      };
    case 'open':
      // A call from before the breaker opened ends only now.
      return told;
  }
}

const MAX_PAUSE_FACTOR = 6;

function pauseAfter(probes: number, probeAfterMs: number): number {
  return probeAfterMs * Math.min(MAX_PAUSE_FACTOR, 2 ** Math.min(probes, 10));
}

/** By then every worker knows that the rail answers, so no payout can still become held without being woken. */
export const WAKES_AFTER_MS = 2_000;

/** After an answer to any caller: a rail that answers one answers others. */
export function afterAnswer(before: RailBreaker, now: Instant): RailBreaker {
  if (before.state === 'closed') return { ...before, failures: 0, lastPayoutId: null };
  const wakeAt = instant(now + WAKES_AFTER_MS);
  return {
    ...before,
    ...{
      state: 'closed',
      since: now,
      failures: 0,
      lastPayoutId: null,
      probes: 0,
      probeAt: null,
      wakeAt,
    },
  };
}
