import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { VERIFICATION } from '../access/matrix-endpoints.js';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import {
  payoutBatchWorkflowId,
  scheduleWorkflowId,
  transferWorkflowId,
  webhookWorkflowId,
} from '../../src/temporal/contracts.js';
import type { Account } from '../../src/db/entities/parties.js';
import { request, startTestApi, type TestAnswer } from '../helpers/api.js';
import { ApiProcess } from '../helpers/api-process.js';
import { answered, idLiteral, LEAST, object, text, transferBody } from '../helpers/bank.js';
import { supplierCsv, type SupplierRow } from '../batches/payout-support.js';
import { formOf } from '../batches/support.js';
import { ownDatabase, type TestDatabase } from '../helpers/database.js';
import { HttpReceiver } from '../helpers/http-receiver.js';
import { keptByTemporal } from '../helpers/kept-by-temporal.js';
import {
  newNamespace,
  serving,
  sharedAddress,
  temporalEnvironment,
  type TestTemporal,
  until,
  untilEnded,
  untilWaiting,
  workflowOf,
} from '../helpers/temporal.js';
import {
  type GuardedBank,
  moveExpiry,
  newSignature,
  openGuardedBank,
  REASON,
  sendSignal,
} from '../helpers/temporal-world.js';
import { readEndpoint, signalEndpoint } from '../helpers/webhook-world.js';
import { startTestDesk, type TestDesk } from '../support/desk.js';
import { makeDue, untilShown } from '../transfers/schedules/support.js';
import { WorkerProcess } from '../helpers/worker-process.js';
import { assertLedgerSound } from '../helpers/world.js';

const ENDPOINTS = '/v1/webhook_endpoints';
const WANTED = { events: ['transfer.completed'] };

