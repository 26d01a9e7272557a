import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Reader } from '../db/database.js';
import { assertAccountAllowed } from './access.js';
import { readBalances } from './balances.js';
import { type MovementFilter, type MovementPage, readMovements } from './movements.js';

/** What the API reads of accounts. Every method throws not_found or authority_insufficient where the caller has no right. */
export class AccountReading {
  private readonly reader: Reader;
  private readonly clock: Clock;

  constructor(reader: Reader, clock: Clock) {
    this.reader = reader;
    this.clock = clock;
  }

  balances(caller: Caller, accountId: Uuid): Promise<Readonly<Record<string, unknown>>> {
    return readBalances(this.reader, caller, accountId, this.clock());
  }

  async movements(
    caller: Caller,
    accountId: Uuid,
    filter: MovementFilter,
    before: bigint | null,
    limit: number,
  ): Promise<MovementPage> {
    await assertAccountAllowed(this.reader, 'readAccount', caller, accountId);
    return readMovements(this.reader, accountId, filter, before, limit);
  }
}
