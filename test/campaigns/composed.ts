import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { asUuid } from '../../src/core/ids.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { LEAST, openBank, text, transferBody } from '../helpers/bank.js';
import {
  assertPaidOnce,
  batchEvents,
  executedBatch,
  isBatchOver,
  openPayrollBank,
} from '../helpers/batch-workflows.js';
import { Composed } from '../helpers/composed.js';
import { HttpReceiver } from '../helpers/http-receiver.js';
import { answeredBy } from '../helpers/known-answer.js';
import { until } from '../helpers/temporal.js';
import { openGuardedBank, readTransfer } from '../helpers/temporal-world.js';
import { assertGenuine, openWebhookBank, untilArrived } from '../helpers/webhook-world.js';
import { assertLedgerSound } from '../helpers/world.js';

const ROWS = 200;
const HOOKED = 20;
const PORT = 8080;

/**
 * Every process of docker-compose.yml, by its commands and variables and nothing else: the users, Temporal on MySQL, the migrations, two
 * API processes, two workers, the proxy and the support desk. Through the proxy: a first transfer, an approval, a batch, webhooks; and once more
 * with one of each stopped.
 */
export async function composedCampaign(): Promise<string> {
  const composed = await Composed.prepare((gateway) => ({
    WEBHOOK_ALLOWED_HOSTS: `http://${gateway}:*`,
    PAYOUT_RAILS: '*=simulated',
  }));
  const receiver = await new HttpReceiver(composed.network.gateway).open();
  try {
    const mysql = await composed.startMysql();
    await composed.perform('mysql-users');
    await composed.startTemporal();
    for (let times = 0; times < 2; times += 1) await composed.perform('migrate');
    const [apis, workers, desks] = await Promise.all([
      composed.start('api'),
      composed.start('worker'),
      composed.start('support'),
    ]);
    const [proxy] = await composed.start('proxy');
    const tool = await toolBeside(composed, mysql.address);
    try {
      const baseUrl = `http://${proxy!.address}:${PORT}`;
      await untilServed(baseUrl);
      await useEverything(tool, baseUrl, receiver);
      assert.equal((await fetch(`http://${desks[0]!.address}:8070/sign-in`)).status, 200);
      const stopped = await Promise.all([apis[0]!.stop(), workers[0]!.stop()]);
      assert.deepEqual(stopped, [0, 0]);
      await useEverything(tool, baseUrl, receiver);
      await assertLedgerSound(tool.core.database);
    } finally {
      await tool.stop();
    }
    const processes = `Temporal on MySQL, ${apis.length} API processes, ${workers.length} workers, a proxy and the support desk`;
    return `${processes}, started as in docker-compose.yml: a transfer, an approval, a batch of ${ROWS} rows and ${HOOKED} webhooks succeeded twice, the second time after one API process and one worker had stopped`;
  } finally {
    await composed.close();
    await receiver.close();
  }
}

/** A second API for setting up tenants, on the same database with the same keys; it serves no observed request. */
function toolBeside(composed: Composed, host: string): Promise<TestApi> {
  const url = new URL(composed.secret('mysql_url'));
  url.hostname = host;
  const names = ['fingerprint_keys', 'cursor_keys', 'encryption_keys'];
  const keys = Object.fromEntries(names.map((name) => [name.toUpperCase(), composed.secret(name)]));
  const hosts = { WEBHOOK_ALLOWED_HOSTS: `http://${composed.network.gateway}:*` };
  return startTestApi({ url: url.href }, { ...keys, ...hosts }, { receiver: 'real' });
}

async function untilServed(baseUrl: string): Promise<void> {
  await until(
    'the proxy finds a process',
    async () => (await fetch(`${baseUrl}/docs`)).status === 200,
  );
}

async function useEverything(
  tool: TestApi,
  baseUrl: string,
  receiver: HttpReceiver,
): Promise<void> {
  await firstTransfer(tool, baseUrl);
  await Promise.all([
    anApproval(tool, baseUrl),
    aBatch(tool, baseUrl),
    webhooks(tool, baseUrl, receiver),
  ]);
}

async function firstTransfer(tool: TestApi, baseUrl: string): Promise<void> {
  const bank = await openBank(tool);
  const [from, to] = [await bank.account({ funds: { COPM: LEAST } }), await bank.account()];
  const options = {
    token: bank.token,
    body: transferBody({ from, to, raw: LEAST }),
    key: randomUUID(),
  };
  const made = await answeredBy({ baseUrl }, 'POST', '/v1/transfers', options);
  assert.deepEqual(await answeredBy({ baseUrl }, 'POST', '/v1/transfers', options), made);
  assert.equal(await bank.available(to), LEAST);
}

async function anApproval(tool: TestApi, baseUrl: string): Promise<void> {
  const { bank, source, target, approvers } = await openGuardedBank(tool);
  const body = transferBody({ from: source, to: target, raw: LEAST });
  const asked = { token: bank.token, body, key: randomUUID() };
  const id = text((await answeredBy({ baseUrl }, 'POST', '/v1/transfers', asked)).id);
  const approved = { token: approvers[0], key: randomUUID() };
  await answeredBy({ baseUrl }, 'POST', `/v1/transfers/${id}/approve`, approved);
  const transfer = await readTransfer(tool.core, asUuid(id));
  assert.equal(transfer.status, 'completed');
}

async function aBatch(tool: TestApi, baseUrl: string): Promise<void> {
  const payroll = await openPayrollBank(tool, BigInt(ROWS) * LEAST);
  const id = await executedBatch({ api: { baseUrl } }, payroll, ROWS);
  await until(`batch ${id} ends`, () => isBatchOver(tool.core, id));
  assert.equal(await assertPaidOnce(tool.core, id, ROWS), ROWS);
  assert.deepEqual(await batchEvents(tool.core, id), ['ready', 'completed']);
}

async function webhooks(tool: TestApi, baseUrl: string, receiver: HttpReceiver): Promise<void> {
  const own = await openWebhookBank(tool, receiver);
  const { bank, from, to, path } = own;
  const body = transferBody({ from, to, raw: LEAST });
  const send = async (): Promise<string> =>
    text(
      (
        await answeredBy({ baseUrl }, 'POST', '/v1/transfers', {
          token: bank.token,
          body,
          key: randomUUID(),
        })
      ).id,
    );
  const made = await Promise.all(Array.from({ length: HOOKED }, send));
  await untilArrived(receiver, path, made);
  await assertGenuine(receiver, own);
}
