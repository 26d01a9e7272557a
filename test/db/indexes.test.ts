import assert from 'node:assert/strict';
import { type Connection, createConnection } from 'mysql2/promise';
import {
  readMovements,
  readMovementsAfter,
  type MovementFilter,
} from '../../src/accounts/movements.js';
import { findUnsubmittedPayouts } from '../../src/accounts/status.js';
import { totalsAt } from '../../src/accounts/balances.js';
import {
  listNewest,
  listOperations,
  type OperationFilter,
} from '../../src/operations/operation-list.js';
import { MAX_EXAMINED, readDecisionContext } from '../../src/operations/decision-context.js';
import { newId, type Uuid } from '../../src/core/ids.js';
import { type Instant, instant } from '../../src/core/instant.js';
import type { TimePosition } from '../../src/core/page.js';
import type { Caller } from '../../src/core/permissions.js';
import { time, uuid } from '../../src/db/columns.js';
import type { Reader } from '../../src/db/database.js';
import { transfers } from '../../src/db/entities/operations.js';
import { readerOver } from '../../src/db/reader.js';
import {
  type EventFilter,
  type EventOrder,
  readFirstSequenceSince,
  readEvents,
} from '../../src/events/log.js';
import { Deadline } from '../../src/core/timers.js';
import { dueSql, dueTenantsSql } from '../../src/temporal/outbox.js';
import { transferList } from '../../src/transfers/service.js';
import { transferWorkflowResource } from '../../src/transfers/approval-outcomes.js';
import { deliveriesOf } from '../../src/support/reading/ledger.js';
import { findByTerms } from '../../src/operations/search-words.js';
import { findByWords } from '../../src/support/reading/term-search.js';
import { countWaiting } from '../../src/support/reading/waiting.js';
import { countEndpoints } from '../../src/webhooks/registration.js';
import { readEndpointSlice } from '../../src/webhooks/sweeps.js';
import { findEndpointsWithNewEvents } from '../../src/webhooks/endpoint-search.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { type Bank, LEAST, openBank } from '../helpers/bank.js';
import { ownDatabase, type TestDatabase } from '../helpers/database.js';

const MAX_INSERTS = 12;

describe('a transfer', () => {
  let db: TestDatabase;
  let api: TestApi;
  let bank: Bank;

  before(async () => {
    db = await ownDatabase('indexes');
    api = await startTestApi(db);
    bank = await openBank(api);
  });

  after(async () => {
    await db.remove();
  });

  /** Every table, its rows, and how many B-trees a row of it is inserted into. */
  async function tables(): Promise<Map<string, { rows: number; trees: number }>> {
    const indexes = await db.sql(
      `SELECT table_name AS name, COUNT(DISTINCT index_name) AS trees FROM information_schema.statistics
       WHERE table_schema='${db.name}' GROUP BY table_name`,
    );
    const found = new Map<string, { rows: number; trees: number }>();
    for (const { name, trees } of indexes) {
      const [row] = await db.sql(`SELECT COUNT(*) AS n FROM ${String(name)}`);
      found.set(String(name), { rows: Number(row?.n), trees: Number(trees) });
    }
    return found;
  }

  it(`writes into at most ${MAX_INSERTS} B-trees, the primary keys included`, async () => {
    const [from, to] = [await bank.account({ funds: { COPM: 10n * LEAST } }), await bank.account()];
    // The first of a month makes rows that the others change.
    await bank.sent({ from, to, raw: LEAST });
    const before = await tables();
    await bank.sent({ from, to, raw: LEAST });
    const after = await tables();
    const inserted = Array.from(after, ([name, { rows, trees }]) => ({
      name,
      entries: (rows - (before.get(name)?.rows ?? 0)) * trees,
    })).filter(({ entries }) => entries !== 0);
    const sum = inserted.reduce((total, { entries }) => total + entries, 0);
    assert.deepEqual(inserted.map(({ name }) => name).sort(), [
      'entries',
      'events',
      'idempotency_keys',
      'ledger_transactions',
      'transfers',
    ]);
    assert(sum <= MAX_INSERTS, `${sum}: ${JSON.stringify(inserted)}`);
  });
});

/** Rows of one account and one tenant: far more than any read may look at. */
const ROWS = 40_000;
/** The rare rows, at the old end of everything. */
const RARE = 60;
const PAGE = 100;
const BEGAN = Date.parse('2031-01-01T00:00:00.000Z');
/** A page, its places in a few ordered ranges, temporary tables and halvings. */
const MAX_READ = 3_000;

