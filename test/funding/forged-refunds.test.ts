import assert from 'node:assert/strict';
import { setFeeAccount } from '../../src/operations/fees.js';
import { instant, systemClock, toRfc3339 } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import type { Staff } from '../../src/db/entities/staff.js';
import {
  proposeAdjustment,
  proposeRefundPart,
  type NewAdjustment,
} from '../../src/funding/service.js';
import type { Ran } from '../ops/ops.js';
import { SignedInPeople } from '../ops/signed-in.js';
import { startTestApi } from '../helpers/api.js';
import { LEAST, object, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { type GuardedBank, openGuarded } from '../helpers/guarded.js';
import { proven } from '../helpers/staff.js';
import { openWriter, setFee, TEST_ACTOR } from '../helpers/world.js';

const FEE = 1_000n;

const db = await testDatabase();
const api = await startTestApi(db);

describe('a refund of fees with a forged proposal', () => {
  let own: GuardedBank;
  let people: SignedInPeople;
  let maria: Staff;
  let fees: Account;
  let payer: Account;
  let began: string;
  let refunds = 0;
  let name: string;

  before(async () => {
    own = await openGuarded(api);
    people = new SignedInPeople(db);
    await people.signIn('leo', ['adjust']);
    maria = await people.signIn('maria', ['adjust']);
    payer = await own.bank.account({ funds: { COPM: 1_000n * LEAST } });
  });
  /** A fee account of its own for each, and an operation that was charged. */
  beforeEach(async () => {
    fees = await own.bank.account({ funds: { COPM: LEAST } });
    await setFeeAccount(db.deps, own.bank.tenant.tenant.id, fees.id, TEST_ACTOR);
    await setFee(db.database, { tenantId: own.bank.tenant.tenant.id, flatRaw: FEE });
    name = `fees-${(refunds += 1)}`;
    began = toRfc3339(instant(systemClock() - 1));
  });
  after(async () => {
    people.remove();
  });

  const charged = async (from = payer): Promise<string> =>
    text((await own.bank.sent({ from, to: own.receiver, raw: LEAST })).id);
  type Forged = Pick<NewAdjustment, 'direction' | 'reference'> & { readonly raw: bigint };
  const wanted = ({ id: accountId }: Account, { raw, ...rest }: Forged): NewAdjustment => ({
    ...{
      tenantId: own.bank.tenant.tenant.id,
      accountId,
      amount: { raw, asset: 'COPM' },
      by: proven(maria),
    },
    ...{ ...rest, reason: `${name}: charged twice` },
  });
  const forge = async (account: Account, forged: Forged): Promise<void> =>
    void (await proposeRefundPart(
      { database: db.database, writer: openWriter(db.database).writer },
      wanted(account, forged),
    ));
  const refund = (...args: readonly string[]): Promise<Ran> =>
    people.ops(
      'fees',
      'refund',
      '--tenant',
      own.bank.tenant.tenant.name,
      '--reference',
      name,
      '--json',
      ...args,
    );
  /** All of what was charged since this test began, since the schedule asks nothing now. */
  const propose = async (): Promise<void> => {
    const { id: tenantId } = own.bank.tenant.tenant;
    await setFee(db.database, { tenantId, flatRaw: 0n });
    const since = ['--from', began, '--to', toRfc3339(systemClock())];
    const { code, stderr } = await refund(
      '--operation',
      'transfer',
      '--asset',
      'COPM',
      ...since,
      '--reason',
      'too much',
    );
    await setFee(db.database, { tenantId, flatRaw: FEE });
    assert.equal(code, 0, stderr);
  };
  const approve = (): Promise<Ran> => refund('--approve', '--as', 'leo');
  const reject = async (reference: string): Promise<void> => {
    const { code, stderr } = await people.ops(
      ...['adjustments', 'reject', reference, '--tenant', own.bank.tenant.tenant.name],
    );
    assert.equal(code, 0, stderr);
  };
  const assertRefused = async (why: RegExp): Promise<void> => {
    const { code, stderr } = await approve();
    assert.deepEqual([code, why.test(stderr)], [1, true], stderr);
    const rows = await db.sql(
      `SELECT id FROM adjustments WHERE reason LIKE '${name}: %' AND status='posted'`,
    );
    assert.deepEqual(rows, []);
  };

  it('a refund of fees with a forged proposal takes no money out of an account that received none of the fees', async () => {
    const victim = await own.bank.account({ funds: { COPM: LEAST } });
    const accomplice = await own.bank.account({ funds: { COPM: 2n * LEAST } });
    const operation = await charged(accomplice);
    await forge(victim, { direction: 'out', raw: FEE, reference: `${name}.${victim.id}` });
    await forge(accomplice, { direction: 'in', raw: FEE, reference: `fee-refund.${operation}` });
    await assertRefused(new RegExp(`${name}.${victim.id} does not belong to ${name}`));
    assert.equal(await own.bank.available(victim), LEAST);
  });

  for (const [what, make] of [
    [
      'returns no more for an operation than its fee',
      async () => [payer, FEE + 1n, await charged()],
    ],
    [
      'returns nothing for an operation that has not paid its fee',
      async () => [own.guarded, 1n, text((await own.pend()).id)],
    ],
    ['returns money to no account but the payer', async () => [own.receiver, FEE, await charged()]],
    ['returns no fee twice', async (first) => Promise.resolve([payer, FEE, `${first}.2`])],
  ] as const satisfies readonly (readonly [
    string,
    (first: string) => Promise<readonly [Account, bigint, string]>,
  ])[])
    it(`a refund of fees with a forged proposal ${what}`, async () => {
      const first = await charged();
      await propose();
      const [account, raw, operation] = await make(first);
      const reference = `fee-refund.${operation}`;
      await forge(account, { direction: 'in', raw, reference });
      await assertRefused(new RegExp(`^.*${reference} does not belong to ${name}`, 'm'));
      await reject(reference);
      const { code, stdout, stderr } = await approve();
      assert.equal(code, 0, stderr);
      assert.equal(object(JSON.parse(stdout)).posted, 1);
    });

  it('a refund of fees with a forged proposal is refused: only the command for refunds may propose adjustments with its references', async () => {
    const operation = await charged();
    const deps = { database: db.database, writer: openWriter(db.database).writer };
    for (const reference of [
      `fee-refund.${operation}`,
      `fee-refund.${operation}.2`,
      `x.${payer.id}`,
    ])
      await assert.rejects(
        proposeAdjustment(deps, wanted(payer, { direction: 'in', raw: 1n, reference })),
        {
          message: 'reference is not valid: names a fee refund',
        },
      );
    await proposeAdjustment(
      deps,
      wanted(payer, { direction: 'in', raw: 1n, reference: `case.${operation}` }),
    );
  });
});