describe('secrets and personal data in workers and in Temporal', () => {
  const planted = new Map<string, string>();
  const answers: string[] = [];
  let db: TestDatabase;
  let temporal: TestTemporal;
  let receiver: HttpReceiver;
  let guarded: GuardedBank;
  let payer: Account;
  let person: Account;
  let api: ApiProcess;
  let worker: WorkerProcess;
  let desk: TestDesk;
  const deskLines: string[] = [];

  /** A value that occurs nowhere else, to be searched for. */
  function plant(what: string, prefix = ''): string {
    const value = randomBytes(9).toString('hex');
    planted.set(what, value);
    return prefix + value;
  }

  before(async () => {
    db = await ownDatabase('planted');
    temporal = await newNamespace(sharedAddress(), 'planted');
    receiver = await new HttpReceiver().open();
    const set = await startTestApi(db);
    guarded = await openGuardedBank(set, { tenant: { name: plant('the tenant', 'T ') } });
    payer = await guarded.bank.account({ funds: { COPM: 100n * LEAST } });
    const alias = plant('an alias', '$a').slice(0, 20);
    const phone = `300${randomInt(1_000_000, 9_999_999)}`;
    planted.set('an alias', alias).set('a phone', phone);
    const name = plant('a name', 'Zoe ');
    person = await guarded.bank.account({ name, phone: `+57${phone}`, alias });
    await set.stop();
    const logged = { LOG_LEVEL: 'debug', WEBHOOK_ALLOWED_HOSTS: 'http://127.0.0.1:*' };
    api = await ApiProcess.start(db.url, {
      ...{ ...temporalEnvironment(temporal), ...logged },
      WEBHOOK_PROXY_URL: `http://egress:${plant('the password of the egress proxy')}@127.0.0.1:1`,
    });
    const served = { ...serving('approvals', 'webhooks', 'batches', 'payouts'), ...logged };
    worker = await WorkerProcess.start(db.url, temporal, served);
    desk = await startTestDesk(db, {}, undefined, (line) => void deskLines.push(line));
    planted.set('the token', guarded.bank.token.slice(-40));
    planted.set('the password of MySQL', new URL(db.url).password);
  });
  after(async () => {
    await Promise.all([api.kill(), worker.kill(), desk.stop(), receiver.close()]);
    await db.remove();
  });

  const ask = async (
    method: string,
    path: string,
    body?: object,
    token = guarded.bank.token,
  ): Promise<TestAnswer> => {
    const answer = await request(api.baseUrl, method, path, { token, body });
    answers.push(answer.text);
    return answer;
  };
  /** Fails if a planted value is in one of these, in the logs or in the metrics. */
  const assertHidden = async (more: Readonly<Record<string, string>>): Promise<void> => {
    const places = {
      'the log of the worker': worker.output,
      'the log of the API': api.output,
      'the log of the desk': deskLines.join(''),
      'metrics of the desk': await (await fetch(`${desk.adminUrl}/metrics`)).text(),
      'metrics of the worker': await worker.metrics(),
      'metrics of the API': await api.metrics(),
      ...more,
    };
    for (const [place, found] of Object.entries(places))
      assert.deepEqual(
        [...planted]
          .filter(([what]) => place !== 'the tables' || what !== 'the query of a URL')
          .filter(([, value]) => found.toLowerCase().includes(value.toLowerCase()))
          .map(([what]) => what),
        [],
        `found in ${place}`,
      );
    await assertLedgerSound(db.database);
  };

  it('signing secrets and credentials in URLs of webhook endpoints are in no log, metric, history, error or table, even after a fault of the service', async () => {
    for (const url of [
      `https://user:${plant('credentials in a URL')}@example.com/`,
      `https://10.0.0.1/?token=${plant('the query of a private address')}`,
      `ftp://example.com/${plant('the path of another scheme')}`,
      `https://${plant('what is no URL')} /`,
    ])
      answered(await ask('POST', ENDPOINTS, { url, ...WANTED }), 400, 'invalid_field');
    const url = receiver.url(`/hook?token=${plant('the query of a URL')}`);
    const { json: endpoint } = answered(await ask('POST', ENDPOINTS, { url, ...WANTED }), 201);
    const id = text(endpoint.id);
    const rotated = answered(await ask('POST', `${ENDPOINTS}/${id}/rotate_secret`), 200);
    // The answers that show a secret, or the URL, are as they should be.
    answers.length = 0;
    const bare = (secret: unknown): string => text(secret).replace('whsec_', '');
    planted.set('the first secret', bare(endpoint.secret));
    planted.set('the second secret', bare(rotated.json.secret));
    planted.set('the key that seals them', Buffer.alloc(32, 7).toString('base64'));

    const body = transferBody({ from: payer, to: guarded.target, raw: LEAST });
    const transfer = (): Promise<TestAnswer> => ask('POST', '/v1/transfers', body);
    receiver.reply = () => 500;
    answered(await transfer(), 201);
    await until('it has come', () => receiver.arrived.length === 1);
    answered(await ask('POST', `${ENDPOINTS}/${id}/test`), 202);
    await until('the proxy has failed', async () => {
      const own = `endpoint_id=${idLiteral(id)} AND failure IS NOT NULL`;
      return (await db.sql(`SELECT 1 FROM webhook_attempts WHERE ${own}`)).length > 0;
    });
    await signalEndpoint(temporal, id, 'retry_now', await newSignature(db.database));
    await db.sql('RENAME TABLE webhook_attempts TO gone_attempts');
    answered(await transfer(), 201);
    await until('a sender has failed', () => worker.output.includes('sending webhooks failed'));
    const during = await keptByTemporal(temporal, [webhookWorkflowId(id)]);
    await db.sql('RENAME TABLE gone_attempts TO webhook_attempts');
    receiver.reply = () => 200;
    await until(
      'it goes on',
      async () => (await readEndpoint(db, asUuid(id))).lastSuccessAt !== null,
    );
    await ask('GET', `${ENDPOINTS}/${id}/deliveries`);
    const kept = await keptByTemporal(temporal, [webhookWorkflowId(id)]);
    assert(kept.includes(id), 'the histories cannot be read');
    await assertHidden({
      ...{ 'Temporal during a fault': during, Temporal: kept },
      ...{ answers: answers.join('\n'), 'the tables': await tables() },
    });
  });

  it('personal data of a pending transfer is in no history, memo, search attribute, log line or metric: names, phones, documents, descriptions, reasons, notes', async () => {
    const { source, target, approvers } = guarded;
    const declared = {
      ...VERIFICATION,
      legal_name: plant('a legal name'),
      document_number: plant('a document', 'D-'),
    };
    answered(await ask('PUT', `/v1/accounts/${target.id}/verification`, declared), 200);
    const createPending = async (): Promise<Uuid> => {
      const description = plant(`description ${planted.size}`);
      const metadata = { note: plant(`a value of metadata ${planted.size}`) };
      const body = transferBody({ from: source, to: person, raw: LEAST, description, metadata });
      const id = asUuid(text(answered(await ask('POST', '/v1/transfers', body), 202).json.id));
      await untilWaiting(temporal, id);
      return id;
    };
    const act = (index: number, action: string, body?: object, token?: string) =>
      ask('POST', `/v1/transfers/${ids[index]}/${action}`, body, token);
    const ids = [
      await createPending(),
      await createPending(),
      await createPending(),
      await createPending(),
      await createPending(),
    ] as const;
    answered(await act(0, 'approve', undefined, approvers[0]), 200);
    const maria = await desk.staffed('maria');
    const note = async (index: number, what: string, written = plant(what)) =>
      (await maria.act(`/transfers/${ids[index]}`, 'note', { reason: written })).status;
    assert.equal(await note(1, 'a note'), 303);
    assert.equal(await note(2, '', plant('a long note').padEnd(2_001, '.')), 400);
    const reason = plant("a member's reason");
    answered(await act(1, 'reject', { reason }, approvers[0]), 200);
    await sendSignal(temporal, ids[2], 'approve', { actor: 'Mallory', reason: REASON });
    await sendSignal(temporal, ids[2], 'approve', await newSignature(db.database));
    await moveExpiry(db, ids[3], Date.now());
    answered(await act(4, 'cancel'), 200);
    const scheduleId = await ranSchedule();
    for (const id of ids) await untilEnded(temporal, id);
    const form = await maria.form(`/transfers/${ids[2]}`, 'note');
    await db.sql('RENAME TABLE audit_log TO gone_audit_log');
    const faulty = { ...form, reason: plant('a note during a fault') };
    const { status } = await maria.post(`/transfers/${ids[2]}/note`, faulty);
    await db.sql('RENAME TABLE gone_audit_log TO audit_log');
    assert(status >= 500 && deskLines.length > 0, `${status}, ${deskLines.length} lines`);
    const workflowIds = [...ids.map(transferWorkflowId), scheduleWorkflowId(scheduleId)];
    const kept = await keptByTemporal(temporal, workflowIds);
    assert(kept.includes(REASON) && kept.includes(source.id), 'the histories cannot be read');
    assert.match(await worker.metrics(), /temporal_workflow_completed/);
    await assertHidden({ Temporal: kept });
  });

  it('account numbers and documents of the rows of a batch are in no history, log line, metric, table, event or file, whether the file is accepted or not', async () => {
    const { bank, source, approvers } = guarded;
    const earlier = answers.length;
    const secrets: string[] = [];
    const digits = (what: string, length: number): string => {
      const value = Array.from({ length }, () => randomInt(1, 10)).join('');
      planted.set(what, value);
      secrets.push(value);
      return value;
    };
    const row = (what: string, amount: bigint) => ({
      account_number: digits(`an account of ${what}`, 16),
      holder_document: digits(`a document of ${what}`, 12),
      amount: amount.toString(),
    });
    const upload = async (...rows: readonly SupplierRow[]): Promise<string> => {
      const form = formOf(supplierCsv(...rows), { source_account: source.id });
      const options = { token: bank.token, form };
      const made = await request(api.baseUrl, 'POST', '/v1/payout_batches', options);
      const id = text(answered(made, 201).json.id);
      await until('it is validated', async () => {
        const { status } = (await ask('GET', `/v1/payout_batches/${id}`)).json;
        return status !== 'validating';
      });
      return id;
    };
    const wrong = await upload(row('a wrong row', 0n), { ...row('a row', LEAST), country: 'XX' });
    await ask('GET', `/v1/payout_batches/${wrong}/files/errors`);
    const id = await upload(row('a paid row', LEAST), row('another', LEAST));
    answered(await ask('POST', `/v1/payout_batches/${id}/execute`, undefined, approvers[0]), 202);
    await until('its payouts have ended', async () => {
      const { json } = await ask('GET', `/v1/payout_batches/${id}`);
      return json.status === 'completed' && Number(object(json.payouts).approved) === 0;
    });
    for (const path of ['', '/rows', '/files/result'])
      await ask('GET', `/v1/payout_batches/${id}${path}`);
    await ask('GET', `/v1/payouts?batch=${id}`);
    const { text: events } = await request(api.baseUrl, 'GET', '/v1/events?limit=100', {
      token: bank.token,
    });
    const stored = await tables('batch_rows', 'batch_problems', 'payouts', 'outbox');
    for (const secret of secrets) assert(!`${events}${stored}`.includes(secret), 'found');
    const kept = await keptByTemporal(temporal, [
      payoutBatchWorkflowId(wrong),
      payoutBatchWorkflowId(id),
    ]);
    assert(kept.includes(id), 'the histories cannot be read');
    await db.sql('DELETE FROM upload_chunks');
    await assertHidden({ Temporal: kept, answers: answers.slice(earlier).join('\n') });
  });

  /** Schedules a transfer whose run is due at once, and returns the schedule's id when it has ended. */
  async function ranSchedule(): Promise<string> {
    const description = plant('the description of a schedule');
    const metadata = { note: plant('the metadata of a schedule') };
    const transfer = transferBody({ from: payer, to: person, raw: LEAST, description, metadata });
    const starts_at = new Date(Date.now() + 86_400_000).toISOString();
    const body = { transfer, starts_at };
    const id = text(answered(await ask('POST', '/v1/schedules', body), 201).json.id);
    await untilShown(temporal, id, /Waiting for run 1/);
    await makeDue(db, id, 2);
    await workflowOf(temporal, id, 'schedule').signal('changed');
    await workflowOf(temporal, id, 'schedule').result();
    return id;
  }

  async function tables(...more: readonly string[]): Promise<string> {
    const names = 'endpoints deliveries attempts'.split(' ').map((name) => `webhook_${name}`);
    const rows = await Promise.all(
      [...names, 'idempotency_keys', 'audit_log', ...more].map((table) =>
        db.sql(`SELECT * FROM ${table}`),
      ),
    );
    const readable = (value: unknown): string =>
      Buffer.isBuffer(value) ? value.toString('latin1') : String(value);
    return rows
      .flatMap((some) => some.flatMap((row) => Object.values(row).map(readable)))
      .join('\n');
  }
});
