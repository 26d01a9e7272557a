import { type Clock, instant } from '../core/instant.js';
import { bigint, time } from '../db/columns.js';
import type { Reader } from '../db/database.js';

/** From this many events a second on, others post. */
const BUSY_PER_S = 20n;
const LOOK_EVERY_MS = 250;
/** By this long after its time, an event is usually visible. */
const MARGIN_MS = 1_000;

/** By their events, which a batch's rows do not write. (docs/decisions/0049-a-batch-holds-others-shortly.md) */
export class OthersPosting {
  /** The last event of each tenant with recent ones. */
  private seen: ReadonlyMap<string, bigint> = new Map();
  private lookedAt = 0;
  private isBusy = false;

  constructor(
    private readonly reader: Reader,
    private readonly clock: Clock,
    private readonly now = () => performance.now(),
  ) {}

  /** As of a moment ago. */
  async areMany(): Promise<boolean> {
    const now = this.now();
    const sinceMs = now - this.lookedAt;
    if (sinceMs < LOOK_EVERY_MS) return this.isBusy;
    this.lookedAt = now;
    const before = this.seen;
    this.seen = await this.look();
    let events = 0n;
    for (const [tenant, last] of this.seen) events += last - (before.get(tenant) ?? last - 1n);
    this.isBusy = events * 1_000n >= BUSY_PER_S * BigInt(Math.ceil(sinceMs));
    return this.isBusy;
  }

  private async look(): Promise<ReadonlyMap<string, bigint>> {
    const since = instant(this.clock() - MARGIN_MS);
    const rows = await this.reader.query(
      `SELECT HEX(tenant_id) AS tenant, last_sequence FROM event_counters FORCE INDEX (recent) WHERE last_at>=${time.literal(since)}`,
    );
    return new Map(rows.map((row) => [String(row.tenant), bigint.parse(row.last_sequence)]));
  }
}
