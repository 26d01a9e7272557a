import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { type AuditedPart, auditNext, type ScheduledAuditDeps } from '../src/auditor/audit.js';
import { instant } from '../src/core/instant.js';
import type { RollbackGuard } from '../src/restores/checkpoint.js';
import type { AuditProgress, AuditResult } from '../src/temporal/contracts.js';

export interface AuditServices {
  readonly audit: ScheduledAuditDeps;
  readonly rollbackGuard: Pick<RollbackGuard, 'renewStored'>;
  readonly onAudited: (part: AuditedPart) => void;
}

const HEARTBEAT_EVERY_MS = 5_000;

export function auditActivities(
  { audit, rollbackGuard, onAudited }: AuditServices,
  stopping: AbortSignal,
) {
  return {
    /** Audits until the next audit is due. Closes the ledger if rows known before are missing. */
    auditLedger: async (lastCheckpoint: unknown): Promise<AuditResult> => {
      const context = Context.current();
      const { scheduledTimestampMs: beganAt, heartbeatDetails } = context.info;
      const signal = AbortSignal.any([context.cancellationSignal, stopping]);
      const first: AuditProgress = { reached: 0, findings: 0, checkpoint: lastCheckpoint };
      const earlier = heartbeatDetails as AuditProgress | undefined;
      let { reached, findings, checkpoint } = earlier ?? first;
      const beat = (): void => context.heartbeat({ reached, checkpoint, findings });
      const heartbeats = startHeartbeats(beat, async () => {
        checkpoint = await rollbackGuard.renewStored(checkpoint);
      });
      try {
        for (;;) {
          const pass = { beganAt: instant(beganAt), reached };
          const part = await auditNext(audit, pass, signal);
          if (part === null) break;
          onAudited(part);
          reached = part.reached;
          findings += part.findings;
          beat();
        }
        // The heartbeats store checkpoints until the next audit.
        await sleep(Math.max(0, beganAt + audit.everyMs - Date.now()), undefined, { signal });
        return { findings, checkpoint };
      } finally {
        await heartbeats.stop();
      }
    },
  };
}

export type AuditActivities = ReturnType<typeof auditActivities>;

/** Sends a heartbeat now, every 5 s, and after each renewal of the checkpoint. */
function startHeartbeats(beat: () => void, renew: () => Promise<void>): { stop(): Promise<void> } {
  let renewal: Promise<void> | null = null;
  const tick = (): void => {
    beat();
    // The next heartbeat tries again.
    renewal ??= renew()
      .then(beat, () => undefined)
      .finally(() => (renewal = null));
  };
  tick();
  const timer = setInterval(tick, HEARTBEAT_EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await renewal;
    },
  };
}
