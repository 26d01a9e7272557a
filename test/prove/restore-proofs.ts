import { restoreDrill } from '../campaigns/restore.js';
import { PhysicalCopier } from '../campaigns/restored-copies.js';
import type { TestDatabase } from '../support/database.js';
import { PrivateTemporal } from '../support/private-temporal.js';
import { counts } from './counts.js';

/** The long drill: a backup by mariadb-backup, its binary logs up to ten minutes before the end, into another server. */
export const RESTORE_PROOFS: Readonly<Record<string, (db: TestDatabase) => Promise<string[]>>> = {
  restore: async () => {
    const server = await PrivateTemporal.start();
    try {
      const { beforeS, lostS } = counts('RESTORE_SECONDS', { beforeS: 60, lostS: 600 });
      const drill = { clients: 32, beforeMs: beforeS * 1_000, lostMs: lostS * 1_000, rows: 5_000 };
      return [
        await restoreDrill({
          ...drill,
          copier: await PhysicalCopier.start(),
          temporal: server.temporal,
        }),
      ];
    } finally {
      await server.remove();
    }
  },
};
