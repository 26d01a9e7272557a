import { CommitUnknown, DatabaseUnavailable } from '../../db/failures.js';
import { transact } from '../../db/transact.js';
import type { Random } from '../drain/types.js';
import type { WebhookParts } from '../parts.js';
import { type Landed, type StoredFlight, storeFlights } from './storing-flights.js';

/** Flights of one transaction. */
const MAX_GROUP = 100;

interface Waiting {
  readonly landed: Landed;
  readonly resolve: (stored: StoredFlight) => void;
  readonly reject: (failure: unknown) => void;
}

/** Stores what comes of flights: those that land while a group is being stored are the next group. */
export class Recorder {
  private waiting: Waiting[] = [];
  private isRunning = false;

  constructor(
    private readonly parts: WebhookParts,
    private readonly random: Random,
  ) {}

  /** Throws what the transaction threw: what was sent and is not stored is sent again when the lease is over. */
  store(landed: Landed): Promise<StoredFlight> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ landed, resolve, reject });
      if (!this.isRunning) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.waiting.length > 0) await this.storeGroup(this.waiting.splice(0, MAX_GROUP));
    this.isRunning = false;
  }

  private async storeGroup(group: readonly Waiting[]): Promise<void> {
    const { database, clock, nudge } = this.parts;
    try {
      const { stored, notices } = await transact(database, (transaction) =>
        storeFlights(
          transaction,
          group.map(({ landed }) => landed),
          clock(),
          this.random,
        ),
      );
      for (const notice of notices) nudge.tell(notice);
      group.forEach(({ resolve }, index) => resolve(stored[index] ?? null));
    } catch (failure) {
      const isOurs = !(failure instanceof DatabaseUnavailable || failure instanceof CommitUnknown);
      // One of them may be at fault: each by itself.
      if (isOurs && group.length > 1) for (const one of group) await this.storeGroup([one]);
      else for (const { reject } of group) reject(failure);
    }
  }
}
