import assert from 'node:assert/strict';
import { planRefund } from '../../src/funding/fee-refunds.js';
import { setFeeAccount } from '../../src/operations/fees.js';
import { closeAccount } from '../../src/accounts/status.js';
import { formatAmount } from '../../src/core/amount.js';
import { asUuid } from '../../src/core/ids.js';
import { instant, systemClock, toRfc3339 } from '../../src/core/instant.js';
import { type Account, accounts } from '../../src/db/entities/parties.js';
import { type Ran, run } from '../ops/ops.js';
import { SignedInPeople } from '../ops/signed-in.js';
import { startTestApi } from '../helpers/api.js';
import {
  answered,
  idLiteral,
  type Json,
  LEAST,
  object,
  openBank,
  text,
  transferBody,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { balanceOf, setFee, TEST_ACTOR } from '../helpers/world.js';
import { say, ScriptedRail } from '../payouts/scripted-rail.js';
import { payoutBody, railsOf } from '../payouts/support.js';

const WRONG = LEAST;
const RIGHT = 300n;

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);
const charge = (flatRaw: bigint): Promise<void> =>
  setFee(db.database, { tenantId: bank.tenant.tenant.id, flatRaw });
const people = new SignedInPeople(db);
await people.signIn('maria', ['adjust']);
await people.signIn('leo', ['adjust']);
const fees = await bank.account();
const from = await bank.account({ funds: { COPM: 1_000n * LEAST } });
const to = await bank.account();
await setFeeAccount(db.deps, bank.tenant.tenant.id, fees.id, TEST_ACTOR);
await charge(WRONG);
const began = toRfc3339(instant(systemClock() - 1));

