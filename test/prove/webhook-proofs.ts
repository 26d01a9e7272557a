import { hangingEndpoints } from '../campaigns/hanging-endpoints.js';
import { manyEndpoints } from '../campaigns/many-endpoints.js';
import { freshDatabase, ownDatabase } from '../support/database.js';
import { webhookKills } from '../campaigns/webhook-kills.js';
import type { TestDatabase } from '../support/database.js';
import { PrivateMysql } from '../support/private-mysql.js';
import { PrivateTemporal } from '../support/private-temporal.js';
import type { TestTemporal } from '../support/temporal.js';
import { counts } from './counts.js';

/** The long proofs of webhooks. */
export const WEBHOOK_PROOFS: Readonly<Record<string, (db: TestDatabase) => Promise<string[]>>> = {
  'webhook-kills': () =>
    withTemporal(async (temporal) => {
      const mysql = await PrivateMysql.start();
      try {
        const db = await freshDatabase(mysql.adminUrl, 'money_webhooks');
        const summary = await webhookKills({ db, temporal, events: 100_000, kills: 50 });
        await db.close();
        return summary;
      } finally {
        await mysql.remove();
      }
    }),
  'many-endpoints': () =>
    withTemporal(async (temporal) => {
      const db = await ownDatabase('many_endpoints');
      try {
        const many = counts('MANY_ENDPOINTS', { endpoints: 5_000, seconds: 300 });
        const pace = { everyMs: 5_000, workers: 2, killEveryMs: 10_000 };
        return await manyEndpoints({ db, temporal, ...many, ...pace, isTimed: true });
      } finally {
        await db.remove();
      }
    }),
  'hanging-endpoints': (db) =>
    withTemporal((temporal) => {
      const many = { endpoints: 500, tenants: 32, others: 10 };
      return hangingEndpoints({ db, temporal, ...many, warmUp: 30, transfers: 60, isTimed: true });
    }),
};

async function withTemporal(work: (temporal: TestTemporal) => Promise<string>): Promise<string[]> {
  const server = await PrivateTemporal.start();
  try {
    return [await work(server.temporal)];
  } finally {
    await server.remove();
  }
}
