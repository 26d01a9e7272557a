import type { Clock } from '../core/instant.js';
import { time, uuid } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { transact } from '../db/transact.js';
import type { TemporalClient } from './client.js';
import { TemporalUnavailable } from './failures.js';
import type { Sweep } from './sweeper.js';
import type { WaitingSource } from './waiting.js';

interface RetellingDeps {
  readonly database: Database;
  readonly client: TemporalClient;
  readonly sources: readonly WaitingSource[];
  readonly clock: Clock;
}

const RETELL_EVERY_MS = 5_000;
const TOLD_AT_ONCE = 20;

/**
 * After a restore the first worker to notice tells every running workflow to look again: one whose resource is now in
 * an earlier state continues from there, one whose resource is gone ends. Telling it twice does no harm.
 */
export function retellSweep(deps: RetellingDeps): Sweep {
  return {
    name: 'restored',
    everyMs: RETELL_EVERY_MS,
    run: async (signal) => {
      const { database, client, sources, clock } = deps;
      const untold = await database.reader.query(
        'SELECT id FROM restores WHERE finished_at IS NOT NULL AND told_at IS NULL',
      );
      if (untold.length === 0) return false;
      try {
        for (const { workflowType } of sources) await retell(client, workflowType, signal);
      } catch (failure) {
        if (failure instanceof TemporalUnavailable) return false;
        throw failure;
      }
      if (signal.aborted) return false;
      const ids = untold.map((row) => uuid.literal(uuid.parse(row.id)));
      const set = `UPDATE restores SET told_at=${time.literal(clock())} WHERE id IN (${ids.join(',')})`;
      await transact(database, (transaction) => transaction.execute(set));
      return false;
    },
  };
}

async function retell(
  client: TemporalClient,
  type: WaitingSource['workflowType'],
  signal: AbortSignal,
): Promise<void> {
  let together: string[] = [];
  const tellThem = async (): Promise<void> => {
    await Promise.all(together.map((id) => client.tell(id)));
    together = [];
  };
  for await (const id of client.running(type)) {
    if (signal.aborted) return;
    together.push(id);
    if (together.length === TOLD_AT_ONCE) await tellThem();
  }
  await tellThem();
}
