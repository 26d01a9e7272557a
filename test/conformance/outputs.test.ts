import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { Arrived } from '../helpers/http-receiver.js';
import { until } from '../helpers/temporal.js';
import { assertLedgerSound } from '../helpers/world.js';
import { MAKING, READING, REFUSED, VERIFYING } from './commands.js';
import { partsOf, Recorder, visible } from './recorder.js';
import { World } from './world.js';

const EVENTS = [
  ...['transfer.completed', 'payout.completed', 'payout.failed', 'payout.returned'],
  ...['bonus_batch.ready', 'bonus_batch.completed', 'account.verified'],
];
/** Two transfers, an account, a batch that becomes ready and is paid, and payouts that are paid, fail, and are returned. */
const DELIVERIES = 9;

const GOOD = 'recipient,amount,asset,description,reference\r\n';
const BAD_ROWS = '$ana,1.5,COPM,-cmd,r1\r\n=1+1,100000,EUR,,r1\r\n$nobody,,COPM,,\r\n';
const ROWS = '$ana,150000,COPM,"Bonus, November",N-1\r\n$ana,150000,COPM,-cmd,N-2\r\n';

const world = await World.open();

/** The output that operators and tenants of 1.0.0 get, beyond the responses of the API. */
describe('the recorded outputs', () => {
  after(async () => {
    await assertLedgerSound(world.db.database);
    await world.close();
  });

  it('the output of commands, files and deliveries equals the recorded output', async () => {
    const [commands, files] = [new Recorder('commands'), new Recorder('files')];
    for (const line of MAKING) await world.command(commands, line);
    const endpoint = await openEndpoint();
    await world.command(commands, VERIFYING);
    await moveMoney();
    await recordBatches(files);
    await recordStatement(files);
    await recordDeliveries(String(endpoint.secret));
    await until('the outbox is empty', async () => {
      const [row] = await world.db.sql('SELECT COUNT(*) AS n FROM outbox');
      return Number(row?.n) === 0;
    });
    for (const line of READING) {
      await world.command(commands, line);
      await world.command(commands, line, '--json');
    }
    for (const line of REFUSED) await world.command(commands, line);
    commands.finish();
    files.finish();
  });

  async function openEndpoint(): Promise<Record<string, unknown>> {
    const body = { url: world.receiver.url('/hook'), events: EVENTS };
    const endpoint = await world.post('token', '/v1/webhook_endpoints', body);
    world.known.set('endpoint', String(endpoint.id));
    return endpoint;
  }

  async function moveMoney(): Promise<void> {
    const amount = { raw: '2500000', asset: 'COPM' };
    const destination = { type: 'account', account_id: world.known.get('ana') };
    const transfer = async (source: string): Promise<string> => {
      const description = 'Rent → "ñandú" 💸';
      const body = { source_account: world.known.get(source), destination, amount, description };
      return String((await world.post('token', '/v1/transfers', body)).id);
    };
    world.known.set('transfer', await transfer('treasury'));
    for (const [name, decision, body] of [
      ['approved', 'approve', undefined],
      ['rejected', 'reject', { reason: 'not agreed' }],
    ] as const) {
      const id = await transfer('guarded');
      world.known.set(name, id);
      await world.post('boss_token', `/v1/transfers/${id}/${decision}`, body);
    }
    world.known.set('waiting', await transfer('guarded'));
    for (const [name, ending] of Object.entries({
      completed: '99',
      failed: '01',
      returned: '05',
    })) {
      const bank = { type: 'bank_account', country: 'CO', bank_code: '0007' };
      const holder = { holder_name: 'María Holder', holder_document: 'CC-79456123' };
      const account = { account_type: 'savings', account_number: `45678912340${ending}` };
      const body = {
        source_account: world.known.get('treasury'),
        destination: { ...bank, ...account, ...holder },
        amount,
      };
      const { id } = await world.post('token', '/v1/payouts', body);
      world.known.set(`${name}_payout`, String(id));
      await world.becomes(`/v1/payouts/${String(id)}`, name);
    }
  }

  async function upload(rows: string): Promise<string> {
    const form = new FormData();
    form.append('source_account', world.known.get('treasury')!);
    form.append('description', 'November');
    form.append('file', new Blob([GOOD + rows]), 'payroll.csv');
    return String((await world.post('token', '/v1/bonus_batches', form)).id);
  }

  async function recordFile(recorder: Recorder, path: string): Promise<void> {
    for (const format of ['csv', 'xlsx']) {
      const { status, headers, bytes } = await world.get(`${path}?format=${format}`);
      const shown = ['content-type', 'content-disposition', 'cache-control'];
      recorder.add(
        `GET ${path}?format=${format}`,
        `${status}\n${shown.map((name) => `${name}: ${headers.get(name)}`).join('\n')}\n` +
          (format === 'csv' ? visible(bytes) : partsOf(bytes)),
      );
    }
  }

  async function recordBatches(recorder: Recorder): Promise<void> {
    await recordFile(recorder, '/v1/bonus_batches/template');
    const bad = await upload(BAD_ROWS);
    await world.becomes(`/v1/bonus_batches/${bad}`, 'rejected');
    await recordFile(recorder, `/v1/bonus_batches/${bad}/files/errors`);
    const good = await upload(ROWS);
    world.known.set('rejected_batch', bad).set('paid_batch', good);
    await world.becomes(`/v1/bonus_batches/${good}`, 'ready');
    await world.post('boss_token', `/v1/bonus_batches/${good}/execute`);
    await world.becomes(`/v1/bonus_batches/${good}`, 'completed');
    await recordFile(recorder, `/v1/bonus_batches/${good}/files/result`);
  }

  /** The statement is of the first movements, whose time is put back: a period must be over. */
  async function recordStatement(recorder: Recorder): Promise<void> {
    const from = new Date(Date.now() - 60_000).toISOString();
    const to = await until('the period is over', async () => {
      const at = Date.now() - 15_500;
      const [row] = await world.db.sql('SELECT MAX(created_at) AS last FROM entries');
      return (
        Date.parse(`${String(row?.last).replace(' ', 'T')}Z`) < at && new Date(at).toISOString()
      );
    });
    const body = { account_id: world.known.get('treasury'), asset: 'COPM', from, to };
    const { id } = await world.post('token', '/v1/statements', body);
    await world.becomes(`/v1/statements/${String(id)}`, 'ready');
    await recordFile(recorder, `/v1/statements/${String(id)}/file`);
  }

  async function recordDeliveries(secret: string): Promise<void> {
    const recorder = new Recorder('webhooks');
    const count = (): number => world.receiver.at('/hook').length;
    await until('everything has arrived', () => count() >= DELIVERIES);
    for (const arrived of inOrder(world.receiver.at('/hook'))) {
      assert.equal(arrived.headers['svc-signature'], hmac(secret, arrived.body));
      const headers = Object.entries(arrived.headers).map(([name, value]) => `${name}: ${value}`);
      recorder.add(`POST ${arrived.path}`, `${headers.join('\n')}\n${arrived.body}`);
    }
    recorder.finish();
  }
});

/** Returns the deliveries in the order of the log, in which attempts for one endpoint may overtake each other. */
function inOrder(arrived: readonly Arrived[]): Arrived[] {
  const idOf = ({ body }: Arrived): string => String((JSON.parse(body) as { id: unknown }).id);
  return arrived.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
}

function hmac(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}
