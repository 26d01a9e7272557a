import { Context } from '@temporalio/activity';
import type { StandingAudit, StandingStep } from '../src/auditor/standing.js';
import type { AuditSummary } from '../src/temporal/contracts.js';

/** What the workflow of the audit has done. A step that was given up writes nothing: the next goes on from the one before. */
export interface AuditActivities {
  /** Goes on with the audit for a while. */
  auditSome(): Promise<AuditSummary>;
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
