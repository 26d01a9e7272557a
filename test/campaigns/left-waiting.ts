import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Uuid } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { transfers } from '../../src/db/entities/operations.js';
import { members, tenants } from '../../src/db/entities/parties.js';
import { webhookEndpoints } from '../../src/db/entities/webhooks.js';
import { BatchWorld, payroll } from '../batches/support.js';
import { openPayoutBank } from '../payouts/support.js';
import { askStatement } from '../statements/support.js';
import { request, type TestApi } from '../helpers/api.js';
import { answered, LEAST } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import type { HttpReceiver } from '../helpers/http-receiver.js';
import { openGuardedBank } from '../helpers/temporal-world.js';
import { until } from '../helpers/temporal.js';
import { openWebhookBank } from '../helpers/webhook-world.js';
import { makeToken } from '../helpers/world.js';

/** Everything that can wait in a database, made while no worker runs. */

const COUNT = 20;
/** A statement's period must have ended this long ago. */
const STATEMENT_MS = 16_000;
const END_MS = 300_000;
const WAITING = {
  transfers: ['pending_approval'],
  payouts: ['pending_approval', 'approved', 'in_progress'],
  batches: ['validating', 'executing'],
  statements: ['preparing'],
} as const;

/** Makes transfers that wait for two approvals, payouts, batches, a statement and undelivered events. */
export async function leaveWaiting(api: TestApi, receiver: HttpReceiver): Promise<void> {
  const began = Date.now();
  await (await openWebhookBank(api, receiver)).sendMany(COUNT);
  await (
    await openGuardedBank(api, { approvals: 2, expiresInS: 2_592_000 })
  ).createManyPending(COUNT);
  const payouts = await openPayoutBank(api);
  for (let made = 0; made < COUNT; made += 1) await payouts.pay();
  const { bank } = payouts;
  const [from, to] = [await bank.account({ funds: { COPM: 100n * LEAST } }), await bank.account()];
  const rows = Array.from({ length: COUNT }, () => [to.id, LEAST.toString(), 'COPM']);
  const batches = BatchWorld.of(bank);
  await batches.uploaded(from, payroll(rows));
  await batches.executed(from, payroll([[to.id, LEAST.toString(), 'COPM', 'one row']]));
  await sleep(STATEMENT_MS);
  const period = { from: instant(began), to: instant(Date.now() - STATEMENT_MS) };
  answered(await askStatement(bank, { account: from, ...period }), 201);
}

/** Points the tenants' endpoints to `receiver`, and approves their transfers that wait, unless they have expired. */
export async function continueWaiting(
  { database }: TestDatabase,
  tenantIds: readonly Uuid[],
  baseUrl: string,
  receiver: HttpReceiver,
): Promise<void> {
  const { reader } = database;
  for (const { id, tenantId } of await reader.select(webhookEndpoints, { tenantId: tenantIds })) {
    const [owner] = await reader.select(members, { tenantId, name: 'owner' });
    const { text: token } = await makeToken(database, owner!);
    const body = { url: receiver.url('/left') };
    const path = `/v1/webhook_endpoints/${id}`;
    answered(await request(baseUrl, 'PATCH', path, { token, body }), 200);
  }
  for (const name of ['first approver', 'second approver'])
    for (const approver of await reader.select(members, { name, tenantId: tenantIds })) {
      const { text: token } = await makeToken(database, approver);
      const { tenantId } = approver;
      const waiting = await reader.select(transfers, { tenantId, status: 'pending_approval' });
      for (const { id } of waiting) {
        const path = `/v1/transfers/${id}/approve`;
        const { status, text } = await request(baseUrl, 'POST', path, { token });
        assert.ok(status === 200 || status === 409, text);
      }
    }
}

/** Returns the tenants that a database has. */
export async function tenantsOf({ database }: TestDatabase): Promise<readonly Uuid[]> {
  return (await database.reader.select(tenants, {})).map(({ id }) => id);
}

/** Returns how many resources wait. */
export async function countWaiting({ sql }: TestDatabase): Promise<number> {
  const counts = Object.entries(WAITING).map(([table, states]) => {
    const list = states.map((state) => `'${state}'`).join(',');
    return `(SELECT COUNT(*) FROM ${table} WHERE status IN (${list}))`;
  });
  const [row] = await sql(`SELECT ${counts.join('+')} AS n`);
  return Number(row?.n);
}

/** Resolves when nothing waits any more and every event that was undelivered has arrived. */
export async function untilAllEnded(db: TestDatabase, receiver: HttpReceiver): Promise<void> {
  await until('nothing waits', async () => (await countWaiting(db)) === 0, { limitMs: END_MS });
  const arrived = (): number => new Set(receiver.at('/left').map(({ id }) => id)).size;
  await until('the events arrive', () => arrived() >= COUNT, { limitMs: END_MS });
}
