import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { restores } from '../../src/db/entities/restores.js';
import { insertSql } from '../../src/db/statements.js';
import {
  type Checkpoint,
  parseCheckpoint,
  readCheckpoint,
  RollbackGuard,
} from '../../src/restores/checkpoint.js';
import { newRestore, openRestore } from '../../src/restores/begin-restore.js';
import { TemporalClient } from '../../src/temporal/client.js';
import { AUDIT_SCHEDULE_ID } from '../../src/temporal/contracts.js';
import { RowCopier } from '../campaigns/restored-copies.js';
import { SignedInPeople } from '../ops/signed-in.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { type Bank, idLiteral, LEAST, openBank, transferBody } from '../helpers/bank.js';
import { type TestDatabase, testDatabase } from '../helpers/database.js';
import {
  newNamespace,
  serving,
  sharedAddress,
  temporalEnvironment,
  type TestTemporal,
  until,
} from '../helpers/temporal.js';
import { startTestWorker, type TestWorker } from '../helpers/temporal-worker.js';
import { assertLedgerSound } from '../helpers/world.js';

const CLIENTS = 2;
/** Between two requests of a client: without it, clients take the processors from what is tested. */
const PAUSE_MS = 100;
const APIS = 2;

/** The service over a database, and clients that keep sending transfers even if they are refused. */
class BusyService {
  acknowledged = 0;
  refused = 0;
  private isStopped = false;
  private clients: Promise<unknown> = Promise.resolve();
  private apis: readonly TestApi[] = [];
  private worker: TestWorker | undefined;

  private constructor(
    private readonly url: string,
    private readonly temporal: TestTemporal,
    private readonly bank: Bank,
    private readonly accounts: readonly [Account, Account],
  ) {}

  static async start(db: TestDatabase, url = db.url): Promise<BusyService> {
    const setUp = await startTestApi(db);
    const bank = await openBank(setUp);
    const accounts = [
      await bank.account({ funds: { COPM: 1_000_000n * LEAST } }),
      await bank.account(),
    ] as const;
    await setUp.stop();
    const temporal = await newNamespace(sharedAddress(), 'rollback');
    const service = new BusyService(url, temporal, bank, accounts);
    await service.startAll();
    service.clients = Promise.all(
      Array.from({ length: CLIENTS }, (_, index) => service.client(index)),
    );
    return service;
  }

  private async client(index: number): Promise<void> {
    const [from, to] = this.accounts;
    while (!this.isStopped) {
      const options = { token: this.bank.token, body: transferBody({ from, to, raw: LEAST }) };
      const answer = await this.apis[index % APIS]
        ?.request('POST', '/v1/transfers', options)
        .catch(() => null);
      if (answer?.status === 201) this.acknowledged += 1;
      else this.refused += 1;
      await sleep(PAUSE_MS);
    }
  }

  /** Until more has been acknowledged, and the worker has stored a checkpoint of it in Temporal. */
  async goesOn(db: TestDatabase): Promise<void> {
    const before = this.acknowledged;
    await until('transfers are acknowledged', () => this.acknowledged > before + 2 * CLIENTS);
    const [row] = await db.sql('SELECT LOWER(HEX(MAX(id))) AS newest FROM ledger_transactions');
    await until('Temporal has stored a later checkpoint', async () => {
      const [newest = ''] = (await this.stored())?.transactions ?? [];
      return newest.replaceAll('-', '') > String(row?.newest);
    });
  }

  async stored(): Promise<ReturnType<typeof parseCheckpoint>> {
    const { address, namespace } = this.temporal;
    const client = new TemporalClient({ address, namespace, tls: null });
    try {
      return parseCheckpoint(await client.auditCheckpoint().catch(() => null));
    } finally {
      await client.close();
    }
  }

  /** Makes the checks that each API and worker makes every 5 s. */
  async check(): Promise<void> {
    await Promise.all([...this.apis, this.worker!].map(({ core }) => core.rollbackGuard.check()));
  }

