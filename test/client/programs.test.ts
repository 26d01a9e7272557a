import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { MoneyClient } from '../../packages/client/src/index.js';
import { EVENT_TYPES } from '../../src/db/entities/events.js';
import { newSecret } from '../../src/webhooks/signing.js';
import { type Json, list, object } from '../helpers/bank.js';
import { freePorts, ROOT } from '../helpers/service-process.js';
import { tieToThisProcess } from '../helpers/test-program.js';
import { until } from '../helpers/temporal.js';
import { assertLedgerSound } from '../helpers/world.js';
import { outputOf, type Ran } from '../helpers/child-output.js';
import { LiveService } from './live.js';

const live = await LiveService.start();

describe('the programs around the client', () => {
  const running: ChildProcess[] = [];

  afterEach(async () => {
    for (const child of running.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'close');
    }
  });
  after(async () => {
    await assertLedgerSound(live.db.database);
    await live.stop();
  });

  function start(
    file: string,
    args: readonly string[],
    env: Record<string, string> = {},
  ): ChildProcess {
    const options = {
      cwd: live.folder,
      env: { ...live.environment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'] as const,
    };
    const child = spawn(process.execPath, [file, ...args], {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    tieToThisProcess(child);
    running.push(child);
    return child;
  }

  const run = (...command: Parameters<typeof start>): Promise<Ran> => outputOf(start(...command));
  const program = (name: string): string =>
    join(live.folder, `node_modules/money-movement-client/dist/bin/${name}.js`);
  const trigger = (...args: string[]): Promise<Ran> =>
    run(program('money-trigger'), ['--world', 'demo.json', ...args]);

  /** The example as a user has it: its one file, beside the client. */
  function example(name: string): string {
    const file = join(live.folder, `${name}.mjs`);
    copyFileSync(join(ROOT, `dist/examples/${name}/main.js`), file);
    return file;
  }

  describe('money-trigger', () => {
    // The trigger that lasts a minute is left out: it only waits for an expiry.
    for (const type of EVENT_TYPES.filter((one) => one !== 'transfer.expired'))
      it(`causes ${type} in the demo world, and prints the event`, async () => {
        const { code, stdout, stderr } = await trigger(type);
        assert.equal(code, 0, stderr);
        assert.match(
          stdout,
          new RegExp(`^${type.replace('.', '\\.')}  #\\d+  [0-9a-f-]{36}  of [0-9a-f-]{36}\n$`),
        );
      });

    it('the log has each event of money-trigger as the OpenAPI document describes its type', async () => {
      const headers = { authorization: `Bearer ${live.token()}` };
      const read = async (path: string): Promise<Json> =>
        object(await (await fetch(live.baseUrl + path, { headers })).json());
      const ajv = new Ajv2020({ strict: false });
      addFormats.default(ajv);
      ajv.addSchema(await read('/openapi.json'), 'document');
      const validate = ajv.compile({ $ref: 'document#/components/schemas/Event' });
      const events = list((await read('/v1/events?order=asc&limit=100')).items);
      assert.ok(events.length > 0);
      for (const event of events)
        assert.ok(validate(event), `${String(event.type)} ${ajv.errorsText(validate.errors)}`);
    });

    it('reports an error if the demo world has no account left to verify', async () => {
      const { code, stderr } = await trigger('account.verified');
      assert.equal(code, 2);
      assert.match(stderr, /npm start -- --fresh/);
    });

    it('lists the events that it can cause, and says how to start the demo world if it is missing', async () => {
      for (const args of [[], ['transfer.lost'], ['transfer.completed', 'payout.failed']]) {
        const { code, stderr } = await trigger(...args);
        assert.equal(code, 2);
        assert.match(stderr, /account\.verified/);
      }
      const { code, stderr } = await run(program('money-trigger'), [
        'transfer.completed',
        '--world',
        'nowhere.json',
      ]);
      assert.equal(code, 2);
      assert.match(stderr, /npm start/);
    });
  });

  describe('money-listen', () => {
    it('delivers events to a receiver, signed with the secret that it prints, and shows each response', async () => {
      const [port] = await freePorts(1);
      const to = `http://127.0.0.1:${port}/hooks`;
      const listening = start(program('money-listen'), [
        '--url',
        live.baseUrl,
        '--forward-to',
        to,
        '--json',
      ]);
      let [stdout, stderr] = ['', ''];
      listening.stdout?.setEncoding('utf8').on('data', (piece: string) => (stdout += piece));
      listening.stderr?.setEncoding('utf8').on('data', (piece: string) => (stderr += piece));
      const secret = await until('it prints its secret', () => /whsec_\S+/.exec(stderr)?.[0]);
      // The first events may be older than its place in the log.
      const untilAnswered = (status: number | null): Promise<unknown> =>
        until(`an event is answered ${status}`, async () => {
          await trigger('transfer.completed');
          const lines = stdout.split('\n').slice(0, -1);
          return lines.some((line) => (JSON.parse(line) as Json).status === status);
        });
      await untilAnswered(null);
      start(example('ledger-by-log'), ['books.json'], { WEBHOOK_SECRET: secret, PORT: `${port}` });
      await untilAnswered(204);
      listening.kill('SIGINT');
      assert.deepEqual(await once(listening, 'close'), [0, null]);
    });

    it('explains what is wrong with its arguments or the token', async () => {
      const to = ['--forward-to', 'http://127.0.0.1:1/'];
      const url = ['--url', live.baseUrl];
      for (const [args, message, expected] of [
        [[...to], /--url/, 2],
        [[...url], /--forward-to/, 2],
        [[...url, ...to, '--secret', 'hunter2'], /--secret must be/, 2],
        [[...url, ...to, '--events', 'transfer.lost'], /there is no event transfer\.lost/, 2],
        [[...url, ...to, '--token', 'svc_live_x_y'], /unauthorized/, 1],
      ] as const) {
        const { code, stderr } = await run(program('money-listen'), args);
        assert.equal(code, expected, stderr);
        assert.match(stderr, message);
        assert.doesNotMatch(stderr, /hunter2|\n\s+at /);
      }
    });
  });

  describe('the examples', () => {
    it('the example shop-payouts pays each seller once, however often it is run', async () => {
      const file = join(live.folder, 'orders.json');
      const seller = (name: string, number: string) => ({
        ...{ type: 'bank_account', country: 'CO', bank_code: '007', account_type: 'savings' },
        ...{ account_number: number, holder_name: name, holder_document: '79456123' },
      });
      const orders = [
        { seller: seller('Luz Rojas', '456789123400'), centavos: '150000' },
        { seller: seller('Closed Account', '456789123401'), centavos: '150000' },
        { seller: seller('Too Little', '456789123400'), centavos: '1' },
      ];
      writeFileSync(file, JSON.stringify({ source_account: live.account('treasury'), orders }));
      const first = await run(example('shop-payouts'), [file]);
      assert.equal(first.code, 0, first.stderr);
      assert.match(
        first.stdout,
        /Luz Rojas: completed\nClosed Account: failed\nToo Little: refused\n$/,
      );
      // A crash before the answer was stored: the key is there, the payout is not.
      const shop = JSON.parse(readFileSync(file, 'utf8')) as { orders: Record<string, unknown>[] };
      const [paid] = shop.orders;
      const { payout } = paid!;
      delete paid!.payout;
      delete paid!.status;
      writeFileSync(file, JSON.stringify(shop));
      assert.equal((await run(example('shop-payouts'), [file])).code, 0);
      const again = JSON.parse(readFileSync(file, 'utf8')) as {
        orders: { payout?: string; status: string }[];
      };
      assert.deepEqual([again.orders[0]?.payout, again.orders[0]?.status], [payout, 'completed']);
    });

    it('the example payroll-upload pays the reviewed file, pays no one twice when it is run again, and shows every problem of a wrong file', async () => {
      const file = join(live.folder, 'payroll.csv');
      writeFileSync(
        file,
        'recipient,amount,asset,reference\n$bruno,150000,COPM,A-1\n$ana,250000,COPM,A-2\n',
      );
      const paid = await run(example('payroll-upload'), [live.account('treasury'), file, '--yes']);
      assert.equal(paid.code, 0, paid.stderr);
      assert.match(paid.stdout, /2 people, 4000\.00 COPM, fees \d+\.\d\d COPM/);
      assert.match(paid.stdout, /completed: 2 paid, 0 not/);
      assert.match(
        readFileSync(join(live.folder, 'payroll.result.csv'), 'utf8'),
        /A-2,\$ana,250000,COPM,paid/,
      );
      const again = await run(example('payroll-upload'), [live.account('treasury'), file, '--yes']);
      assert.equal(again.code, 1, again.stdout);
      assert.match(again.stdout, /The same file was uploaded before/);
      assert.doesNotMatch(again.stdout, /paid, /);
      writeFileSync(file, 'recipient,amount,asset\n$nobody-here,150000,COPM\n');
      const refused = await run(example('payroll-upload'), [
        live.account('treasury'),
        file,
        '--yes',
      ]);
      assert.equal(refused.code, 1, refused.stdout);
      assert.match(refused.stdout, /2,recipient,not_found/);
    });

    it('the example ledger-by-log holds every completed transfer once, even if it is killed and started again', async () => {
      const client = new MoneyClient({ baseUrl: live.baseUrl, token: live.token() });
      const file = 'ledger.json';
      const read = (): { entries: { event: string; centavos: string }[] } =>
        existsSync(join(live.folder, file))
          ? (JSON.parse(readFileSync(join(live.folder, file), 'utf8')) as ReturnType<typeof read>)
          : { entries: [] };
      const secret = newSecret();
      for (let round = 1; round <= 3; round += 1) {
        const [port] = await freePorts(1);
        const child = start(example('ledger-by-log'), [file], {
          WEBHOOK_SECRET: secret,
          PORT: `${port}`,
        });
        await trigger('transfer.completed');
        let completed = 0;
        for await (const { type } of client.listEvents({ order: 'asc' }))
          if (
            type === 'transfer.completed' ||
            type.startsWith('payout.completed') ||
            type === 'payout.returned'
          )
            completed += 1;
        await until('the books are in step', () => read().entries.length === completed);
        assert.equal(new Set(read().entries.map(({ event }) => event)).size, completed);
        child.kill('SIGKILL');
        await once(child, 'close');
      }
    });
  });
});
