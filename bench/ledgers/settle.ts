import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection } from 'mysql2/promise';

const TIMEOUT_MS = 180_000;
const POLL_MS = 200;
/** Dirty pages (of 16 KiB) that may remain, because writing them is negligible. */
const MAX_DIRTY_PAGES = 500;
/** Transactions whose old row versions may remain. */
const MAX_UNPURGED = 2_000;

/**
 * Waits until the server has written and purged earlier work, so that the next measurement does not pay for it. Returns
 * the seconds that it took.
 */
export async function settle(adminUrl: string): Promise<number> {
  const began = performance.now();
  const admin = await createConnection({ uri: adminUrl });
  try {
    const usual = await variable(admin, "SHOW GLOBAL VARIABLES LIKE 'innodb_max_dirty_pages_pct'");
    await admin.query('SET GLOBAL innodb_max_dirty_pages_pct=0');
    while (performance.now() - began < TIMEOUT_MS && !(await isAtRest(admin))) await sleep(POLL_MS);
    await admin.query(`SET GLOBAL innodb_max_dirty_pages_pct=${usual}`);
  } finally {
    await admin.end();
  }
  return (performance.now() - began) / 1000;
}

async function isAtRest(admin: Connection): Promise<boolean> {
  const dirty = await variable(admin, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'");
  const [rows] = await admin.query(
    "SELECT count FROM information_schema.innodb_metrics WHERE name='trx_rseg_history_len'",
  );
  const history = Number((rows as { count: number | string }[])[0]?.count ?? 0);
  return dirty <= MAX_DIRTY_PAGES && history <= MAX_UNPURGED;
}

async function variable(admin: Connection, sql: string): Promise<number> {
  const [rows] = await admin.query(sql);
  return Number((rows as { Value: string }[])[0]?.Value ?? 0);
}