  async stopAll(): Promise<void> {
    const { apis, worker } = this;
    [this.apis, this.worker] = [[], undefined];
    await Promise.all([...apis.map((api) => api.stop()), worker?.stop()]);
  }

  async startAll(): Promise<void> {
    const { url, temporal } = this;
    const environment = { ...serving('approvals'), AUDIT_PASS_EVERY_S: '1' };
    this.worker = await startTestWorker({ url }, temporal, { environment });
    const start = (): Promise<TestApi> => startTestApi({ url }, temporalEnvironment(temporal));
    this.apis = await Promise.all(Array.from({ length: APIS }, start));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.clients;
    await this.stopAll();
    // Otherwise it would start an audit every second until the server ends.
    await this.temporal.client.schedule.getHandle(AUDIT_SCHEDULE_ID).delete();
  }
}

/** A consistent copy of a database's tables on the same server, taken while it is in use. */
class Snapshot {
  private constructor(
    private readonly db: TestDatabase,
    private readonly copier: RowCopier,
  ) {}

  static async take(db: TestDatabase): Promise<Snapshot> {
    const copier = new RowCopier(db, db.adminUrl);
    await copier.prepare();
    await copier.moment();
    return new Snapshot(db, copier);
  }

  /** Puts the copies in the tables' places at one moment. Connections and grants stay as they are. */
  async putBack(): Promise<void> {
    const { db } = this;
    const tables = await db.sql(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema='${db.name}'`,
    );
    await db.sql(`CREATE DATABASE ${db.name}_lost`);
    const moves = tables.flatMap(({ name }) => [
      `${db.name}.\`${String(name)}\` TO ${db.name}_lost.\`${String(name)}\``,
      `${db.name}_copy.\`${String(name)}\` TO ${db.name}.\`${String(name)}\``,
    ]);
    await db.sql(`RENAME TABLE ${moves.join(', ')}`);
  }

  async remove(): Promise<void> {
    await this.copier.remove();
    await this.db.sql(`DROP DATABASE IF EXISTS ${this.db.name}_lost`);
  }
}

async function countOf(db: TestDatabase): Promise<number> {
  const [row] = await db.sql('SELECT COUNT(*) AS n FROM ledger_transactions');
  return Number(row?.n);
}

/** Until the ledger is closed, and then until requests are still refused. */
async function assertCloses(service: BusyService, db: TestDatabase): Promise<void> {
  await until('the ledger is closed', () => openRestore(db.database.current), { limitMs: 60_000 });
  const { refused } = service;
  const count = await countOf(db);
  await until('requests are refused', () => service.refused > refused + CLIENTS);
  assert.equal(await countOf(db), count);
}

describe('a ledger that is restored to a snapshot under load', () => {
  let db: TestDatabase;
  let service: BusyService;
  let people: SignedInPeople;

  before(async () => {
    db = await testDatabase();
    people = new SignedInPeople(db);
    await people.signIn('maria', ['manage']);
    await people.signIn('leo', ['manage']);
    service = await BusyService.start(db);
  });
  after(async () => {
    await service.stop();
    people.remove();
    await assertLedgerSound(db.database);
  });

  it('is closed by running processes, even after new postings, and stays open once a restore is finished', async () => {
    await service.goesOn(db);
    const snapshot = await Snapshot.take(db);
    await service.goesOn(db);
    await snapshot.putBack();
    await assertCloses(service, db);
    const reason = ['--reason', 'a test', '--nothing-lost'];
    for (const args of [
      ['begin', ...reason, '--as', 'maria'],
      ['finish', '--as', 'leo'],
    ]) {
      const { code, stderr } = await people.ops('restore', ...args);
      assert.equal(code, 0, stderr);
    }
    await service.goesOn(db);
    await service.check();
    assert.equal(await openRestore(db.database.current), undefined);
    await snapshot.remove();
  });
});

