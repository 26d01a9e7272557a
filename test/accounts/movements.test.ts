import assert from 'node:assert/strict';
import { setFeeAccount } from '../../src/operations/fees.js';
import { newId } from '../../src/core/ids.js';
import { instant, toRfc3339 } from '../../src/core/instant.js';
import { entries } from '../../src/db/entities/ledger.js';
import type { Account } from '../../src/db/entities/parties.js';
import { approveAdjustment, proposeAdjustment, recordPayIn } from '../../src/funding/service.js';
import { startTestApi } from '../helpers/api.js';
import {
  answered,
  idLiteral,
  type Json,
  LEAST,
  list,
  object,
  openBank,
  text,
  walk,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { assertLedgerSound, setFee, someone, TEST_ACTOR } from '../helpers/world.js';

const START = Date.parse('2032-05-01T12:00:00.000Z');
const ASSETS = ['COPM', 'DUSD'] as const;
/** Every kind that there is yet, and one that no account has. */
const KINDS = [
  ...['transfer_in', 'transfer_out', 'payin_in', 'fee_out', 'adjustment_in', 'adjustment_out'],
  'bonus_in',
];

const db = await testDatabase();
let now = instant(START);
const api = await startTestApi(db, {}, { clock: () => now });
const bank = await openBank(api);

describe('GET /v1/accounts/{account_id}/movements', () => {
  let payer: Account;
  let person: Account;
  let fees: Account;
  /** All of the payer's, newest first, as the unfiltered list shows them. */
  let all: Json[];

  const at = (offset: number): string => toRfc3339(instant(START + offset));
  const path = (account: Account, query = ''): string =>
    `/v1/accounts/${account.id}/movements${query === '' ? '' : `?${query}`}`;

  before(async () => {
    payer = await bank.account({ name: 'Ferretería Núñez', alias: '$ferreteria' });
    person = await bank.account({
      type: 'person',
      name: 'Ana María Pérez',
      alias: '$ana',
      funds: { COPM: 9n * LEAST },
    });
    fees = await bank.account({ name: 'Fees' });
    const tenantId = bank.tenant.tenant.id;
    await setFeeAccount(db.deps, tenantId, fees.id, TEST_ACTOR);
    await setFee(db.database, { tenantId, asset: 'DUSD', flatRaw: 11n });
    // Two steps in each millisecond; each step makes one or two movements of the payer.
    for (let step = 0; step < 40; step += 1) {
      now = instant(START + Math.trunc(step / 2));
      await act(step);
    }
    all = list((await bank.get(path(payer, 'limit=100'))).json.items);
  });

  async function act(step: number): Promise<void> {
    const asset = ASSETS[step % 3 === 0 ? 0 : 1];
    if (step < 2 || step % 8 === 0)
      return bank.fund(payer, { raw: 30n * LEAST + BigInt(step), asset: ASSETS[step % 2]! });
    if (step % 8 === 3) return adjust(step, asset);
    if (step % 5 === 4)
      await bank.sent({ from: person, to: payer, raw: LEAST, description: `back ${step}` });
    else await bank.sent({ from: payer, to: person, raw: LEAST, asset });
  }

  async function adjust(step: number, asset: (typeof ASSETS)[number]): Promise<void> {
    const { database, writer } = api.core;
    const { resource } = await proposeAdjustment(
      { database, writer },
      {
        tenantId: payer.tenantId,
        accountId: payer.id,
        direction: step % 16 === 3 ? 'in' : 'out',
        amount: { raw: 17n, asset },
        reference: `adjustment-${step}`,
        reason: `a slip of step ${step}`,
        by: someone('one'),
      },
    );
    await approveAdjustment({ database, writer }, resource, someone('another'));
  }

  /** The ledger's own entries of the account, newest first. */
  async function ledgerOf(account: Account): Promise<unknown[]> {
    const { reader } = db.database;
    const rows = await reader.select(entries, { accountId: account.id }, { orderBy: ['seq'] });
    return rows.reverse().map(({ id, kind, raw, asset, createdAt }) => ({
      id,
      kind,
      amount: { raw: (raw < 0n ? -raw : raw).toString(), asset },
      created_at: toRfc3339(createdAt),
    }));
  }

  const short = ({ id, kind, amount, created_at }: Json): Json => ({
    id,
    kind,
    amount,
    created_at,
  });

  it('shows every entry of the account, newest first, with the amount without a sign', async () => {
    const ledger = await ledgerOf(payer);
    assert(ledger.length > 40, `${ledger.length} movements`);
    assert.deepEqual(all.map(short), ledger);
    const kinds = new Set(all.map(({ kind }) => kind));
    assert.deepEqual([...kinds].sort(), KINDS.filter((kind) => kind !== 'bonus_in').sort());
  });

  it('shows every movement once, with any page size', async () => {
    for (const limit of [1, 3, 99, 100])
      assert.deepEqual(await walk(bank, path(payer, `limit=${limit}`)), all);
  });

  it('has pages of 25 by default; next_cursor is null on the last page', async () => {
    const first = answered(await bank.get(path(payer)), 200).json;
    assert.deepEqual(Object.keys(first).sort(), ['items', 'next_cursor']);
    assert.equal(list(first.items).length, 25);
    const nextAnswer = await bank.get(path(payer, `cursor=${text(first.next_cursor)}&limit=100`));
    const next = answered(nextAnswer, 200).json;
    assert.deepEqual([...list(first.items), ...list(next.items)], all);
    assert.equal(next.next_cursor, null);
  });

  type Filter = readonly [query: string, keep: (movement: Json) => boolean];
  /** The steps are within 20 ms: from 0 to 19. */
  const FILTERS: readonly Filter[] = [
    ...ASSETS.map((asset): Filter => [
      `asset=${asset}`,
      (one) => object(one.amount).asset === asset,
    ]),
    ...KINDS.map((kind): Filter => [`kind=${kind}`, (one) => one.kind === kind]),
    [`created_at[gte]=${at(7)}`, (one) => text(one.created_at) >= at(7)],
    [`created_at[lte]=${at(12)}`, (one) => text(one.created_at) <= at(12)],
    [`created_at[gte]=${at(0)}`, () => true],
    [`created_at[gte]=${at(19)}`, (one) => text(one.created_at) === at(19)],
    [`created_at[gte]=${at(20)}`, () => false],
    [`created_at[lte]=${at(0)}`, (one) => text(one.created_at) === at(0)],
    ['created_at[lte]=9999-12-31T23:59:59.9999999Z', () => true],
    [`created_at[lte]=${at(-1)}`, () => false],
  ];

  it('accepts each filter, every pair of them, and all four together, page after page', async () => {
    const combined = async (...some: readonly Filter[]): Promise<void> => {
      const query = some.map(([one]) => one).join('&');
      const expected = all.filter((one) => some.every(([, keep]) => keep(one)));
      assert.deepEqual(await walk(bank, path(payer, `${query}&limit=9`)), expected, query);
    };
    const parameter = ([query]: Filter): string => query.split('=')[0]!;
    for (const [index, one] of FILTERS.entries()) {
      await combined(one);
      for (const other of FILTERS.slice(index + 1))
        if (parameter(one) !== parameter(other)) await combined(one, other);
    }
    const [copm, , ...rest] = FILTERS;
    const bounds = rest.slice(KINDS.length, KINDS.length + 2);
    for (const kind of rest.slice(0, KINDS.length)) await combined(copm!, kind, ...bounds);
  });

  it('names the counterparty by its display name: a person abbreviated, a business by its trade name', async () => {
    const partyOf = (one?: Json): unknown[] => {
      const { account_id: id, tenant, alias, display_name: name, type } = object(one?.counterparty);
      assert.equal(tenant, bank.tenant.tenant.id);
      return [id, alias, name, type];
    };
    const out = all.find(({ kind }) => kind === 'transfer_out');
    assert.deepEqual(partyOf(out), [person.id, '$ana', 'Ana M. P.', 'person']);
    const [seen] = list((await bank.get(path(person, 'kind=transfer_in&limit=1'))).json.items);
    assert.deepEqual(partyOf(seen), [payer.id, '$ferreteria', 'Ferretería Núñez', 'business']);
    const fee = all.find(({ kind }) => kind === 'fee_out');
    assert.deepEqual(partyOf(fee), [fees.id, null, 'Fees', 'business']);
  });

  it('shows pay-ins and adjustments with a counterparty of the type system and without an account', async () => {
    const nobody = { account_id: null, tenant: null, alias: null };
    const system = { ...nobody, display_name: 'System', type: 'system' };
    for (const kind of ['payin_in', 'adjustment_in', 'adjustment_out'])
      assert.deepEqual(all.find((one) => one.kind === kind)?.counterparty, system);
  });

  it('shows the operation that caused each movement, and its description', async () => {
    const [transfer] = list(
      (await bank.get(`/v1/transfers?source_account=${person.id}&limit=1`)).json.items,
    );
    const received = all.find(({ related }) => object(related).id === transfer?.id);
    assert.deepEqual(
      [received?.kind, received?.related, received?.description, received?.created_at],
      [
        'transfer_in',
        { type: 'transfer', id: transfer?.id },
        transfer?.description,
        transfer?.created_at,
      ],
    );
    assert.match(text(received?.description), /^back \d+$/);
    const adjusted = all.find(({ kind }) => kind === 'adjustment_out');
    assert.deepEqual(
      [object(adjusted?.related).type, text(adjusted?.description).slice(0, 9)],
      ['adjustment', 'a slip of'],
    );
    const { database, writer } = api.core;
    const { resource } = await recordPayIn(
      { database, writer },
      {
        tenantId: person.tenantId,
        accountId: person.id,
        amount: { raw: 1n, asset: 'DUSD' },
        reference: 'wire-1',
        description: 'Wire 1',
        by: someone('one'),
      },
    );
    const [paidIn] = list((await bank.get(path(person, 'limit=1'))).json.items);
    assert.deepEqual(
      [paidIn?.kind, paidIn?.amount, paidIn?.related, paidIn?.description],
      ['payin_in', { raw: '1', asset: 'DUSD' }, { type: 'payin', id: resource.id }, 'Wire 1'],
    );
  });

  it('gives no movement twice and skips no earlier one, while new ones are made', async () => {
    const [from, to] = [
      await bank.account({ funds: { COPM: 100n * LEAST } }),
      await bank.account(),
    ];
    for (let count = 0; count < 10; count += 1) await bank.sent({ from, to, raw: LEAST });
    const before = await walk(bank, path(from, 'limit=100'));
    const seen: Json[] = [];
    for (let query: string | null = 'limit=2'; query !== null;) {
      const page: Json = answered(await bank.get(path(from, query)), 200).json;
      seen.push(...list(page.items));
      await bank.sent({ from, to, raw: LEAST });
      query = page.next_cursor === null ? null : `limit=2&cursor=${text(page.next_cursor)}`;
    }
    assert.deepEqual(seen, before);
  });

  it('GET /v1/accounts/{account_id}/movements?order=asc can be followed without end: each movement once, in order', async () => {
    const followed = async (
      account: Account,
      query: string,
      start = '',
    ): Promise<[Json[], string]> => {
      const seen: Json[] = [];
      for (let cursor = start; ;) {
        const more = cursor === '' ? '' : `&cursor=${cursor}`;
        const { json } = answered(await bank.get(path(account, `order=asc${query}${more}`)), 200);
        seen.push(...list(json.items));
        cursor = text(json.next_cursor);
        if (list(json.items).length === 0) return [seen, cursor];
      }
    };
    for (const limit of [1, 7, 100])
      assert.deepEqual((await followed(payer, `&limit=${limit}`))[0], all.toReversed());
    for (const [query, keep] of FILTERS)
      assert.deepEqual(
        (await followed(payer, `&limit=9&${query}`))[0],
        all.filter(keep).toReversed(),
        query,
      );

    const [from, to] = [await bank.account({ funds: { COPM: 9n * LEAST } }), await bank.account()];
    const [none, atStart] = await followed(to, '');
    assert.deepEqual(none, []);
    await bank.sent({ from, to, raw: LEAST });
    const [first, afterFirst] = await followed(to, '', atStart);
    await bank.sent({ from, to, raw: LEAST });
    await bank.sent({ from, to, raw: LEAST });
    const [later, atEnd] = await followed(to, '', afterFirst);
    assert.deepEqual([first.length, later.length], [1, 2]);
    assert.deepEqual([...first, ...later].toReversed(), await walk(bank, path(to, 'limit=100')));

    // As after a restore: another entry has the number of the one that the cursor follows.
    const [newest] = (await ledgerOf(to)) as [Json];
    const rename = (before: string, after: string): Promise<number> =>
      db.change(`UPDATE entries SET id=${idLiteral(after)} WHERE id=${idLiteral(before)}`);
    const other = newId();
    await rename(text(newest.id), other);
    const lost = await bank.get(path(to, `order=asc&cursor=${atEnd}`));
    assert.deepEqual(answered(lost, 400, 'invalid_field').details?.reason, 'expired');
    await rename(other, text(newest.id));
    await assertLedgerSound(db.database);
  });

  it('refuses unknown kinds and assets, and a cursor of another account or without its filters', async () => {
    const wrong = 'kind=fee_in kind=system_in kind= asset=USD limit=101 limit=0 order=up';
    for (const query of wrong.split(' '))
      answered(await bank.get(path(payer, query)), 400, 'invalid_field');
    const cursor = text((await bank.get(path(payer, 'kind=payin_in&limit=1'))).json.next_cursor);
    answered(await bank.get(path(payer, `kind=payin_in&cursor=${cursor}`)), 200);
    for (const [account, query] of [
      [payer, ''],
      [payer, 'kind=transfer_in&'],
      [payer, 'kind=payin_in&asset=COPM&'],
      [person, 'kind=payin_in&'],
    ] as const) {
      const refused = await bank.get(path(account, `${query}cursor=${cursor}`));
      assert.equal(answered(refused, 400, 'invalid_field').details?.field, 'cursor');
    }
  });
});
