import type { Registry } from 'prom-client';
import { registerGauges } from '../core/meters.js';
import type { Reader } from '../db/database.js';
import { OPEN_RESTORE_SQL } from '../ledger/event-log.js';

export function restoreMetrics(registry: Registry, reader: Reader): void {
  registerGauges(
    registry,
    {
      restore_open: {
        help: '1 while a restore is open: the ledger posts nothing until it is finished',
      },
    },
    async () => ({ restore_open: (await reader.query(OPEN_RESTORE_SQL)).length }),
  );
}
