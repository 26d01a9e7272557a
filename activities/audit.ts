import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { StandingAudit, StandingStep } from '../src/auditor/standing.js';
import type { RollbackGuard } from '../src/restores/rollback-guard.js';
import type { AuditResult } from '../src/temporal/contracts.js';

/** The activity of the audit's workflow. An abandoned step writes nothing: the next step continues from the last stored position. */
export interface AuditActivities {
  /**
   * Continues the audit for a while, and closes the ledger if rows of the checkpoint are missing. `checkpoint` is that of
   * the previous run.
   */
  auditSome(checkpoint: unknown): Promise<StandingStep & AuditResult>;
}

interface AuditDeps {
  readonly audit: StandingAudit;
  readonly rollbacks: Pick<RollbackGuard, 'next'>;
  readonly leastStepMs: number;
  readonly onStep: (step: StandingStep) => void;
  readonly stopping: AbortSignal;
}

const BEAT_MS = 5_000;

export function auditActivities({
  audit,
  rollbacks,
  leastStepMs,
  onStep,
  stopping,
}: AuditDeps): AuditActivities {
  return {
    auditSome: async (given) => {
      const began = performance.now();
      const context = Context.current();
      // An earlier attempt of this run stored a newer checkpoint with its heartbeats.
      let checkpoint: unknown = context.info.heartbeatDetails ?? given;
      let isChecking = false;
      let checking = Promise.resolve();
      const check = async (): Promise<void> => {
        checkpoint = await rollbacks.next(checkpoint);
      };
      const beat = (): void => {
        context.heartbeat(checkpoint);
        if (isChecking) return;
        isChecking = true;
        checking = check()
          // The database is away: the next heartbeat checks again.
          .catch(() => undefined)
          .finally(() => {
            isChecking = false;
            context.heartbeat(checkpoint);
          });
      };
      beat();
      const beating = setInterval(beat, BEAT_MS);
      try {
        const signal = AbortSignal.any([context.cancellationSignal, stopping]);
        const step = await audit.step(signal);
        onStep(step);
        const leftMs = Math.max(0, began + leastStepMs - performance.now());
        await sleep(leftMs, undefined, { signal }).catch(() => undefined);
        await checking;
        return { ...step, checkpoint };
      } finally {
        clearInterval(beating);
      }
    },
  };
}
