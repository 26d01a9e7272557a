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
  /** The keys of the requests. */
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
  const keys = REQUESTS.map(() => randomUUID());
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
  const owner = { tenantId: bank.tenant.tenant.id, deadline: Deadline.afterMs(60_000) };
  const reader = api.core.database.readerFor(owner);
  const reading = Promise.all([1, 2].map(() => reader.query('SELECT SLEEP(3)')));
  return () => reading;
}

function makeGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

async function holdTransactions({ api }: Theft): Promise<Release> {
  const gate = makeGate();
  const held = Array.from({ length: 16 }, () =>
    api.core.database.withPosting(() => gate.opened).catch(() => undefined),
  );
  return () => (gate.open(), Promise.all(held));
}

/** Keeps both groups of the writer busy, so that commands wait in its queue. */
async function holdGroups({ api }: Theft): Promise<Release> {
  const gate = makeGate();
  const bank = await openBank(api);
  const [from, to] = [await bank.account(), await bank.account()];
  const slow: typeof testKind = {
    ...testKind,
    accounts: (...args) => gate.opened.then(() => testKind.accounts(...args)),
  };
  for (let group = 0; group < 2; group += 1) {
    void api.core.writer.submit(slow, move({ from, to, raw: 1n }));
    await sleep(50);
  }
  return async () => gate.open();
}

const MONEY = REQUESTS.filter((name) => name !== 'set policy');
const KEYED = MONEY.filter((name) => name !== 'cancel batch');
const LEDGER = MONEY.filter((name) => name !== 'upload');

/** Where requests can wait, and which of them do. */
const PLACES: Readonly<Record<string, readonly [hold: Hold, waiting: readonly Name[]]>> = {
  'a connection for reads': [
    holdReads,
    REQUESTS.filter((name) => !['transfer', 'upload', 'set policy'].includes(name)),
  ],
  'a connection for transactions': [holdTransactions, REQUESTS],
  'the queue of the ledger': [holdGroups, LEDGER],
  "the budget's row, and behind each other": [
    holdRows((theft) => [
      `INSERT INTO recipient_budgets (name, full_at) VALUES ('tenant/${theft.bank.tenant.tenant.id}', NOW(3))`,
    ]),
    ['bonus'],
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
    LEDGER,
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

/** Returns the requests that were refused, and the tenant's state 5 s after the revocation and once nothing waits. */
async function steal(hold: Hold) {
  const api = await startTestApi(db, { COMMAND_TIMEOUT_MS: '4000', MYSQL_READ_CONNECTIONS: '1' });
  const theft = await prepare(api);
  const release = await hold(theft);
  const answers = Promise.all(
    REQUESTS.flatMap((name, index) => {
      const [method, path, options] = theft.requests[name];
      const key = method === 'POST' ? theft.keys[index]! : null;
      // Two bonuses, of which one waits behind the other.
      const requests = name === 'bonus' ? [key, randomUUID()] : [key];
      return requests.map(async (own) => {
        const { status } = await api.request(method, path, {
          ...options,
          token: theft.token,
          key: own,
        });
        return status === 503 || status === 401 ? name : null;
      });
    }),
  );
  // Once a request with the token is answered, it is authenticated in all others.
  answered(
    await api.request('GET', '/v1/events?unknown=1', { token: theft.token }),
    400,
    'invalid_field',
  );
  // Not by the command, which would wait for the audit log.
  await db.change(`UPDATE tokens SET revoked_at=NOW(3) WHERE key_id='${keyIdOf(theft.token)!}'`);
  await sleep(5_000);
  const before = await stateOf(theft);
  await release();
  const refused = new Set((await answers).filter((name) => name !== null));
  await api.core.writer.idle();
  await sleep(1_000);
  return {
    refused: [...refused],
    before,
    after: await stateOf(theft),
  };
}

describe('a token that is revoked while its requests wait', () => {
  const thefts = new Map<string, ReturnType<typeof steal>>();

  before(() => {
    for (const [place, [hold]] of Object.entries(PLACES)) thefts.set(place, steal(hold));
  });

  for (const [place, [, waiting]] of Object.entries(PLACES))
    it(`for ${place} changes nothing later than 5 s after`, async () => {
      const { refused, before: early, after: late } = (await thefts.get(place))!;
      assert.deepEqual(late, early);
      for (const name of waiting) assert(refused.includes(name), `${name} did not wait`);
    });

  after(() => assertLedgerSound(db.database));
});
