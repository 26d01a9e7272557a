import { createHash } from 'node:crypto';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';

/** Which worker process does which sweep: pure. */

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

/** For so long a free lease is left to the process that is to have it. */
const LEFT_MS = 3_000;

/** Names of leases. */
export interface LeasePlan {
  readonly take: readonly string[];
  readonly giveUp: readonly string[];
}

/**
 * What a process takes and gives up, by what it read. Each lease has one live process that is to have it, the same by everybody's
 * reckoning; when that one knows no such sweep, being of another release, whoever does takes it a little later, and keeps it. Any other
 * lease moves to that process as soon as it is seen: so each comes to its place once, and none goes back and forth.
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
    // Later than that it may have been taken because it was left; earlier, only because the process was not there, or not seen yet.
    const isForIt = takenAt - chosen.startedAt <= LEFT_MS;
    if (isLive && chosen.id !== me && isForIt) giveUp.push(name);
  }
  return { take, giveUp };
}

/** By rendezvous: when a process goes, only what it had moves. */
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
