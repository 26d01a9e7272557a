import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { asUuid } from '../../src/core/ids.js';
import { webhookWorkflowId } from '../../src/temporal/contracts.js';
import { request, startTestApi, type TestAnswer } from '../support/api.js';
import { ApiProcess } from '../support/api-process.js';
import { answered, idLiteral, LEAST, openBank, text, transferBody } from '../support/bank.js';
import { ownDatabase, type TestDatabase } from '../support/database.js';
import { HttpReceiver } from '../support/http-receiver.js';
import { keptByTemporal } from '../support/kept-by-temporal.js';
import {
  newNamespace,
  serving,
  sharedAddress,
  temporalEnvironment,
  until,
} from '../support/temporal.js';
import { newSignature } from '../support/temporal-world.js';
import { readHook, signalHook } from '../support/webhook-world.js';
import { WorkerProcess } from '../support/worker-process.js';
import { assertLedgerSound } from '../support/world.js';

describe('what is secret about a webhook endpoint', () => {
  const planted = new Map<string, string>();
  let db: TestDatabase;
  let receiver: HttpReceiver;

  function plant(what: string): string {
    const value = randomBytes(9).toString('hex');
    planted.set(what, value);
    return value;
  }

  before(async () => {
    db = await ownDatabase('hook_secrets');
    receiver = await new HttpReceiver().open();
  });
  after(async () => {
    await receiver.close();
    await db.remove();
  });

  it('what is secret about a webhook endpoint appears in no log, metric, history or error: signing secrets, credentials in URLs, even when we fail', async () => {
    const temporal = await newNamespace(sharedAddress(), 'hook_secrets');
    const set = await startTestApi(db);
    const bank = await openBank(set);
    const [from, to] = [
      await bank.account({ funds: { COPM: 100n * LEAST } }),
      await bank.account(),
    ];
    await set.stop();
    const logged = { LOG_LEVEL: 'debug', WEBHOOK_ALLOWED_HOSTS: 'http://127.0.0.1:*' };
    const proxy = `http://egress:${plant('the password of the egress proxy')}@127.0.0.1:1`;
    const api = await ApiProcess.start(db.url, {
      ...{ ...temporalEnvironment(temporal), ...logged },
      WEBHOOK_PROXY_URL: proxy,
    });
    const worker = await WorkerProcess.start(db.url, temporal, {
      ...serving('webhooks'),
      ...logged,
    });
    const answers: string[] = [];
    try {
      const ask = async (method: string, path: string, body?: object): Promise<TestAnswer> => {
        const answer = await request(api.baseUrl, method, path, { token: bank.token, body });
        answers.push(answer.text);
        return answer;
      };
      const endpoints = '/v1/webhook_endpoints';
      const wanted = { events: ['transfer.completed'] };
      for (const url of [
        `https://user:${plant('credentials in a URL')}@example.com/`,
        `https://10.0.0.1/?token=${plant('the query of a private address')}`,
        `ftp://example.com/${plant('the path of another scheme')}`,
        `https://${plant('what is no URL')} /`,
      ])
        answered(await ask('POST', endpoints, { url, ...wanted }), 400, 'invalid_field');
      const url = receiver.url(`/hook?token=${plant('the query of a URL')}`);
      const { json: endpoint } = answered(await ask('POST', endpoints, { url, ...wanted }), 201);
      // The answers that show a secret, or the URL, are as they should be.
      answers.length = 0;
      const id = text(endpoint.id);
      const bare = (secret: unknown): string => text(secret).replace('whsec_', '');
      planted.set('the first secret', bare(endpoint.secret));
      const rotated = answered(await ask('POST', `${endpoints}/${id}/rotate_secret`), 200);
      answers.length = 0;
      planted.set('the second secret', bare(rotated.json.secret));
      planted.set('the key that seals them', Buffer.alloc(32, 7).toString('base64'));
      planted.set('the token', bank.token.slice(-40));

      const transfer = (): Promise<TestAnswer> =>
        ask('POST', '/v1/transfers', transferBody({ from, to, raw: LEAST }));
      receiver.reply = () => 500;
      answered(await transfer(), 201);
      await until('it has come', () => receiver.arrived.length === 1);
      answered(await ask('POST', `${endpoints}/${id}/test`), 202);
      await until('the proxy has failed', async () => (await failures(id)) !== '');
      await signalHook(temporal, id, 'retry_now', await newSignature(db.database));
      await db.sql('RENAME TABLE webhook_attempts TO gone_attempts');
      answered(await transfer(), 201);
      await until('a sender has failed', () => worker.output.includes('sending webhooks failed'));
      const during = await keptByTemporal(temporal, [webhookWorkflowId(id)]);
      await db.sql('RENAME TABLE gone_attempts TO webhook_attempts');
      receiver.reply = () => 200;
      await until(
        'it goes on',
        async () => (await readHook(db, asUuid(id))).lastSuccessAt !== null,
      );
      await ask('GET', `${endpoints}/${id}/deliveries`);

      const places = {
        'Temporal during a fault': during,
        Temporal: await keptByTemporal(temporal, [webhookWorkflowId(id)]),
        'the log of the worker': worker.output,
        'the log of the API': api.output,
        'metrics of the worker': await worker.metrics(),
        'metrics of the API': await api.metrics(),
        answers: answers.join('\n'),
        'the tables': await tables(),
      };
      assert(places.Temporal.includes(id), 'the histories cannot be read');
      const inTables = new Set(['the query of a URL']);
      for (const [place, found] of Object.entries(places))
        assert.deepEqual(
          [...planted]
            .filter(([what]) => place !== 'the tables' || !inTables.has(what))
            .filter(([, value]) => found.toLowerCase().includes(value.toLowerCase()))
            .map(([what]) => what),
          [],
          `found in ${place}`,
        );
      await assertLedgerSound(db.database);
    } finally {
      await Promise.all([api.kill(), worker.kill()]);
    }
  });

  /** Why attempts failed, as it is shown. */
  async function failures(id: string): Promise<string> {
    const rows = await db.sql(
      `SELECT failure, message FROM webhook_attempts WHERE endpoint_id=${idLiteral(id)} AND failure IS NOT NULL`,
    );
    return rows.map(({ failure, message }) => `${String(failure)} ${String(message)}`).join('\n');
  }

  async function tables(): Promise<string> {
    const rows = await Promise.all(
      [
        'webhook_endpoints',
        'webhook_deliveries',
        'webhook_attempts',
        'idempotency_keys',
        'audit_log',
      ].map((table) => db.sql(`SELECT * FROM ${table}`)),
    );
    const readable = (value: unknown): string =>
      Buffer.isBuffer(value) ? value.toString('latin1') : String(value);
    return rows
      .flatMap((some) => some.flatMap((row) => Object.values(row).map(readable)))
      .join('\n');
  }
});
