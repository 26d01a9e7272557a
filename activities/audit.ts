import { Context } from '@temporalio/activity';
import type { StandingAudit, StandingStep } from '../src/auditor/standing.js';

/** The activity of the audit's workflow. An abandoned step writes nothing: the next continues from the one before. */
export interface AuditActivities {
  /** Continues the audit for a while. */
  auditSome(): Promise<StandingStep>;
}

const BEAT_MS = 5_000;

export function auditActivities(
  audit: StandingAudit,
  onStep: (step: StandingStep) => void,
  stopping: AbortSignal,
): AuditActivities {
  return {
    auditSome: async () => {
      const context = Context.current();
      const beat = setInterval(() => context.heartbeat(), BEAT_MS);
      try {
        const step = await audit.step(AbortSignal.any([context.cancellationSignal, stopping]));
        onStep(step);
        return step;
      } finally {
        clearInterval(beat);
      }
    },
  };
}
