import type { Uuid } from '../../core/ids.js';
import { toRfc3339 } from '../../core/instant.js';
import { transact } from '../../db/transact.js';
import type { WebhookParts } from '../parts.js';
import { DrainRun } from './drain-run.js';
import { takeLease } from './lease.js';

export interface DrainOptions {
  /** No new send begins after it; those that are on their way end within their own time. */
  readonly signal: AbortSignal;
  /** Called every second while the drain lives. */
  readonly heartbeat: () => void;
  /** No new send begins after so many milliseconds. */
  readonly maxMs: number;
}

export interface DrainResult {
  /**
   * idle: nothing to send now; time: `maxMs` is over; stopped: by the signal; held: disabled, paused or deleted;
   * taken_over: another drain has begun.
   */
  readonly ended: 'idle' | 'time' | 'stopped' | 'held' | 'taken_over';
  /** How many attempts it has stored. */
  readonly attempts: number;
  /** RFC 3339; when something is to be sent next. Null: only a new event, a request or an operator makes it due again. */
  readonly nextDueAt: string | null;
}

/** Spreads the retries; from 0 to 1. */
export type Random = () => number;

/**
 * Sends what is due to an endpoint until nothing is, its time is over or it is stopped. Safe to be run twice and to be given up: only the
 * last one that began writes, and whatever it has not stored is sent again. Throws DatabaseUnavailable and the like when the
 * database is away. (architecture.md, Events and webhooks)
 */
export async function drain(
  parts: WebhookParts,
  endpointId: Uuid,
  options: DrainOptions,
  random: Random = Math.random,
): Promise<DrainResult> {
  const { database, clock } = parts;
  const state = await transact(database, (transaction) => takeLease(transaction, endpointId, clock()));
  if (state === null) return { ended: 'held', attempts: 0, nextDueAt: null };
  const run = new DrainRun(parts, state, options, random);
  const { ended, attempts, nextDueAt } = await run.run();
  return { ended, attempts, nextDueAt: nextDueAt === null ? null : toRfc3339(nextDueAt) };
}