describe('a refund of wrong fees', () => {
  after(async () => {
    people.remove();
  });

  const send = async (payer = from): Promise<void> =>
    void answered(await bank.send({ from: payer, to, raw: LEAST }), 201);
  const overcharged = async (times: number, payer = from): Promise<void> => {
    await charge(WRONG);
    for (let sent = 0; sent < times; sent += 1) await send(payer);
    await charge(RIGHT);
  };
  const command = async (...args: readonly string[]): Promise<Ran> =>
    run('src/ops/main.js', await people.withCode(args), people.env);
  const named = (): readonly string[] => ['--tenant', bank.tenant.tenant.name, '--json'];
  const ops = (...args: readonly string[]): Promise<Ran> =>
    command('fees', 'refund', ...named(), '--yes', ...args);
  const adjust = (...args: readonly string[]): Promise<Ran> =>
    command('adjustments', ...args, ...named(), '--yes');
  const reject = async (reference: string): Promise<void> =>
    void shown(await adjust('reject', reference, '--reason', 'wrong', '--as', 'maria'));
  const referencesUnder = async (name: string, status: string): Promise<string[]> => {
    const rows = await db.sql(
      `SELECT reference FROM adjustments WHERE refund_name='${name}' AND status='${status}' ORDER BY id`,
    );
    return rows.map(({ reference }) => String(reference));
  };
  /** The money that has left accounts and reached none. */
  const suspense = async (): Promise<bigint> => {
    const { id } = bank.tenant.tenant;
    const account = await db.database.reader.find(accounts, {
      tenantId: id,
      systemRole: 'adjustment',
    });
    return (await balanceOf(db.database, account!.id)).available;
  };
  const propose = (reference: string, as = 'maria'): Promise<Ran> =>
    ops(
      ...['--reference', reference, '--operation', 'transfer', '--asset', 'COPM', '--from', began],
      ...['--to', toRfc3339(systemClock()), '--reason', 'too much', '--as', as],
    );
  const approve = (reference: string, as: string): Promise<Ran> =>
    ops('--reference', reference, '--approve', '--as', as);
  const shown = ({ code, stdout, stderr }: Ran): Readonly<Record<string, unknown>> => {
    assert.equal(code, 0, stderr);
    return object(JSON.parse(stdout));
  };
  const available = async ({ id }: Account): Promise<bigint> =>
    (await balanceOf(db.database, id)).available;

  it('moves no money when one person proposes it', async () => {
    for (let sent = 0; sent < 3; sent += 1) await send();
    await charge(RIGHT);
    await send();
    const before = await available(from);
    const plan = shown(await propose('fees-1'));
    assert.deepEqual([plan.operations, plan.refunded_before], [3, 0]);
    assert.deepEqual(plan.total, { raw: (3n * (WRONG - RIGHT)).toString(), asset: 'COPM' });
    assert.equal(await available(from), before);
    const alone = await approve('fees-1', 'maria');
    assert.equal(alone.code, 1, alone.stderr);
    assert.equal(await available(from), before);
  });

  it('is not paid if the fee account lacks the money', async () => {
    const before = await available(from);
    answered(await bank.send({ from: fees, to, raw: LEAST }), 201);
    const refused = await approve('fees-1', 'leo');
    assert.deepEqual(
      [refused.code, /insufficient_funds/.test(refused.stderr)],
      [1, true],
      refused.stderr,
    );
    assert.equal(await available(from), before);
  });

  it('is paid once, by a second person, even if it is proposed again under another name', async () => {
    answered(await bank.send({ from: to, to: fees, raw: LEAST }), 201);
    const [paid, kept] = [await available(from), await available(fees)];
    assert.equal(shown(await approve('fees-1', 'leo')).posted, 3);
    const owed = 3n * (WRONG - RIGHT);
    assert.deepEqual([await available(from), await available(fees)], [paid + owed, kept - owed]);
    assert.equal(shown(await approve('fees-1', 'leo')).posted, 0);
    const again = shown(await propose('fees-1'));
    assert.equal(again.operations, 3);
    assert.equal(shown(await approve('fees-1', 'leo')).posted, 0);
    const other = shown(await propose('fees-2'));
    assert.deepEqual([other.operations, other.refunded_before], [0, 3]);
    assert.deepEqual([await available(from), await available(fees)], [paid + owed, kept - owed]);
  });

  it('leaves other adjustments whose reference begins with its name proposed, and shows every sum before it posts', async () => {
    await overcharged(2);
    shown(await propose('fees-3'));
    for (const [way, asset] of [
      ...(['in', 'out'] as const).map((one) => [one, 'COPM'] as const),
      ['in', 'DUSD'] as const,
    ])
      shown(
        await adjust(
          ...[
            'propose',
            way,
            '--account',
            from.id,
            '--amount',
            '7',
            '--asset',
            asset,
            '--reference',
            `INC-${way}-${asset}`,
          ],
          ...['--reason', 'fees-3: double pay-in', '--as', 'maria'],
        ),
      );
    const asked = await command(
      'fees',
      'refund',
      ...named(),
      '--reference',
      'fees-3',
      '--approve',
      '--as',
      'leo',
    );
    const sum = formatAmount({ raw: 2n * (WRONG - RIGHT), asset: 'COPM' });
    const question = `Take ${sum} out of the fee accounts, and give ${sum} back for 2 operations`;
    assert.deepEqual([asked.code, asked.stderr.includes(question)], [2, true], asked.stderr);
    const before = await available(from);
    assert.equal(shown(await approve('fees-3', 'leo')).posted, 2);
    assert.equal(await available(from), before + 2n * (WRONG - RIGHT));
    const others = await db.sql("SELECT status FROM adjustments WHERE reference LIKE 'INC-%'");
    assert.deepEqual(
      others.map(({ status }) => status),
      ['proposed', 'proposed', 'proposed'],
    );
    assert.equal(await suspense(), 0n);
  });

  it('whose debit of the fee account was rejected is not paid until the debit has been proposed again and posted', async () => {
    await overcharged(2);
    const owed = 2n * (WRONG - RIGHT);
    shown(await propose('fees-4'));
    await reject(`fees-4:${fees.id}`);
    const [paid, kept] = [await available(from), await available(fees)];
    const refused = await approve('fees-4', 'leo');
    assert.deepEqual(
      [refused.code, /"invalid_state".*propose it again first/.test(refused.stderr)],
      [1, true],
      refused.stderr,
    );
    assert.equal(await available(from), paid);
    assert.equal(shown(await propose('fees-4')).operations, 2);
    assert.equal(shown(await approve('fees-4', 'leo')).posted, 2);
    assert.deepEqual([await available(from), await available(fees)], [paid + owed, kept - owed]);
    assert.equal(await suspense(), 0n);
  });

  it('that was rejected is proposed again, under the same name or another, and arrives once', async () => {
    await overcharged(2);
    const owed = WRONG - RIGHT;
    shown(await propose('fees-5'));
    for (const reference of await referencesUnder('fees-5', 'proposed')) await reject(reference);
    const [first = ''] = (await referencesUnder('fees-5', 'rejected')).filter((one) =>
      one.startsWith('fee-refund:'),
    );
    const before = await available(from);
    const other = shown(await propose('fees-6'));
    assert.deepEqual([other.operations, other.refunded_before], [2, 7]);
    const again = db.change(
      `UPDATE adjustments SET status='proposed', is_active_refund=1 WHERE reference='${first}'`,
    );
    await assert.rejects(
      again,
      /Duplicate entry/,
      'an operation has one refund that is not rejected',
    );
    await reject(`${first}:2`);
    await reject(`fees-6:${fees.id}`);
    assert.equal(shown(await propose('fees-6')).operations, 2);
    assert.equal(shown(await approve('fees-6', 'leo')).posted, 2);
    assert.equal(shown(await propose('fees-5')).operations, 0);
    assert.equal(shown(await approve('fees-5', 'leo')).posted, 0);
    assert.equal(await available(from), before + 2n * owed);
    assert.equal(await suspense(), 0n);
  });

  it('returns to the fee account if the payer has closed their account', async () => {
    const gone = await bank.account({ funds: { COPM: LEAST + WRONG } });
    await overcharged(1, gone);
    await overcharged(1);
    shown(await propose('fees-8'));
    await closeAccount(db.deps, gone.id, {
      actor: TEST_ACTOR,
      reason: 'at their wish',
    });
    const kept = await available(fees);
    assert.match((await approve('fees-8', 'leo')).stderr, /the account is closed/);
    for (const reference of await referencesUnder('fees-8', 'proposed')) await reject(reference);
    const again = shown(await propose('fees-8'));
    assert.equal(again.closed_accounts, 1);
    shown(await approve('fees-8', 'leo'));
    assert.equal(await available(fees), kept - (WRONG - RIGHT));
    assert.equal(await suspense(), 0n);
  });

  it('reaches all other payers if one has closed their account, even beyond those posted together', async () => {
    const gone = await bank.account({ funds: { COPM: LEAST + WRONG } });
    await overcharged(51);
    await overcharged(1, gone);
    shown(await propose('fees-9'));
    await closeAccount(db.deps, gone.id, { actor: TEST_ACTOR, reason: 'at their wish' });
    const before = await available(from);
    assert.match((await approve('fees-9', 'leo')).stderr, /the account is closed/);
    assert.equal(await available(from), before + 51n * (WRONG - RIGHT));
    for (const reference of await referencesUnder('fees-9', 'proposed')) await reject(reference);
    shown(await propose('fees-9'));
    shown(await approve('fees-9', 'leo'));
    assert.equal(await suspense(), 0n);
  });

  it('gives back of a transfer captured in part only what was charged for that part', async () => {
    const tenantId = bank.tenant.tenant.id;
    const tenths = (basisPoints: bigint) => setFee(db.database, { tenantId, basisPoints });
    const transfer = (path: string, body: Json) =>
      bank.request('POST', `/v1/transfers${path}`, { body });
    const since = systemClock();
    const sendHeld = async () => {
      const body = transferBody({ from, to, raw: 10n * LEAST, capture: 'manual' });
      return text(answered(await transfer('', body), 201).json.id);
    };
    await tenths(2_000n);
    const [inPart, free] = [await sendHeld(), await sendHeld()];
    const part = { amount: { raw: LEAST.toString(), asset: 'COPM' } };
    answered(await transfer(`/${inPart}/capture`, part), 200);
    await tenths(0n);
    answered(await transfer(`/${free}/capture`, part), 200);
    await tenths(1_000n);
    const request = { tenantId, operation: 'transfer', asset: 'COPM', reference: 'r' } as const;
    const period = { from: since, to: systemClock(), reason: 'too much' };
    const plan = await planRefund(db.database.reader, { ...request, ...period });
    assert.deepEqual([plan.operations, plan.totalRaw], [1, LEAST / 10n]);
    await charge(RIGHT);
  });

  it('includes payouts whose ids are much older, as those of a batch that was paused, whether they were returned or not', async () => {
    const tenantId = bank.tenant.tenant.id;
    await setFee(db.database, { tenantId, operation: 'payout', flatRaw: WRONG });
    const sent = [0, 1, 2].map(() =>
      bank.request('POST', '/v1/payouts', { body: payoutBody({ from }) }),
    );
    const ids = (await Promise.all(sent)).map((one) => text(answered(one, 201).json.id));
    await setFee(db.database, { tenantId, operation: 'payout', flatRaw: RIGHT });
    for (const [index, end] of (['completed', 'returned'] as const).entries()) {
      const rail = new ScriptedRail(say(end, 'account_closed'));
      await railsOf(db, { rail }).submissions.submit(asUuid(ids[index]!));
    }
    const move = (days: string) =>
      db.change(
        `UPDATE payouts SET created_at=created_at${days}INTERVAL 90 DAY WHERE id IN (${ids.map(idLiteral).join()})`,
      );
    await move('+');
    const inDays = (days: number) => instant(systemClock() + days * 86_400_000);
    const request = { tenantId, operation: 'payout', asset: 'COPM', reference: 'r' } as const;
    const period = { from: inDays(89), to: inDays(91), reason: 'too much' };
    const plan = await planRefund(db.database.reader, { ...request, ...period });
    assert.deepEqual([plan.operations, plan.totalRaw], [2, 2n * (WRONG - RIGHT)]);
    await move('-');
  });

  it('is refused with a malformed reference, crossed bounds or missing options', async () => {
    assert.match((await propose('no reference')).stderr, /reference/);
    const crossed = [
      '--from',
      '2026-01-02T00:00:00Z',
      '--to',
      '2026-01-01T00:00:00Z',
      '--reason',
      'x',
    ];
    const half = [
      '--reference',
      'r',
      '--operation',
      'transfer',
      '--asset',
      'COPM',
      '--as',
      'maria',
    ];
    assert.match(
      (await ops(...half, ...crossed)).stderr,
      /the end of the period lies before its beginning/,
    );
    assert.equal(
      (await ops('--reference', 'r', '--operation', 'transfer', '--as', 'maria')).code,
      2,
    );
  });
});
