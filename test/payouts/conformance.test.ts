import assert from 'node:assert/strict';
import { systemClock } from '../../src/core/instant.js';
import { checkGateway } from '../../development/gateway-check/check.js';
import { type RunningGateway, serveGateway } from '../../development/simulated-rail/gateway.js';
import { railHeaders } from '../../src/payouts/rails/wire.js';
import { SimulatedRail } from '../../src/payouts/rails/simulated.js';
import { reportText } from '../../development/simulated-rail/wire.js';
import { type Ran, run } from '../ops/ops.js';
import { BankGateway, answerOf } from '../helpers/bank-gateway.js';
import { type TestDatabase, testDatabase } from '../helpers/database.js';
import { freePorts } from '../helpers/service-process.js';
import { TEST_KEYRING } from '../helpers/api.js';

const NAME = 'bank-a';
const [KEY] = TEST_KEYRING;
const KEYS = { PAYOUT_RAIL_KEYS: `${NAME}=${KEY.id}:${KEY.secret.toString('base64')}` };
const ORDERS = {
  amount: { raw: 150_000n, asset: 'COPM' },
  country: 'CO',
  bankCode: '0007',
  accountNumber: '4567891234099',
  laterAccountNumber: '4567891234006',
  heldKey: { type: 'bre_b_key', keyType: 'phone', key: '3001112233' },
  unknownKey: { type: 'bre_b_key', keyType: 'phone', key: '3001112208' },
} as const;

/** The rules that the gateway broke, by their names. */
async function brokenBy(gateway: BankGateway, waitMs = 1_500): Promise<string[]> {
  const [callbackPort] = await freePorts(1);
  await gateway.start();
  gateway.serviceUrl = `http://127.0.0.1:${callbackPort!}`;
  const { url } = gateway;
  try {
    const options = {
      url,
      name: NAME,
      keys: TEST_KEYRING,
      callbackPort: callbackPort!,
      orders: ORDERS,
      waitMs,
    };
    const results = await checkGateway(options, systemClock, () => undefined);
    for (const { passed, why, rule } of results)
      assert(passed || (why ?? '').length > 10, rule.name);
    return results.filter(({ passed }) => !passed).map(({ rule }) => rule.name);
  } finally {
    gateway.stop();
  }
}