describe('a process that starts', () => {
  let db: TestDatabase;
  let api: TestApi;
  let guards: RollbackGuard[] = [];

  before(async () => {
    db = await testDatabase();
    api = await startTestApi(db);
    const bank = await openBank(api);
    const from = await bank.account({ funds: { COPM: 2n * LEAST } });
    await bank.sent({ from, to: await bank.account(), raw: LEAST });
    // The API's own guard would close the ledger because of what the tests change.
    api.core.rollbackGuard.stop();
    await api.core.rollbackGuard.check();
  });
  beforeEach(() => db.change('DELETE FROM restores'));
  afterEach(() => guards.forEach((guard) => guard.stop()));
  after(async () => {
    await assertLedgerSound(db.database);
  });

  const newGuard = (): RollbackGuard => {
    const guard = new RollbackGuard({
      database: db.database,
      clock: systemClock,
      onRolledBack: () => undefined,
    });
    guards = [...guards, guard];
    return guard;
  };
  const isOpen = async (): Promise<boolean> =>
    (await openRestore(db.database.current)) === undefined;
  /** Returns what a worker would store in Temporal now. */
  const stored = (): Promise<Checkpoint> => readCheckpoint(db.database.current);
  const firstPosting = (guard: RollbackGuard): Promise<void> =>
    db.database.withPosting((transaction) => guard.checkConnection(transaction));

  it('closes the ledger before its first posting if a row that Temporal remembers is missing', async () => {
    const { events, ...rest } = await stored();
    const event = events.find(({ id }) => id !== null);
    assert.ok(event);
    const others = events.filter((one) => one !== event);
    const damaged: readonly Partial<Checkpoint>[] = [
      { transactions: [newId()] },
      { events: [{ ...event, id: newId() }, ...others] },
      {
        events: [
          { ...event, id: null, sequence: (BigInt(event.sequence) + 1n).toString() },
          ...others,
        ],
      },
      { acts: rest.acts.map((act) => ({ ...act, hash: '0'.repeat(64) })) },
      {
        acts: rest.acts.map((act) => ({
          ...act,
          sequence: (BigInt(act.sequence) + 1n).toString(),
        })),
      },
      { restores: [newId()] },
    ];
    for (const change of damaged) {
      const guard = newGuard();
      guard.start(() => Promise.resolve({ ...rest, events, ...change }));
      await firstPosting(guard);
      assert.equal(await isOpen(), false, JSON.stringify(change));
      await db.change('DELETE FROM restores');
    }
  });

  it('keeps the ledger open for another database, after a finished restore, and for events that retention removed', async () => {
    const { firstTenant, ...rest } = await stored();
    const check = async (checkpoint: unknown): Promise<void> => {
      const guard = newGuard();
      guard.start(() => Promise.resolve(checkpoint));
      await firstPosting(guard);
      await guard.check();
      assert.equal(await isOpen(), true);
    };
    await check({ ...rest, firstTenant: newId(), transactions: [newId()] });
    await check({ ...rest, firstTenant, transactions: 'of another release' });
    const finished = { ...newRestore('operator', systemClock()), finishedAt: systemClock() };
    await db.database.withTransaction((transaction) =>
      transaction.execute(insertSql(restores, [finished])),
    );
    await check({ ...rest, firstTenant, transactions: [newId()] });
    const event = rest.events.find(({ id }) => id !== null);
    assert.ok(event);
    const removal = `${idLiteral(event.tenantId)},${event.sequence},UTC_TIMESTAMP(3)`;
    await db.change(
      `INSERT INTO event_removals (tenant_id,removed_through,removed_until) VALUES (${removal})`,
    );
    const removed = { ...event, id: newId() };
    await check({ ...(await stored()), events: [removed] });
    await db.change('DELETE FROM event_removals');
  });

  it('a new process verifies its own earlier postings before its first posting on another connection', async () => {
    const guard = newGuard();
    await guard.check();
    await guard.check();
    assert.equal(await isOpen(), true);
    guard.remember(newId());
    await firstPosting(guard);
    assert.equal(await isOpen(), false);
  });
});
