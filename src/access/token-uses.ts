import { type Clock, type Instant, instant } from '../core/instant.js';
import type { Database } from '../db/database.js';
import { tokens } from '../db/entities/parties.js';
import { literal, literals } from '../db/statements.js';

/** By all processes together. */
const EVERY_MS = 5 * 60_000;
const GATHER_MS = 10_000;
const MAX_NOTED = 20_000;

/**
 * Records when tokens were last used, some minutes late. A process that is killed loses its last
 * uses.
 */
export class TokenUses {
  private readonly noted = new Map<string, Instant>();
  private waiting = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Pick<Database, 'withTransaction'>,
    private readonly clock: Clock,
  ) {}

  note(keyId: string): void {
    const now = this.clock();
    const before = this.noted.get(keyId);
    if (before !== undefined && now - before < EVERY_MS) return;
    if (this.noted.size >= MAX_NOTED) this.noted.clear();
    this.noted.set(keyId, now);
    this.waiting.add(keyId);
    this.timer ??= setTimeout(() => void this.write(), GATHER_MS).unref();
  }

  /** Never throws: a later use makes up for a failed write. */
  async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const keyIds = [...this.waiting].sort();
    if (keyIds.length === 0) return;
    this.waiting = new Set();
    const now = this.clock();
    const known = literal(tokens, 'lastUsedAt', instant(now - EVERY_MS));
    const sql = `UPDATE tokens SET last_used_at=${literal(tokens, 'lastUsedAt', now)}
      WHERE key_id IN (${literals(tokens, 'keyId', keyIds)}) AND (last_used_at IS NULL OR last_used_at<${known})`;
    try {
      await this.database.withTransaction((transaction) => transaction.execute(sql));
    } catch {
      for (const keyId of keyIds) this.noted.delete(keyId);
    }
  }
}