describe('the conformance check of gateways', () => {
  describe('with a correct gateway', () => {
    let db: TestDatabase;
    let gateway: RunningGateway;
    let callbackPort: number;

    before(async () => {
      db = await testDatabase();
      callbackPort = (await freePorts(1))[0]!;
      gateway = await serveGateway(
        new SimulatedRail(db.database, systemClock, `gateway:${NAME}`),
        systemClock,
        {
          name: NAME,
          port: 0,
          keys: TEST_KEYRING,
          serviceUrl: `http://127.0.0.1:${callbackPort}`,
          onLine: () => undefined,
        },
      );
    });

    after(() => gateway.stop());

    const check = (...more: readonly string[]): Promise<Ran> => {
      const where = ['--url', `http://127.0.0.1:${gateway.port}`, '--name', NAME];
      return run(
        'development/ops.js',
        ['rails', 'check', ...where, '--callback-port', `${callbackPort}`, ...more],
        KEYS,
      );
    };

    it('passes the reference gateway, on the command line and without a database', async () => {
      const { code, stdout, stderr } = await check(
        ...['--yes', '--json', '--key', '3001112233', '--unknown-key', '3001112208'],
      );
      const results = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { rule: string; result: string; why: string | null });
      assert.deepEqual(
        results.filter(({ result }) => result !== 'passed'),
        [],
      );
      assert(results.length >= 10);
      assert.equal(code, 0, stderr);
      assert.match(stderr, /All \d+ rules hold/);
    });

    it('asks for confirmation, because the gateway pays its orders', async () => {
      const { code, stdout, stderr } = await check();
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /which it pays: this cannot be undone; confirm it with --yes/);
    });

    it('passes an independently written gateway that keeps every rule', async () => {
      assert.deepEqual(await brokenBy(new BankGateway(NAME, TEST_KEYRING)), []);
    });
  });

  describe('with a gateway that breaks rules', () => {
    class PaysAgain extends BankGateway {
      protected override take: BankGateway['take'] = (order) => this.tell(this.pay(order));
    }
    class PaysAgainUnderOneName extends BankGateway {
      protected override take: BankGateway['take'] = (order) => {
        const first = this.payments.get(order.key);
        const again = this.pay(order);
        return this.tell(first === undefined ? again : { ...again, reference: first.reference });
      };
    }
    class ForgetsVoids extends BankGateway {
      protected override void: BankGateway['void'] = (key) => ({
        key,
        status: 'voided',
        reference: null,
        failureCode: null,
      });
    }
    class VoidsWhatWasPaid extends BankGateway {
      protected override void: BankGateway['void'] = (key) => {
        const payment = this.payments.get(key) ?? this.newPayment(key, 'accepted');
        payment.status = 'voided';
        return this.tell(payment);
      };
    }
    class PaysWhatItVoided extends BankGateway {
      protected override void: BankGateway['void'] = (key) =>
        this.tell({
          ...(this.payments.get(key) ?? this.newPayment(key, 'voided')),
          status: 'voided',
        });
    }
    class IgnoresSignatures extends BankGateway {
      protected override isGenuine: BankGateway['isGenuine'] = () => true;
    }
    class FailsWhatItNeverHad extends BankGateway {
      protected override unknown: BankGateway['unknown'] = (key) =>
        answerOf({ key, status: 'failed', reference: 'B-0', failureCode: 'account_unknown' });
    }
    class TakesAnything extends BankGateway {
      protected override read: BankGateway['read'] = (text) => {
        const order = super.read(text);
        const key = /[0-9a-f-]{36}/.exec(text)?.[0];
        if (order !== null || key === undefined) return order;
        return {
          key: key as never,
          ...ORDERS,
          description: null,
          destination: { ...ORDERS } as never,
        };
      };
    }
    class ForgesCallbacks extends BankGateway {
      protected override sign: BankGateway['sign'] = (path, body) =>
        railHeaders(
          { ...KEY, secret: Buffer.alloc(32, 9) },
          { method: 'POST', path, body },
          systemClock(),
        );
    }
    class CallsOnce extends BankGateway {
      protected override async callBack(
        payment: Parameters<BankGateway['callBack']>[0],
      ): Promise<void> {
        await this.send(this.tell(payment), this.callbackId(payment, 0));
      }
    }
    class ChangesHolders extends BankGateway {
      private asked = 0;
      protected override holderOf: BankGateway['holderOf'] = (recipient) => {
        const holder = super.holderOf(recipient);
        return holder && { ...holder, holder: `H-${(this.asked += 1)}` };
      };
    }
    class AnswersAboutOtherKeys extends BankGateway {
      protected override holderAnswer: BankGateway['holderAnswer'] = (recipient) =>
        super.holderAnswer({ ...recipient, key: '3009998877' });
    }
    class PaysAnyHolder extends BankGateway {
      protected override refuse = () => null;
    }
    class AnswersForOthers extends BankGateway {
      protected override answer: BankGateway['answer'] = (request) => {
        const { status, text } = super.answer(request);
        const other = {
          key: 'aaaaaaaa-0000-7000-8000-000000000001',
          status: 'completed',
          reference: 'B-0',
        } as const;
        return status === 200
          ? { status, text: reportText({ ...other, failureCode: null } as never) }
          : { status, text };
      };
    }

    const BROKEN: readonly (readonly [string, typeof BankGateway, readonly string[]])[] = [
      ['pays a repeated key again', PaysAgain, ['repeated_key']],
      ['pays a repeated key again under the same reference', PaysAgainUnderOneName, ['for_ever']],
      ['forgets a void', ForgetsVoids, ['void_before']],
      ['says of what it paid that it was voided', VoidsWhatWasPaid, ['void_paid']],
      ['pays what it voided on its way', PaysWhatItVoided, ['void_accepted']],
      ['ignores signatures', IgnoresSignatures, ['signature', 'timestamp']],
      ['says "failed" of what it never had', FailsWhatItNeverHad, ['unknown_key']],
      ['takes what is no order', TakesAnything, ['malformed']],
      ['signs its callbacks wrongly', ForgesCallbacks, ['callback']],
      ['does not send a callback again that was not taken', CallsOnce, ['callback']],
      ['names another holder each time', ChangesHolders, ['resolve']],
      ['answers about another key', AnswersAboutOtherKeys, ['resolve']],
      ['pays a key to anybody', PaysAnyHolder, ['holder']],
      ['tells anybody who holds a key', IgnoresSignatures, ['resolve_signed']],
      ['answers for another key', AnswersForOthers, ['order']],
    ];

    it('finds each rule that a gateway breaks, by its name', async () => {
      // Together, because each mostly waits.
      const held = await Promise.all(
        BROKEN.map(async ([what, gateway, rules]) => {
          const broken = await brokenBy(new gateway(NAME, TEST_KEYRING));
          return rules
            .filter((rule) => !broken.includes(rule))
            .map((rule) => `${rule} held for a gateway that ${what}; broken: ${broken.join()}`);
        }),
      );
      assert.deepEqual(held.flat(), []);
    });
  });
});
