import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Worker } from '@temporalio/worker';
import { IN_A_THREAD } from '../../development/replay-histories.js';
import { BUNDLE_FILE, TRACED_BUNDLE_FILE } from '../../src/temporal/workers.js';
import { payoutWorkflowId } from '../../src/temporal/contracts.js';
import { openPayoutBank, payoutBody } from '../payouts/support.js';
import { request, startTestApi, TEST_KEYRING, type TestAnswer } from '../helpers/api.js';
import { ApiProcess } from '../helpers/api-process.js';
import { answered, idLiteral, text } from '../helpers/bank.js';
import { BankGateway, type GatewayAnswer, type GatewayRequest } from '../helpers/bank-gateway.js';
import { testDatabase } from '../helpers/database.js';
import { HttpReceiver } from '../helpers/http-receiver.js';
import {
  newNamespace,
  serving,
  sharedAddress,
  temporalEnvironment,
  until,
} from '../helpers/temporal.js';
import { installRuntimeOnce, startTestWorker } from '../helpers/temporal-worker.js';
import { TraceCollector } from '../helpers/trace-collector.js';
import { WorkerProcess } from '../helpers/worker-process.js';

const NAME = 'traced';
const TRACEPARENT = /^00-([0-9a-f]{32})-[0-9a-f]{16}-01$/;

class ListeningGateway extends BankGateway {
  readonly heard: (string | undefined)[] = [];

  protected override answer(asked: GatewayRequest): GatewayAnswer {
    this.heard.push(asked.headers.traceparent?.toString());
    return super.answer(asked);
  }
}

