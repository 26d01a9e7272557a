import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { keyIdOf } from '../../src/access/token-text.js';
import type { Uuid } from '../../src/core/ids.js';
import { Deadline } from '../../src/core/timers.js';
import type { Account } from '../../src/db/entities/parties.js';
import { batchServiceOf, csvOf, formOf, UNWATCHED } from '../batches/support.js';
import { type RequestOptions, startTestApi, type TestApi } from '../helpers/api.js';
import {
  answered,
  type Bank,
  idLiteral,
  LEAST,
  openBank,
  text,
  transferBody,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { move, testKind } from '../helpers/kinds.js';
import { until } from '../helpers/temporal.js';
import { assertLedgerSound } from '../helpers/world.js';
import { payoutBody } from '../payouts/support.js';

const db = await testDatabase();

const REQUESTS = [
  'transfer',
  'approve transfer',
  'capture transfer',
  'bonus',
  'upload',
  'execute',
  'cancel batch',
  'payout',
  'approve payout',
  'set policy',
] as const;
type Name = (typeof REQUESTS)[number];

interface Theft {
  readonly api: TestApi;
  readonly bank: Bank;
  readonly token: string;
  readonly accounts: readonly Account[];
  /** The keys of the requests, and at last that of a second bonus. */
  readonly keys: readonly string[];
  readonly requests: Readonly<
    Record<Name, readonly [method: string, path: string, RequestOptions]>
  >;
}

/** One request of each kind that moves money or lets it move, ready to be sent with a token of its own. */
async function prepare(api: TestApi): Promise<Theft> {
  const bank = await openBank(api);
  const thief = await bank.member();
  const roles = [{ memberId: thief.id, role: 'owner' }] as const;
  const accounts: Account[] = [];
  const account = async (): Promise<Account> => {
    const opened = await bank.account({ funds: { COPM: 1_000n * LEAST }, roles });
    accounts.push(opened);
    return opened;
  };
  const to = await bank.account();
  const alias = `$n${randomUUID().slice(0, 8)}`;
  await bank.account({ alias });
  const guarded = async (): Promise<Account> => {
    const from = await account();
    await bank.guard(from);
    return from;
  };
  const file = csvOf([[to.id, LEAST.toString(), 'COPM', null, null]]);
  const form = (from: Account): FormData => formOf(file, { source_account: from.id });
  const ready = async (): Promise<string> => {
    const options = { form: form(await account()) };
    const { json } = answered(await bank.request('POST', '/v1/bonus_batches', options), 201);
    const { status } = await batchServiceOf(api.core).validate(text(json.id) as Uuid, UNWATCHED);
    assert.equal(status, 'ready');
    return `/v1/bonus_batches/${text(json.id)}`;
  };
  const pending = async (path: string, body: (from: Account) => unknown): Promise<string> => {
    const options = { body: body(await guarded()) };
    return `${path}/${text(answered(await bank.request('POST', path, options), 202).json.id)}/approve`;
  };
  const transfer = (from: Account) => transferBody({ from, to, raw: LEAST });
  const payout = (from: Account) => payoutBody({ from });
  const authorised = { from: await account(), to, raw: LEAST, capture: 'manual' };
  const held = `/v1/transfers/${text((await bank.sent(authorised)).id)}`;
  const amount = { raw: LEAST.toString(), asset: 'COPM' };
  const bonus = { source_account: (await account()).id, recipient: { alias }, amount };
  const policy = `/v1/accounts/${(await account()).id}/approval_policies/COPM`;
  const keys = [...REQUESTS, 'second bonus'].map(() => randomUUID());
  return {
    api,
    bank,
    token: await bank.issue(thief),
    accounts,
    keys,
    requests: {
      transfer: ['POST', '/v1/transfers', { body: transfer(await account()) }],
      'approve transfer': ['POST', await pending('/v1/transfers', transfer), {}],
      'capture transfer': ['POST', `${held}/capture`, { body: {} }],
      bonus: ['POST', '/v1/bonuses', { body: bonus }],
      upload: ['POST', '/v1/bonus_batches', { form: form(await account()) }],
      execute: ['POST', `${await ready()}/execute`, {}],
      'cancel batch': ['POST', `${await ready()}/cancel`, {}],
      payout: ['POST', '/v1/payouts', { body: payout(await account()) }],
      'approve payout': ['POST', await pending('/v1/payouts', payout), {}],
      'set policy': ['PUT', policy, { body: { threshold: '1', approvals: 1 } }],
    },
  };
}

type Release = () => Promise<unknown>;
type Hold = (theft: Theft) => Promise<Release>;

const tenantOf = ({ bank }: Theft): string => idLiteral(bank.tenant.tenant.id);

/** Runs statements in a transaction of another session, which is rolled back in the end. */
const holdRows =
  (statements: (theft: Theft) => readonly string[]): Hold =>
  async (theft) => {
    const other = await createConnection({ uri: db.adminUrl, database: db.name });
    await other.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    await other.query('START TRANSACTION');
    for (const statement of statements(theft)) await other.query(statement);
    return () => other.query('ROLLBACK').then(() => other.end());
  };

const insertKey = (theft: Theft, key: string): readonly string[] => [
  `CREATE TEMPORARY TABLE other SELECT * FROM idempotency_keys WHERE tenant_id=${tenantOf(theft)} LIMIT 1`,
  `UPDATE other SET idempotency_key='${key}'`,
  'INSERT INTO idempotency_keys SELECT * FROM other',
  'DROP TEMPORARY TABLE other',
];

/** The API has one connection for reads, which the server frees from a statement of more than 4 s. */
async function holdReads({ api, bank }: Theft): Promise<Release> {
  const owner = { tenantId: bank.tenant.tenant.id, deadline: Deadline.afterMs(HELD_MS) };
  const reader = api.core.database.readerFor(owner);
  const lock = `'reads of ${owner.tenantId.slice(0, 18)}'`;
  const other = await createConnection({ uri: db.adminUrl, database: db.name });
  await other.query(`SELECT GET_LOCK(${lock}, 0)`);
  const read = (): Promise<unknown> =>
    reader.query(`SELECT SLEEP(IF(IS_FREE_LOCK(${lock}), 0, ${READ_S}))`);
  const reads = Promise.all(Array.from({ length: HELD_MS / 1_000 / READ_S }, read));
  return async () => {
    await other.end();
    await reads;
  };
}

const HELD_MS = 120_000;
const READ_S = 3;

function makeGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

async function holdTransactions({ api }: Theft): Promise<Release> {
  const { database } = api.core;
  const gate = makeGate();
  const held = Array.from({ length: 16 }, () =>
    database.withPosting(() => gate.opened).catch(() => undefined),
  );
  const areHeld = () => {
    const { used, limit } = database.poolUse().get('transactions')!;
    return used === limit;
  };
  await until('every connection is held', areHeld);
  return () => (gate.open(), Promise.all(held));
}

/** Keeps both groups of the writer busy, so that commands wait in its queue. */
async function holdGroups({ api }: Theft): Promise<Release> {
  const gate = makeGate();
  const bank = await openBank(api);
  const [from, to] = [await bank.account(), await bank.account()];
  let began = makeGate();
  const slow: typeof testKind = {
    ...testKind,
    accounts: (...args) => {
      began.open();
      return gate.opened.then(() => testKind.accounts(...args));
    },
  };
  for (let group = 0; group < 2; group += 1) {
    began = makeGate();
    void api.core.writer.submit(slow, move({ from, to, raw: 1n }));
    await began.opened;
  }
  return async () => gate.open();
}

/** How many requests have begun to read, to change something in a transaction, and to wait for the ledger. */
interface Reached {
  readonly reads: number;
  readonly transactions: number;
  readonly commands: number;
}

/** Counts the requests by their deadlines, because each has its own. */
function watch({ core: { database, writer } }: TestApi): () => Reached {
  const [reads, transactions, commands] = [0, 1, 2].map(() => new Set<unknown>()) as [
    Set<unknown>,
    Set<unknown>,
    Set<unknown>,
  ];
  const readerFor = database.readerFor.bind(database);
  const withTransaction = database.withTransaction.bind(database);
  const submit = writer.submit.bind(writer);
  database.readerFor = (owner) => {
    reads.add(owner.deadline ?? owner);
    return readerFor(owner);
  };
  database.withTransaction = (work, deadline, share, ...others) => {
    if (share !== 'postings') transactions.add(deadline ?? work);
    return withTransaction(work, deadline, share, ...others);
  };
  writer.submit = (kind, command, deadline) => {
    commands.add(deadline ?? command);
    return submit(kind, command, deadline);
  };
  return () => ({
    reads: reads.size,
    transactions: [...transactions].filter((one) => !commands.has(one)).length,
    commands: commands.size,
  });
}

const MONEY = REQUESTS.filter((name) => name !== 'set policy');
const KEYED = MONEY.filter((name) => name !== 'cancel batch');
const LEDGER = MONEY.filter((name) => name !== 'upload');

/** Two of them are bonuses. */
const COMMANDS = LEDGER.length + 1;
/** When every request is at the place where it waits, or past it. */
const READING: Reached = { reads: COMMANDS - 1, transactions: 0, commands: 0 };
/** One bonus waits in the budget and the other behind it; an upload and a policy change something too. */
const CHARGING: Reached = { reads: COMMANDS - 1, transactions: 3, commands: COMMANDS - 2 };
const SUBMITTED: Reached = { reads: 0, transactions: 2, commands: COMMANDS };

/** Where requests can wait, which of them do, and when they are there. */
const PLACES: Readonly<
  Record<string, readonly [hold: Hold, waiting: readonly Name[], there?: Reached]>
> = {
  'a connection for reads': [
    holdReads,
    REQUESTS.filter((name) => !['transfer', 'upload', 'set policy'].includes(name)),
    READING,
  ],
  'a connection for transactions': [holdTransactions, REQUESTS, CHARGING],
  'the queue of the ledger': [holdGroups, LEDGER],
  "the budget's row, and behind each other": [
    holdRows((theft) => [
      `INSERT INTO recipient_budgets (name, full_at) VALUES ('tenant/${theft.bank.tenant.tenant.id}', NOW(3))`,
    ]),
    ['bonus'],
    CHARGING,
  ],
  'the accounts': [
    holdRows(({ accounts }) => [
      `SELECT id FROM accounts WHERE id IN (${accounts.map(({ id }) => idLiteral(id)).join()}) FOR UPDATE`,
    ]),
    REQUESTS,
  ],
  'the key': [holdRows((theft) => theft.keys.flatMap((key) => insertKey(theft, key))), KEYED],
  'the counter of events': [
    holdRows((theft) => [
      `SELECT 1 FROM event_counters WHERE tenant_id=${tenantOf(theft)} FOR UPDATE`,
    ]),
    // The others have no event, so they wait only in a group with these.
    ['transfer', 'approve transfer', 'capture transfer', 'payout', 'approve payout'],
  ],
  "the tenant's row": [
    holdRows((theft) => [`SELECT id FROM tenants WHERE id=${tenantOf(theft)} FOR UPDATE`]),
    ['upload'],
  ],
  'the chain of the audit log': [
    holdRows((theft) => [
      `SELECT 1 FROM audit_chains WHERE chain_id=${tenantOf(theft)} FOR UPDATE`,
    ]),
    ['approve transfer', 'cancel batch', 'approve payout', 'set policy'],
  ],
};

/** Everything that a request of the tenant could have changed. */
async function stateOf(theft: Theft): Promise<unknown> {
  const tenant = tenantOf(theft);
  const own = `account_id IN (SELECT id FROM accounts WHERE tenant_id=${tenant})`;
  return Promise.all(
    [
      ...['transfers', 'payouts', 'batches'].map(
        (table) =>
          `SELECT status, COUNT(*) AS n FROM ${table} WHERE tenant_id=${tenant} GROUP BY status`,
      ),
      ...['bonuses', 'idempotency_keys', 'audit_log', 'events'].map(
        (table) => `SELECT COUNT(*) AS n FROM ${table} WHERE tenant_id=${tenant}`,
      ),
      `SELECT COUNT(*) AS n FROM entries WHERE ${own}`,
      `SELECT COUNT(*) AS n FROM approval_policies WHERE ${own}`,
    ].map((sql) => db.sql(sql)),
  );
}

/** Returns the requests' statuses, and the tenant's state 5 s after the revocation and once nothing waits. */
async function steal(hold: Hold, there = SUBMITTED) {
  const api = await startTestApi(db, { COMMAND_TIMEOUT_MS: '4000', MYSQL_READ_CONNECTIONS: '1' });
  const theft = await prepare(api);
  const release = await hold(theft);
  const reached = watch(api);
  const answers = Promise.all(
    REQUESTS.flatMap((name, index) => {
      const [method, path, options] = theft.requests[name];
      const key = method === 'POST' ? theft.keys[index]! : null;
      // Two bonuses, of which one waits behind the other.
      const requests = name === 'bonus' ? [key, theft.keys.at(-1)!] : [key];
      return requests.map(async (own) => {
        const sent = { ...options, token: theft.token, key: own };
        return { name, status: (await api.request(method, path, sent)).status };
      });
    }),
  );
  await until('every request is at its place', () => {
    const now = reached();
    return (Object.keys(there) as (keyof Reached)[]).every((stage) => now[stage] >= there[stage]);
  });
  // Not by the command, which would wait for the audit log.
  await db.change(`UPDATE tokens SET revoked_at=NOW(3) WHERE key_id='${keyIdOf(theft.token)!}'`);
  await sleep(5_000);
  const before = await stateOf(theft);
  await release();
  const statuses = await answers;
  await api.core.writer.idle();
  await sleep(1_000);
  return { statuses, before, after: await stateOf(theft) };
}

describe('a token that is revoked while its requests wait', () => {
  const thefts = new Map<string, ReturnType<typeof steal>>();

  before(() => {
    for (const [place, [hold, , there]] of Object.entries(PLACES))
      thefts.set(place, steal(hold, there));
  });

  for (const [place, [, waiting]] of Object.entries(PLACES))
    it(`for ${place} changes nothing later than 5 s after`, async () => {
      const { statuses, before: early, after: late } = (await thefts.get(place))!;
      assert.deepEqual(late, early);
      for (const { name, status } of statuses) {
        assert.notEqual(status, 401, `${name} came too late`);
        if (waiting.includes(name)) assert.equal(status, 503, `${name} did not wait`);
      }
    });

  after(() => assertLedgerSound(db.database));
});
