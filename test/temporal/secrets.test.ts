import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { VERIFICATION } from '../access/matrix-endpoints.js';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import { transferWorkflowId } from '../../src/temporal/contracts.js';
import { request, startTestApi } from '../support/api.js';
import { ApiProcess } from '../support/api-process.js';
import { answered, LEAST, text, transferBody } from '../support/bank.js';
import { testDatabase } from '../support/database.js';
import { keptByTemporal } from '../support/kept-by-temporal.js';
import {
  newNamespace,
  serving,
  sharedAddress,
  temporalEnvironment,
  type TestTemporal,
  until,
  untilEnded,
  untilWaiting,
} from '../support/temporal.js';
import {
  moveExpiry,
  newSignature,
  openGuardedBank,
  REASON,
  sendSignal,
} from '../support/temporal-world.js';
import { WorkerProcess } from '../support/worker-process.js';
import { assertLedgerSound } from '../support/world.js';

const db = await testDatabase();

describe('personal data of a pending transfer', () => {
  let temporal: TestTemporal;
  const planted = new Map<string, string>();

  /** A value that occurs nowhere else, to be searched for. */
  function plant(what: string, prefix = ''): string {
    const value = randomBytes(9).toString('hex');
    planted.set(what, value);
    return prefix + value;
  }

  function plantPhone(what: string): string {
    const phone = `300${randomInt(1_000_000, 9_999_999)}`;
    planted.set(what, phone);
    return `+57${phone}`;
  }

  before(async () => {
    temporal = await newNamespace(sharedAddress(), 'secrets');
  });

  it('personal data of a pending transfer is in no history, memo, search attribute, log line or metric: names, phones, documents, descriptions, reasons', async () => {
    const set = await startTestApi(db);
    const guarded = await openGuardedBank(set, { tenant: { name: plant('the tenant', 'T ') } });
    const { bank, source, target, approvers } = guarded;
    const [phone, alias] = [plantPhone('a phone'), `$a${plant('an alias')}`];
    const receiver = await bank.account({
      name: plant('a name', 'Zoe '),
      phone,
      alias: alias.slice(0, 20),
    });
    planted.set('an alias', alias.slice(0, 20));
    const declared = {
      ...VERIFICATION,
      legal_name: plant('a legal name'),
      document_number: plant('a document', 'D-'),
    };
    answered(
      await bank.request('PUT', `/v1/accounts/${target.id}/verification`, { body: declared }),
      200,
    );
    await set.stop();
    const logged = { LOG_LEVEL: 'debug' };
    const api = await ApiProcess.start(db.url, { ...temporalEnvironment(temporal), ...logged });
    const worker = await WorkerProcess.start(db.url, temporal, {
      ...serving('approvals'),
      ...logged,
    });
    try {
      const ask = (path: string, token: string, body?: object) =>
        request(api.baseUrl, 'POST', path, { token, body });
      const pend = async (): Promise<Uuid> => {
        const description = plant(`description ${planted.size}`);
        const body = transferBody({ from: source, to: receiver, raw: LEAST, description });
        const id = asUuid(
          text(answered(await ask('/v1/transfers', bank.token, body), 202).json.id),
        );
        await untilWaiting(temporal, id);
        return id;
      };
      const ids = [await pend(), await pend(), await pend(), await pend(), await pend()] as const;
      answered(await ask(`/v1/transfers/${ids[0]}/approve`, approvers[0]), 200);
      const reason = { reason: plant("a member's reason") };
      answered(await ask(`/v1/transfers/${ids[1]}/reject`, approvers[0], reason), 200);
      await sendSignal(temporal, ids[2], 'approve', { actor: 'Mallory', reason: REASON });
      await sendSignal(temporal, ids[2], 'approve', await newSignature(db.database));
      await moveExpiry(db, ids[3], Date.now());
      answered(await ask(`/v1/transfers/${ids[4]}/cancel`, bank.token), 200);
      for (const id of ids) await untilEnded(temporal, id);
      await until('all its queues are polled', () =>
        Promise.resolve(/the Temporal workers are polling/.test(worker.output)),
      );
      const places = {
        Temporal: await keptByTemporal(temporal, ids.map(transferWorkflowId)),
        'the log of the worker': worker.output,
        'the log of the API': api.output,
        'metrics of the worker': await worker.metrics(),
        'metrics of the API': await api.metrics(),
      };
      assert(
        places.Temporal.includes(REASON) && places.Temporal.includes(source.id),
        'the histories cannot be read',
      );
      assert.match(places['metrics of the worker'], /temporal_workflow_completed/);
      planted.set('the token', bank.token.slice(-40));
      planted.set('the password of MySQL', new URL(db.url).password);
      for (const [place, found] of Object.entries(places))
        assert.deepEqual(
          [...planted].filter(([, value]) => found.toLowerCase().includes(value.toLowerCase())),
          [],
          `found in ${place}`,
        );
      await assertLedgerSound(db.database);
    } finally {
      await Promise.all([api.kill(), worker.kill()]);
    }
  });
});
