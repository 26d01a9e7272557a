import { createHash } from 'node:crypto';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';

/** Which worker process does which sweep. Pure. */

export interface LiveWorker {
  readonly id: Uuid;
  readonly startedAt: Instant;
}

export interface LeaseState {
  readonly name: string;
  readonly holder: Uuid | null;
  readonly takenAt: Instant;
  readonly leaseUntil: Instant;
}

/** How long a free lease is left to the process that should have it. */
const LEFT_MS = 3_000;

export interface LeasePlan {
  readonly take: readonly string[];
  readonly giveUp: readonly string[];
}

/**
 * What a process takes and gives up, given what it read. Each lease has one live process that should have it, and all
 * processes agree which. If that one does not know the sweep, being of another release, one that does takes it a little
 * later and keeps it. Any other lease moves to its process as soon as that is seen, so each moves once, and none goes
 * back and forth.
 */
export function planLeases(
  me: Uuid,
  now: Instant,
  workers: readonly LiveWorker[],
  leases: readonly LeaseState[],
): LeasePlan {
  const take: string[] = [];
  const giveUp: string[] = [];
  for (const { name, holder, takenAt, leaseUntil } of leases) {
    const isLive = leaseUntil > now;
    if (isLive && holder !== me) continue;
    const chosen = chosenFor(name, workers);
    if (chosen === undefined) continue;
    const isLeft = now - Math.max(leaseUntil, chosen.startedAt) > LEFT_MS;
    if (!isLive && (chosen.id === me || isLeft)) take.push(name);
    // Taken later than that, it may have been left unclaimed; taken earlier, its process was not there or not seen yet.
    const isForIt = takenAt - chosen.startedAt <= LEFT_MS;
    if (isLive && chosen.id !== me && isForIt) giveUp.push(name);
  }
  return { take, giveUp };
}

/** Rendezvous hashing: when a process goes, only its leases move. */
function chosenFor(name: string, workers: readonly LiveWorker[]): LiveWorker | undefined {
  const weighed = workers.map((worker) => ({ worker, weight: weightOf(name, worker.id) }));
  return weighed.reduce<(typeof weighed)[number] | undefined>(
    (best, one) => (best === undefined || one.weight > best.weight ? one : best),
    undefined,
  )?.worker;
}

function weightOf(name: string, id: Uuid): string {
  return createHash('sha256').update(`${id} ${name}`).digest('hex');
}
