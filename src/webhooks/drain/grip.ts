import type { Instant } from '../../core/instant.js';
import type { WebhookDeps } from '../deps.js';
import type { StoredRun } from './landed.js';
import { type EndpointState, LEASE_MS, TakenOver } from './lease.js';
import { isNear } from './near.js';
import { earliestRetry, type OpenDelivery, readDue } from './open-deliveries.js';
import { type Step, step } from './stepping.js';
import type { Outcome } from './outcomes.js';
import type { Random } from './types.js';

/** How long the lease may go without a write. */
const RENEW_MS = LEASE_MS / 3;

/** A run's writes, each under the endpoint's lock and with its number. Every promise may reject with TakenOver. */
export class Grip {
  private renewedAt = performance.now();
  private renewing: Promise<unknown> | null = null;

  constructor(
    private readonly deps: WebhookDeps,
    private readonly own: EndpointState['endpoint'],
    private readonly isWorkflow: boolean,
    private readonly random: Random,
  ) {}

  /** Moves the cursor, for at most `room` deliveries; `seen` is the endpoint's last known state. */
  async step(seen: EndpointState, room: number): Promise<Step> {
    const { runs, clock } = this.deps;
    const run = this.own;
    const together = isNear(seen) ? await runs.step({ run, room }) : 'far';
    const done =
      together === 'far'
        ? await runs.transact(run.tenantId, (transaction) =>
            step(transaction, run.id, run.fence, room, clock()),
          )
        : together;
    this.renewedAt = performance.now();
    return done ?? takenOver();
  }

  async store(group: readonly Outcome[]): Promise<StoredRun> {
    const stored = await this.land(group, true);
    this.renewedAt = performance.now();
    return stored;
  }

  async look(): Promise<EndpointState> {
    const state = await this.deps.runs.look(this.own.id);
    return state?.endpoint.fence === this.own.fence ? state : takenOver();
  }

  /** Never throws: the next query notices a run that is over, or a database that is away. */
  renewIfDue(): void {
    const now = performance.now();
    if (this.renewing !== null || now - this.renewedAt < RENEW_MS) return;
    this.renewing = this.deps.runs
      .renew(this.own)
      .then(
        (isRenewed) => (this.renewedAt = isRenewed ? now : this.renewedAt),
        () => undefined,
      )
      .then(() => (this.renewing = null));
  }

  readDue(
    seen: EndpointState['endpoint'],
    lane: 'pending' | 'retrying',
    most: number,
  ): Promise<OpenDelivery[]> {
    const { runs, clock } = this.deps;
    return runs.inTurn(seen.tenantId, ({ reader }) => readDue(reader, seen, lane, clock(), most));
  }

  earliestRetry(after: Instant): Promise<Instant | null> {
    const { id, tenantId } = this.own;
    return this.deps.runs.inTurn(tenantId, ({ reader }) => earliestRetry(reader, id, after));
  }

  /** Ends the run. Returns when something is to be sent next; null if nothing is, or nothing may be. */
  async release(): Promise<Instant | null> {
    // A renewal after the end would keep everybody from the endpoint.
    await this.renewing;
    return (await this.land([], false)).due;
  }

  private async land(ended: readonly Outcome[], goesOn: boolean): Promise<StoredRun> {
    const { own: run, isWorkflow, random } = this;
    const landed = { run, through: null, ended, untried: [], goesOn, isWorkflow, random };
    return (await this.deps.runs.store(landed)) ?? takenOver();
  }
}

function takenOver(): never {
  throw new TakenOver('another run has the endpoint');
}