describe('over forty thousand rows, a read looks at a bounded number of them:', () => {
  let db: TestDatabase;
  let connection: Connection;
  let reader: Reader;
  let caller: Caller;
  const accountId = newId();
  const otherId = newId();
  /** Half of the transfers are refunds of the one, and the oldest of the other. */
  const [oftenRefunded, rarelyRefunded] = [newId(), newId()];
  const at = (row: number): Instant => instant(BEGAN + row);

  before(async () => {
    db = await ownDatabase('reads');
    const holder = { tenantId: newId(), memberId: newId(), tokenKeyId: 'a' };
    caller = { ...holder, scopes: ['read'], deadline: Deadline.afterMs(600_000) };
    await fill();
    connection = await createConnection({
      uri: db.url,
      timezone: 'Z',
      dateStrings: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
    });
    reader = readerOver(async (sql) => (await connection.query(sql))[0]);
  });

  after(async () => {
    await connection.end();
    await db.remove();
  });

  async function fill(): Promise<void> {
    const [tenant, account, other] = [caller.tenantId, accountId, otherId].map(uuid.literal);
    const numbers = `(WITH RECURSIVE s (n) AS (SELECT 0 UNION ALL SELECT n+1 FROM s WHERE n<199)
      SELECT a.n*200+b.n+1 AS n FROM s a CROSS JOIN s b) x`;
    const time = `TIMESTAMPADD(MICROSECOND, n*1000, '2031-01-01')`;
    const id = (salt: string): string => `LEFT(UNHEX(SHA2(CONCAT('${salt}', n), 256)), 16)`;
    await db.sql(
      `INSERT INTO member_roles VALUES (${account}, ${uuid.literal(caller.memberId)}, 'owner')`,
    );
    await db.sql(
      `INSERT INTO accounts (id, tenant_id, type, status, name, created_at)
       VALUES (${account}, ${tenant}, 'business', 'active', 'A', NOW(3))`,
    );
    await db.sql(`INSERT INTO balances VALUES (${account}, 'COPM', 0, 0, 0, ${ROWS}, NOW(3))`);
    await db.sql(
      `INSERT INTO tenants (id, name, time_zone, policy_delay_s, created_at) VALUES (${tenant}, 'T', 'UTC', 0, NOW(3))`,
    );
    await db.sql(
      `INSERT INTO ledger_transactions (id, tenant_id, related_type, related_id, created_at)
       SELECT ${id('t')}, ${tenant}, 'transfer', ${id('o')}, ${time} FROM ${numbers}`,
    );
    await db.sql(
      `INSERT INTO entries (account_id, seq, id, transaction_id, asset, kind, raw, total_after, created_at)
       SELECT ${account}, n, ${id('e')}, ${id('t')}, IF(n<=${RARE}, 'DUSD', 'COPM'),
         IF(n<=${RARE}, 'payin_in', IF(n MOD 2, 'transfer_in', 'transfer_out')), 1, 1, ${time} FROM ${numbers} ORDER BY n`,
    );
    await db.sql(
      `INSERT INTO transfers (id, tenant_id, source_account_id, destination_account_id, asset, raw, fee_raw, refunded_raw,
         refunding_raw, status, created_by, limit_month, created_at, approval_expires_at)
       SELECT ${id('o')}, ${tenant}, IF(n<=${RARE}, ${other}, ${account}), IF(n<=${RARE}, ${account}, ${other}), 'COPM', 1, 0,
         0, 0, IF(n<=${RARE}, 'expired', IF(n=${RARE + 1}, 'pending_approval', 'completed')), ${tenant}, '2031-01', ${time},
         IF(n<=${RARE + 1}, ${time}, NULL) FROM ${numbers}`,
    );
    // Half of them have one pair, and the oldest another.
    await db.sql(
      `INSERT INTO metadata_pairs SELECT ${tenant}, 'transfer', UNHEX(LEFT(SHA2(IF(n<=${RARE}, 'rare', 'often'), 256), 32)), 'a',
         ${time}, ${id('o')} FROM ${numbers} WHERE n<=${RARE} OR n MOD 2`,
    );
    await fillRefunds();
    await db.sql(
      `INSERT INTO holds SELECT ${id('o')}, 'transfer', ${account}, 'COPM', 1, IF(n=${RARE + 1}, 1, 0), ${time},
         IF(n=${RARE + 1}, ${time}, NULL) FROM ${numbers} WHERE n<=${RARE + 1}`,
    );
    await db.sql(
      `INSERT INTO events SELECT ${tenant}, n, ${id('v')}, IF(n<=${RARE}, 'payout.completed', 'transfer.completed'),
         ${id('o')}, '{}', ${time}, NULL FROM ${numbers} ORDER BY n`,
    );
    await db.sql(
      `INSERT INTO payouts (id, tenant_id, source_account_id, system_account_id, asset, raw, fee_raw, country, bank_code, account_type,
         account_end, holder_name, status, created_by, limit_month, created_at, approved_at, rail, attempts)
       SELECT ${id('p')}, ${tenant}, IF(n<=${RARE}, ${account}, ${other}), ${other}, 'COPM', 1, 0, 'CO', '1', 'savings', '1', 'H', 'approved',
         ${tenant}, '2031-01', ${time}, ${time}, 'simulated', 0 FROM ${numbers}`,
    );
    await db.sql(
      `INSERT INTO holds SELECT ${id('p')}, 'payout', IF(n<=${RARE}, ${account}, ${other}), 'COPM', 1, 1, ${time}, NULL FROM ${numbers}`,
    );
    await db.sql(
      `INSERT INTO outbox (id, tenant_id, resource_type, resource_id, created_at, due_at, attempts)
       SELECT ${id('u')}, ${tenant}, 'transfer', ${id('o')}, ${time}, ${time}, 0 FROM ${numbers}`,
    );
    await db.sql(
      `INSERT INTO webhook_endpoints (id, tenant_id, url, status, api_version, secret, secret_key_id, cursor_sequence, recover_all, fence,
         failures_in_row, failing_since, probes, created_by, created_at)
       SELECT ${id('w')}, ${tenant}, 'https://receiver.example/', IF(n=${RARE}, 'enabled', 'deleted'), '2026-11-01', '', 'test', 0, 0, 0, 0,
         ${time}, 0, ${tenant}, ${time} FROM ${numbers}`,
    );
    await db.sql(
      `INSERT INTO webhook_subscriptions SELECT ${id('w')}, 'payout.completed', ${tenant}, 0 FROM ${numbers} WHERE n=${RARE}`,
    );
    await db.sql(
      `INSERT INTO adjustments (id, tenant_id, account_id, direction, asset, raw, reference, reason, status, proposed_by,
         proposed_by_id, decided_by, decided_by_id, created_at)
       SELECT ${id('d')}, ${tenant}, ${account}, 'in', 'COPM', 1, n, 'R', IF(n=${RARE}, 'proposed', 'posted'), 'P',
         ${tenant}, 'Q', ${other}, ${time} FROM ${numbers}`,
    );
    await db.sql(`INSERT INTO event_counters VALUES (${tenant}, ${ROWS}, NOW(3), 0)`);
    await db.sql(
      `INSERT INTO event_heads (tenant_id, type, last_sequence) VALUES (${tenant}, 'payout.completed', ${RARE})`,
    );
    await db.sql(
      'ANALYZE TABLE webhook_endpoints, webhook_subscriptions, entries, outbox, ledger_transactions, transfers, holds, events, payouts',
    );
  }

  async function fillRefunds(): Promise<void> {
    const [rare, often] = [rarelyRefunded, oftenRefunded].map(uuid.literal);
    await db.sql(
      `UPDATE metadata_pairs p JOIN transfers t ON t.id=p.id
       SET t.refund_of_type='transfer', t.refund_of_id=IF(t.created_at<=${time.literal(at(RARE))}, ${rare}, ${often})`,
    );
    await db.sql(
      `INSERT INTO metadata_pairs SELECT tenant_id, 'transfer', UNHEX(LEFT(SHA2(IF(refund_of_id=${rare}, '${rarelyRefunded}',
         '${oftenRefunded}'), 256), 32)), 'refund of', created_at, id FROM transfers WHERE refund_of_id IS NOT NULL`,
    );
  }

  async function rowsRead(): Promise<number> {
    const [rows] = await connection.query("SHOW SESSION STATUS LIKE 'Handler_read%'");
    return (rows as { Value: string }[]).reduce((sum, { Value }) => sum + Number(Value), 0);
  }

  /** Returns the result of `work`, which read no more than `most` rows. */
  async function within<T>(most: number, work: () => Promise<T>): Promise<T> {
    const before = await rowsRead();
    const answer = await work();
    const read = (await rowsRead()) - before;
    assert(read <= most, `${read} rows were looked at, of at most ${most}`);
    return answer;
  }

  const BOUNDS: readonly (readonly [name: string, bounds: { from?: Instant; to?: Instant }])[] = [
    ['', {}],
    [', from', { from: at(ROWS * 0.3) }],
    [', to', { to: at(ROWS * 0.7) }],
    [', from and to', { from: at(ROWS * 0.3), to: at(ROWS * 0.7) }],
    [', from after all', { from: at(ROWS + 10) }],
    [', to before all', { to: at(0) }],
  ];
  const countOf = (from: number, to: number, keep: (row: number) => boolean): number =>
    Math.min(
      PAGE,
      Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index).filter(keep)
        .length,
    );

  const MOVEMENTS: readonly (readonly [string, MovementFilter, (row: number) => boolean])[] = [
    ['every movement', {}, () => true],
    ['movements of an asset', { asset: 'COPM' }, (row) => row > RARE],
    ['movements of a rare asset', { asset: 'DUSD' }, (row) => row <= RARE],
    ['movements of a kind', { kind: 'transfer_in' }, (row) => row > RARE && row % 2 === 1],
    ['movements of a rare kind', { kind: 'payin_in' }, (row) => row <= RARE],
    ['movements of a kind without rows', { kind: 'bonus_in' }, () => false],
    [
      'movements of an asset and kind',
      { asset: 'COPM', kind: 'transfer_out' },
      (row) => row > RARE && row % 2 === 0,
    ],
  ];
  for (const [name, filter, keep] of MOVEMENTS)
    for (const [bounded, bounds] of BOUNDS)
      it(`${name}${bounded}, at any depth`, async () => {
        for (const before of [null, BigInt(ROWS / 2), 30n]) {
          const page = await within(MAX_READ, () =>
            readMovements(reader, accountId, { ...filter, ...bounds }, before, PAGE),
          );
          const first = bounds.from === undefined ? 1 : bounds.from - BEGAN;
          const last = Math.min(
            bounds.to === undefined ? ROWS : bounds.to - BEGAN,
            before === null ? ROWS : Number(before) - 1,
          );
          assert.equal(page.items.length, countOf(first, last, keep));
        }
        const read = (after: Awaited<ReturnType<typeof readMovementsAfter>>['last']) =>
          within(MAX_READ, () =>
            readMovementsAfter(reader, accountId, { ...filter, ...bounds }, after, PAGE),
          );
        const { last } = await read(null);
        if (last !== null) assert.notEqual((await read(last)).last, null);
      });

  const LISTS: readonly (readonly [string, OperationFilter, (row: number) => boolean])[] = [
    ['transfers', {}, () => true],
    ['transfers of a status', { status: 'completed' }, (row) => row > RARE + 1],
    ['transfers of a rare status', { status: 'expired' }, (row) => row <= RARE],
    ['transfers of a status without rows', { status: 'rejected' }, () => false],
    [
      'transfers with a pair of metadata',
      { pair: ['a', 'often'] },
      (row) => row > RARE && row % 2 === 1,
    ],
    ['transfers with a rare pair of metadata', { pair: ['a', 'rare'] }, (row) => row <= RARE],
    ['transfers with a pair that none has', { pair: ['b', 'rare'] }, () => false],
    [
      'the refunds of a transfer',
      { refundOfId: oftenRefunded },
      (row) => row > RARE && row % 2 === 1,
    ],
    [
      'the refunds of a transfer that has few',
      { refundOfId: rarelyRefunded },
      (row) => row <= RARE,
    ],
    ['the refunds of a transfer that has none', { refundOfId: accountId }, () => false],
    [
      'the refunds of a transfer with a rare pair of metadata',
      { refundOfId: rarelyRefunded, pair: ['a', 'rare'] },
      (row) => row <= RARE,
    ],
    ['transfers of an account', { sourceAccountId: accountId }, (row) => row > RARE],
  ];
  for (const [name, filter, keep] of LISTS)
    for (const [bounded, bounds] of BOUNDS)
      it(`${name}${bounded}, at any depth`, async () => {
        const positions: readonly (TimePosition | null)[] = [
          null,
          { createdAt: at(ROWS / 2), id: MIN_ID },
        ];
        for (const before of positions) {
          const page = await within(MAX_READ, () =>
            listOperations(transferList, reader, caller, { ...filter, ...bounds }, before, PAGE),
          );
          const first = bounds.from === undefined ? 1 : bounds.from - BEGAN;
          const newest = bounds.to === undefined ? ROWS : bounds.to - BEGAN;
          const last = before === null ? newest : Math.min(newest, before.createdAt - BEGAN - 1);
          assert.equal(page.items.length, countOf(first, last, keep));
        }
      });

  it('over forty thousand rows, a filter without an index reads at most two thousand rows for a page, and the next page continues after them', async () => {
    const nobody = newId();
    for (const filter of [
      { columns: { destinationAccountId: nobody } },
      { asset: 'DUSD' },
      { min: 2n },
    ] as const)
      for (const bounds of [{}, { sourceAccountId: accountId }, { status: 'completed' }]) {
        const wanted = { ...filter, ...bounds };
        const page = await within(MAX_LOOKED_FOR, () =>
          listOperations(transferList, reader, caller, wanted, null, PAGE),
        );
        assert.deepEqual(page.items, []);
        assert.equal(page.next?.createdAt, at(ROWS - 2_000 + 1));
      }
    const found = await within(MAX_LOOKED_FOR, () =>
      listOperations(
        transferList,
        reader,
        caller,
        { columns: { destinationAccountId: otherId } },
        null,
        PAGE,
      ),
    );
    assert.equal(found.items.length, PAGE);
  });

  it('the totals of an account at any moment', async () => {
    for (const moment of [at(-5), at(1), at(RARE), at(ROWS / 3), at(ROWS), at(ROWS * 2)])
      await within(MAX_READ, () => totalsAt(reader, [accountId], moment));
  });

  it('the lists of operators by status, by account and by both', async () => {
    for (const filter of [{}, { status: 'expired' }, { sourceAccountId: accountId }])
      for (const before of [null, { createdAt: at(ROWS / 2), id: newId() }])
        await within(MAX_READ, () =>
          listNewest(transferList, reader, { tenantId: caller.tenantId, ...filter }, PAGE, before),
        );
  });

  it('a list whose rows are all hidden ends its page after two thousand rows, and continues', async () => {
    const stranger = { ...caller, memberId: newId() };
    const page = await within(MAX_LOOKED_FOR, () =>
      listOperations(transferList, reader, stranger, {}, null, PAGE),
    );
    assert.deepEqual(page.items, []);
    assert.equal(page.next?.createdAt, at(ROWS - 2_000 + 1));
  });

  const EVENTS: readonly (readonly [string, EventFilter, (row: number) => boolean])[] = [
    ['events', {}, () => true],
    ['events of a type', { type: 'transfer.completed' }, (row) => row > RARE],
    ['events of a rare type', { type: 'payout.completed' }, (row) => row <= RARE],
  ];
  for (const [name, filter, keep] of EVENTS)
    for (const [bounded, bounds] of BOUNDS)
      it(`${name}${bounded}, in both orders`, async () => {
        for (const order of ['asc', 'desc'] as readonly EventOrder[]) {
          const page = await within(MAX_READ, () =>
            readEvents(reader, caller.tenantId, { ...filter, ...bounds }, order, null, PAGE),
          );
          const first = bounds.from === undefined ? 1 : bounds.from - BEGAN;
          const last = bounds.to === undefined ? ROWS : bounds.to - BEGAN;
          assert.equal(page.bodies.length, countOf(first, last, keep));
        }
      });

  it('the payouts that are notified when an account is unfrozen', async () => {
    const held = await within(MAX_READ, () => findUnsubmittedPayouts(reader, accountId));
    assert.equal(held.length, RARE);
  });

  it('the entries of the outbox that are due, however many have waited since Temporal was away', async () => {
    const { tenantId } = caller;
    const tenants = await within(10, () => reader.query(dueTenantsSql(PAGE, at(ROWS))));
    assert.deepEqual(
      tenants.map((row) => uuid.parse(row.tenant_id)),
      [tenantId],
    );
    const due = await within(PAGE + 2, () => reader.query(dueSql(tenantId, PAGE, at(ROWS))));
    assert.equal(due.length, PAGE);
  });

  it('the first event since a time, and the operations that wait for approval', async () => {
    const { tenantId } = caller;
    assert.equal(
      await within(200, () => readFirstSequenceSince(reader, tenantId, at(ROWS / 4))),
      BigInt(ROWS / 4),
    );
    assert.equal(
      await within(200, () => readFirstSequenceSince(reader, tenantId, at(ROWS + 1))),
      null,
    );
    assert.equal(await within(200, () => readFirstSequenceSince(reader, newId(), at(1))), null);
    const waiting = await within(200, () =>
      transferWorkflowResource.listWaiting(reader, at(ROWS * 2), null, PAGE),
    );
    assert.equal(waiting.length, 1);
  });

  it('what is known before a decision about an account', async () => {
    // Both sides of a payment to the account itself have all the entries. Each is read from the index,
    // then as one of the newest, and counted in its group in memory.
    const decision = { accountId, asset: 'COPM', recipient: accountId } as const;
    const found = await within(6 * MAX_EXAMINED + MAX_READ, () =>
      readDecisionContext(reader, decision, at(ROWS)),
    );
    const paid = { count: 0, lastAt: null, areAllExamined: false };
    assert.deepEqual([found?.paid, found?.approved], [paid, []]);
  });

  it('the operations of a person that have a common word', async () => {
    await db.sql(`INSERT INTO search_words SELECT id, 'lunch' FROM transfers`);
    await db.sql(`INSERT INTO search_words VALUES (${uuid.literal(accountId)}, 'bruno')`);
    await db.sql('ANALYZE TABLE search_words');
    const terms = { words: [['bruno'], ['lunch']], amounts: [], asset: null };
    const { found } = await within(MAX_FOUND_BY_WORDS, () => findByWords(reader, terms, null));
    assert.equal(found.transfers.length, 200);
    for (const { createdAt } of found.transfers) assert(createdAt > at(ROWS - 300));
    // An index's entries that a condition pushed down to it leaves out are not counted.
    await connection.query("SET SESSION optimizer_switch='index_condition_pushdown=off'");
    const early = await reader.list(transfers, 'ORDER BY id LIMIT 11');
    const range = { from: early[0]?.id ?? MIN_ID, to: early[10]?.id ?? MIN_ID };
    const few = await within(100, () => findByTerms(reader, [['lun']], PAGE, { range }));
    assert.equal(few.length, 10);
    await connection.query("SET SESSION optimizer_switch='index_condition_pushdown=on'");
  });

  it('the webhook endpoints of a tenant that has deleted nearly all of them', async () => {
    const { tenantId } = caller;
    const now = at(ROWS);
    const type = 'transfer.completed' as const;
    const told = [{ id: newId(), type, sequence: 1n, createdAt: now }];
    const few = <T>(work: () => Promise<T>): Promise<T> => within(400, work);
    // An index's entries that a condition pushed down to it leaves out are not counted.
    await connection.query("SET SESSION optimizer_switch='index_condition_pushdown=off'");
    const found = await few(() => findEndpointsWithNewEvents(reader, [tenantId], now));
    const slice = await few(() => readEndpointSlice(reader, now, null));
    assert.deepEqual(
      found.map(({ id }) => id),
      slice.rows.map(({ id }) => id),
    );
    assert.equal(slice.last, found[0]?.id);
    assert.deepEqual(await few(() => readEndpointSlice(reader, now, slice.last)), {
      rows: [],
      last: null,
    });
    assert.equal(await few(() => countEndpoints(reader, tenantId)), 1);
    assert.equal(await few(() => countWaiting(reader, 'endpoints')), 1);
    assert.equal(await few(() => countWaiting(reader, 'adjustments')), 1);
    assert.deepEqual(await few(() => deliveriesOf(reader, tenantId, told)), []);
    await connection.query("SET SESSION optimizer_switch='index_condition_pushdown=on'");
  });
});

/** Two thousand rows of each status, in the index and in the table, and the sorting of what was merged. */
const MAX_LOOKED_FOR = 4 * 2_000 + 30_000;
/** Two thousand entries that are counted, 4,000 that are looked up, and what 400 ids find in ten tables. */
const MAX_FOUND_BY_WORDS = 30_000;
const MIN_ID = '00000000-0000-0000-0000-000000000000' as Uuid;
