import { FairQueue } from '../../core/fair-queue.js';
import type { Uuid } from '../../core/ids.js';
import { type Clock, instant } from '../../core/instant.js';
import { Together } from '../../core/together.js';
import * as column from '../../db/columns.js';
import type { Database, Transaction } from '../../db/database.js';
import type { OutboxRow } from '../../db/entities/outbox.js';
import { webhookEndpoints } from '../../db/entities/webhooks.js';
import { CommitUnknown, DatabaseUnavailable } from '../../db/failures.js';
import { updateSql } from '../../db/statements.js';
import { transact } from '../../db/transact.js';
import { type Landed, type RunOf, type StoredRun, storeLanded } from './landed.js';
import { type EndpointState, LEASE_MS, lockSql, parseStates, stateSql } from './lease.js';
import { type StepWanted, stepTogether } from './near.js';
import type { Step } from './stepping.js';

/** Endpoints in one statement, and outcomes in one transaction. */
const MAX_GROUP = 100;
const MAX_OUTCOMES = 500;
/** The deliveries of one event end within milliseconds of each other: stored together, they cost one transaction. */
const FLIGHT_LINGER_MS = 10;
/** Hundreds of runs with hanging receivers look every two seconds: together a statement per interval. */
const LOOK_LINGER_MS = 20;

type Recorder = Together<Landed, StoredRun | 'locked' | null>;

interface RunsDatabaseDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** Gets what an endpoint's workflow must learn. */
  readonly notifier: { readonly notify: (notice: OutboxRow) => void };
}

/** Runs may hang by the hundred: their common queries are batched, and for the rest tenants take turns. */
export class RunsDatabase {
  private readonly turns: FairQueue;
  private readonly looks = new Together(
    { most: MAX_GROUP, lingerMs: LOOK_LINGER_MS, isOfOne },
    (ids: readonly Uuid[]) => this.lookAt(ids),
  );
  private readonly renewals = new Together({ most: MAX_GROUP }, (runs: readonly RunOf[]) =>
    this.renewAll(runs),
  );
  private readonly steps = new Together(
    { most: MAX_GROUP, isOfOne },
    (wanted: readonly StepWanted[]) =>
      transact(this.deps.database, (transaction) =>
        stepTogether(transaction, wanted, this.deps.clock()),
      ),
  );
  private readonly flights = this.recorder(FLIGHT_LINGER_MS);
  private readonly outcomes = this.recorder(0);

  /** `places`: how many tenants may have a turn at a time. */
  constructor(
    private readonly deps: RunsDatabaseDeps,
    places: number,
  ) {
    this.turns = new FairQueue(places);
  }

  async inTurn<T>(tenantId: Uuid, work: (database: Database) => Promise<T>): Promise<T> {
    const leave = await this.turns.enter(tenantId);
    try {
      return await work(this.deps.database);
    } finally {
      leave();
    }
  }

  transact<T>(tenantId: Uuid, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.inTurn(tenantId, (database) => transact(database, work));
  }

  /** Undefined: the endpoint does not exist. */
  look(id: Uuid): Promise<EndpointState | undefined> {
    return this.looks.ask(id);
  }

  /** Returns false if the run is over, or the endpoint is just busy: try again. */
  renew(run: RunOf): Promise<boolean> {
    return this.renewals.ask(run);
  }

  /** "far": it must be done separately; null: another run has the endpoint. */
  step(wanted: StepWanted): Promise<Step | 'far' | null> {
    return this.steps.ask(wanted);
  }

  /** Null: another run has the endpoint. */
  store(landed: Landed): Promise<StoredRun | null> {
    return this.storeBy(this.outcomes, landed);
  }

  /** The same for runs that ended at once, which do not wait for those that take long. */
  storeFlight(landed: Landed): Promise<StoredRun | null> {
    return this.storeBy(this.flights, landed);
  }

  /** A run whose endpoint is locked is stored separately, and waits for the lock. */
  private async storeBy(recorder: Recorder, landed: Landed): Promise<StoredRun | null> {
    const stored = await recorder.ask(landed);
    if (stored !== 'locked') return stored;
    const [alone = null] = await this.inTurn(landed.run.tenantId, () =>
      this.storeAll([landed], true),
    );
    return alone === 'locked' ? null : alone;
  }

  private recorder(lingerMs: number): Recorder {
    const weigh = ({ ended, untried }: Landed): number =>
      ended.length + untried.length + MAX_OUTCOMES / MAX_GROUP;
    return new Together(
      { most: MAX_OUTCOMES, weigh, lingerMs, isOfOne },
      (landed: readonly Landed[]) => this.storeAll(landed, false),
    );
  }

  private async storeAll(
    landed: readonly Landed[],
    mayWait: boolean,
  ): Promise<readonly (StoredRun | 'locked' | null)[]> {
    const { database, clock, notifier } = this.deps;
    const { stored, notices } = await transact(database, (transaction) =>
      storeLanded(transaction, landed, clock(), mayWait),
    );
    for (const notice of notices) notifier.notify(notice);
    return stored;
  }

  private async lookAt(ids: readonly Uuid[]): Promise<readonly (EndpointState | undefined)[]> {
    const states = parseStates(await this.deps.database.reader.query(stateSql(...ids)));
    return ids.map((id) => states.get(id));
  }

  /** A locked endpoint must not hold up the others. */
  private renewAll(runs: readonly RunOf[]): Promise<readonly boolean[]> {
    const ids = runs.map(({ id }) => id);
    return transact(this.deps.database, async (transaction) => {
      const rows = await transaction.query(lockSql(ids, false));
      const fences = new Map(
        rows.map((row) => [column.uuid.parse(row.id), column.bigint.parse(row.fence)]),
      );
      const isOwn = ({ id, fence }: RunOf): boolean => fences.get(id) === fence;
      const own = runs.filter(isOwn).map(({ id }) => id);
      const leaseUntil = instant(this.deps.clock() + LEASE_MS);
      if (own.length > 0)
        await transaction.execute(updateSql(webhookEndpoints, { leaseUntil }, { id: own }));
      return runs.map(isOwn);
    });
  }
}

/** A failure because the database is away is not the endpoint's fault. */
export function isOfOne(failure: unknown): boolean {
  return !(failure instanceof DatabaseUnavailable || failure instanceof CommitUnknown);
}
