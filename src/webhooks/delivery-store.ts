import type { Clock } from '../core/instant.js';
import { Batcher } from '../core/batcher.js';
import type { Database } from '../db/database.js';
import type { OutboxRow } from '../db/entities/outbox.js';
import { CommitUnknown, DatabaseUnavailable } from '../db/failures.js';
import { transactFor } from '../db/transact.js';
import type { ClaimedEndpoint } from './endpoint-claims.js';
import { readWork, type EventsToSend } from './event-reader.js';
import { recoverSome } from './resend.js';
import { type Claim, type RunResults, type StoredResults, storeResults } from './results.js';

const MAX_GROUP = 100;
const MAX_RESULTS = 500;
/** Deliveries of one event to many endpoints end within milliseconds, and share a transaction. */
const LINGER_MS = 10;

interface DeliveryStoreDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly notifier: { readonly notify: (notice: OutboxRow) => void };
}

/** Batches reads and writes of runs. */
export class DeliveryStore {
  private readonly reads = new Batcher(
    { maxWeight: MAX_GROUP, concurrency: 2, mayRetryAlone },
    (claimed: readonly ClaimedEndpoint[]) =>
      readWork(this.deps.database.reader, claimed, this.deps.clock()),
  );
  private readonly writes = new Batcher(
    {
      maxWeight: MAX_RESULTS,
      weigh: ({ ended, begun }) => ended.length + begun.length + MAX_RESULTS / MAX_GROUP,
      lingerMs: LINGER_MS,
      mayRetryAlone,
    },
    (results: readonly RunResults[]) => this.storeAll(results, false),
  );

  constructor(
    private readonly deps: DeliveryStoreDeps,
    private readonly random: () => number = Math.random,
  ) {}

  read(claimed: ClaimedEndpoint): Promise<EventsToSend> {
    return this.reads.submit(claimed);
  }

  /** Null if another run has the endpoint. Results for a locked endpoint delay no others. */
  async store(results: RunResults): Promise<StoredResults | null> {
    const stored = await this.writes.submit(results);
    if (stored !== 'locked') return stored;
    const [alone = null] = await this.storeAll([results], true);
    return alone === 'locked' ? null : alone;
  }

  /** Does a step of a recovery. Returns null if another run has the endpoint. */
  recover(claim: Claim): Promise<ClaimedEndpoint | null> {
    const { database, clock } = this.deps;
    return transactFor(claim.tenantId, database, (transaction) =>
      recoverSome(transaction, claim, clock()),
    );
  }

  private async storeAll(
    results: readonly RunResults[],
    mayWait: boolean,
  ): Promise<readonly (StoredResults | 'locked' | null)[]> {
    const { database, clock, notifier } = this.deps;
    const of = mayWait ? (results[0]?.claim.tenantId ?? null) : null;
    const { stored, notices } = await transactFor(of, database, (transaction) =>
      storeResults(transaction, results, clock(), this.random, mayWait),
    );
    for (const notice of notices) notifier.notify(notice);
    return stored;
  }
}

/** False if the database is unavailable, which no single endpoint has caused. */
function mayRetryAlone(failure: unknown): boolean {
  return !(failure instanceof DatabaseUnavailable || failure instanceof CommitUnknown);
}