installRuntimeOnce();
const db = await testDatabase();
const temporal = await newNamespace(sharedAddress(), 'traces');
const [collector, gateway, receiver] = await Promise.all([
  new TraceCollector().start(),
  new ListeningGateway(NAME, TEST_KEYRING).start(),
  new HttpReceiver().open(),
]);
const [key] = TEST_KEYRING;
const environment = {
  ...temporalEnvironment(temporal),
  ...serving('payouts', 'webhooks'),
  PAYOUT_RAILS: `*=http:${NAME}`,
  PAYOUT_RAIL_URLS: `${NAME}=${gateway.url}`,
  PAYOUT_RAIL_KEYS: `${NAME}=${key.id}:${key.secret.toString('base64')}`,
  LOG_LEVEL: 'info',
};
const setting = await startTestApi(db, environment, {
  receiver: 'real',
  log: { write: () => undefined },
});
const own = await openPayoutBank(setting);
const body = { url: receiver.url('/hook'), events: ['payout.completed'] };
answered(await own.bank.request('POST', '/v1/webhook_endpoints', { body }), 201);
const traced = { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
const [api, worker] = await Promise.all([
  ApiProcess.start(db.url, traced),
  WorkerProcess.start(db.url, temporal, traced),
]);

describe('a trace', () => {
  after(async () => {
    await Promise.all([setting.stop(), api.stop(), worker.stop()]);
    collector.stop();
    gateway.stop();
    await receiver.close();
  });

  /** Asks these processes for a payout, and waits until its end has arrived at the receiver. Answers its id. */
  async function paid(
    { baseUrl }: { readonly baseUrl: string },
    headers: Readonly<Record<string, string>>,
  ): Promise<string> {
    const body = payoutBody({ from: own.source, description: 'nobody else reads this' });
    const token = own.bank.token;
    const answer: TestAnswer = await request(baseUrl, 'POST', '/v1/payouts', {
      token,
      body,
      headers,
    });
    const id = text(answered(answer, 201).json.id);
    await until('its end arrives', () =>
      receiver.arrived.some((delivery) => delivery.body.includes(id)),
    );
    return id;
  }
  const arrivedOf = (id: string) =>
    receiver.arrived.find((delivery) => delivery.body.includes(id))!;

  it('leads from the request through ledger, outbox, workflow and activity to the rail and the webhook, without personal data', async () => {
    const traceId = randomBytes(16).toString('hex');
    const spanId = randomBytes(8).toString('hex');
    const id = await paid(api, { traceparent: `00-${traceId}-${spanId}-01` });
    const handle = temporal.client.workflow.getHandle(payoutWorkflowId(id));
    await handle.result();
    const named = (name: RegExp) => collector.of(traceId).find((span) => name.test(span.name));
    const CHAIN = [
      /^POST \/v1\/payouts$/,
      /^ledger create payout$/,
      /^outbox payout$/,
      /^SignalWithStartWorkflow:payout|^StartWorkflow:payout/,
      /^RunWorkflow:payout$/,
      /^StartActivity:submitPayout$/,
      /^RunActivity:submitPayout$/,
      /^rail submission$/,
      /^ledger report outcome of payout$/,
      /^webhook attempt$/,
    ];
    await until('all of it is collected', () => CHAIN.every((name) => named(name) !== undefined));
    // Each is behind the one before, or beside it: all are of the one trace, and of the sender's.
    const spans = new Map(collector.of(traceId).map((span) => [span.spanId, span]));
    const roots = [...spans.values()].filter(({ parentSpanId }) => !spans.has(parentSpanId ?? ''));
    assert.deepEqual(
      roots.map(({ name, parentSpanId }) => [name, parentSpanId]),
      [['POST /v1/payouts', spanId]],
    );
    const above = (name: RegExp): string[] => {
      const names: string[] = [];
      for (let span = named(name); span !== undefined; span = spans.get(span.parentSpanId ?? ''))
        names.push(span.name);
      return names;
    };
    assert(above(/^webhook attempt$/).includes('ledger report outcome of payout'));
    assert(above(/^webhook attempt$/).includes('RunActivity:submitPayout'));
    assert.equal(above(/^webhook attempt$/).at(-1), 'POST /v1/payouts');
    assert.deepEqual(above(/^ledger create payout$/), ['ledger create payout', 'POST /v1/payouts']);
    assert.equal(named(/^ledger create payout$/)?.attributes['ledger.group.commands'], '1');
    assert.equal(named(/^POST/)?.attributes['tenant.id'], own.bank.tenant.tenant.id);

    assert.equal(TRACEPARENT.exec(gateway.heard.at(-1) ?? '')?.[1], traceId, 'the rail is told');
    assert.equal(
      TRACEPARENT.exec(String(arrivedOf(id).headers.traceparent))?.[1],
      traceId,
      'so is the receiver',
    );

    await until('the log names the trace', () => api.output.includes(`"traceId":"${traceId}"`));
    assert.match(api.output, /"tokenId":"[^"]+"/);
    for (const personal of ['nobody else reads this', 'Holder', '79456123', own.bank.token])
      assert.equal(collector.text.includes(personal), false, personal);

    // A worker that does not trace takes over a traced workflow, and a tracing worker takes over any other.
    const history = await handle.fetchHistory();
    for (const codePath of [BUNDLE_FILE, TRACED_BUNDLE_FILE])
      await Worker.runReplayHistory(
        { ...IN_A_THREAD, workflowBundle: { codePath } },
        history,
        'traced',
      );
  });

  it('that its sender does not sample is not kept, and an invalid traceparent begins a new one', async () => {
    const traceId = randomBytes(16).toString('hex');
    const unkept = await paid(api, { traceparent: `00-${traceId}-${'1'.repeat(16)}-00` });
    assert.deepEqual(
      [collector.of(traceId), arrivedOf(unkept).headers.traceparent],
      [[], undefined],
    );
    const own = await paid(api, { traceparent: `00-${'0'.repeat(32)}-x-01` });
    assert.match(String(arrivedOf(own).headers.traceparent), TRACEPARENT);
  });

  it('no trace is stored, sent or passed on without an endpoint for traces', async () => {
    // Both send the spans that they still have before they end.
    await Promise.all([api.stop(), worker.stop()]);
    const untraced = await startTestWorker(db, temporal, { environment });
    const before = collector.spans.length;
    try {
      const id = await paid(setting, {
        traceparent: `00-${randomBytes(16).toString('hex')}-${'1'.repeat(16)}-01`,
      });
      assert.deepEqual(
        [arrivedOf(id).headers.traceparent, gateway.heard.at(-1)],
        [undefined, undefined],
      );
      const stored = await db.sql(
        `SELECT traceparent FROM events WHERE resource_id=${idLiteral(id)}`,
      );
      assert(stored.length > 0 && stored.every(({ traceparent }) => traceparent === null));
      assert.equal(collector.spans.length, before);
    } finally {
      await untraced.stop();
    }
  });
});
