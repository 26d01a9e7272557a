import assert from 'node:assert/strict';
import { createConnection } from 'mysql2/promise';
import { transfers } from '../../src/db/entities/operations.js';
import type { Account } from '../../src/db/entities/parties.js';
import { insertRow, refuse, rowKey } from '../../src/ledger/writer/types.js';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral, text } from '../helpers/bank.js';
import { ownDatabase, untilLockIsAwaited } from '../helpers/database.js';
import { openGuarded } from '../helpers/guarded.js';
import { move, SHORT_OF_FUNDS, testKind } from '../helpers/kinds.js';
import {
  assertLedgerSound,
  balanceOf,
  makeAccount,
  makeTenant,
  openWriter,
  type TestTenant,
} from '../helpers/world.js';

/** The statements of a group in their order, which go with COMMIT in one text. */
const PLACES = [
  ['idempotency_keys', 'INSERT'],
  ['ledger_transactions', 'INSERT'],
  ['entries', 'INSERT'],
  ['balances', 'INSERT'],
  ['month_totals', 'INSERT'],
  ['transfers', 'INSERT'],
  ['events', 'INSERT'],
  ['event_counters', 'INSERT'],
  ['event_heads', 'INSERT'],
] as const;
/** Errors: one about the content of a row, and an unexpected one. */
const ERRORS = [1062, 1644] as const;
const COMMANDS = 3;

const db = await ownDatabase('endings');

describe('a group with a failing statement', () => {
  let tenant: TestTenant;
  let payer: Account;
  let receiver: Account;

  beforeEach(async () => {
    const deps = { database: db.database, writer: openWriter(db.database).writer };
    tenant = await makeTenant(db.database);
    payer = await makeAccount(deps, tenant, { funds: { COPM: 1_000n } });
    receiver = await makeAccount(deps, tenant);
    await deps.writer.submit(testKind, move({ from: payer, to: receiver, raw: 1n }));
  });

  const failing = async <T>(
    table: string,
    event: string,
    errno: number,
    work: () => Promise<T>,
  ): Promise<T> => {
    await db.sql(
      `CREATE TRIGGER fails BEFORE ${event} ON ${table} FOR EACH ROW
       SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO=${errno}, MESSAGE_TEXT='a test'`,
    );
    try {
      return await work();
    } finally {
      await db.sql('DROP TRIGGER fails');
    }
  };

  for (const [table, event] of PLACES)
    for (const errno of ERRORS)
      it(`a group of which a statement fails at ${table}, with ${errno}, has stored nothing, is not reported as done, and leaves the keys free`, async () => {
        const { writer, seen } = openWriter(db.database);
        const commands = Array.from({ length: COMMANDS }, () =>
          move({ from: payer, to: receiver, raw: 1n }),
        );
        const answers = await failing(table, event, errno, async () => {
          const all = await writer.submitTogether(testKind, commands);
          await writer.idle();
          return all;
        });
        for (const { outcome } of answers)
          assert(!outcome.done && outcome.refusal.code === 'ledger_unavailable');
        // The server said at which statement it ended, so the writer does not look up what became of COMMIT.
        assert.equal(seen.unknown, 0);
        await assertLedgerSound(db.database);
        assert.equal((await balanceOf(db.database, receiver.id)).available, 1n);
        const { writer: patient } = openWriter(db.database);
        for (const { outcome, replayed } of await patient.submitTogether(testKind, commands))
          assert(outcome.done && !replayed);
        assert.equal((await balanceOf(db.database, receiver.id)).available, 1n + BigInt(COMMANDS));
      });

  it('a group of which a statement fails for a tenant without an event counter has stored nothing either, despite an earlier counter in the session', async () => {
    const { writer, retries } = openWriter(db.database, { commandTimeoutMs: 400 });
    const command = move({ from: payer, to: receiver, raw: 1n });
    const own = `tenant_id=${idLiteral(tenant.tenant.id)}`;
    await db.sql(`CREATE TABLE kept_counter AS SELECT * FROM event_counters WHERE ${own}`);
    await db.sql(`DELETE FROM event_counters WHERE ${own}`);
    const { outcome } = await writer.submit(testKind, command);
    await db.sql('INSERT INTO event_counters SELECT * FROM kept_counter');
    await db.sql('DROP TABLE kept_counter');
    assert(!outcome.done && outcome.refusal.code === 'ledger_unavailable');
    assert.equal(retries.data_fault, 1);
    assert((await openWriter(db.database).writer.submit(testKind, command)).outcome.done);
  });

  it('a command whose unique value another session takes after the rows were read is decided again, and refused', async () => {
    const { writer } = openWriter(db.database);
    const { outcome: first } = await writer.submit(
      testKind,
      move({ from: payer, to: receiver, raw: 1n }),
    );
    assert(first.done);
    const { id } = first.resource;
    const own = `id=${idLiteral(id)}`;
    await db.sql(`CREATE TABLE taken AS SELECT * FROM transfers WHERE ${own}`);
    await db.sql(`DELETE FROM transfers WHERE ${own}`);
    const command = move({
      from: payer,
      to: receiver,
      raw: 1n,
      spoil: (decision, transfer, state) =>
        state.row(transfers, { id }) === undefined
          ? { ...decision, writes: { rows: [insertRow(transfers, { ...transfer, id })] } }
          : { ...refuse(SHORT_OF_FUNDS), bindsKey: true },
    });
    const other = await createConnection({ uri: db.adminUrl, database: db.name });
    await other.query('START TRANSACTION');
    await other.query('INSERT INTO transfers SELECT * FROM taken');
    const keysToRead = [...command.keysToRead, rowKey(transfers, { id })];
    const submitted = writer.submit(testKind, { ...command, keysToRead });
    await untilLockIsAwaited(db);
    await other.query('COMMIT');
    await other.end();
    await db.sql('DROP TABLE taken');
    const { outcome } = await submitted;
    assert(!outcome.done && outcome.refusal.code === 'insufficient_funds');
    await assertLedgerSound(db.database);
  });

  for (const [table, event] of [
    ['events', 'INSERT'],
    ['audit_log', 'INSERT'],
    ['audit_chains', 'UPDATE'],
  ] as const)
    for (const errno of ERRORS)
      it(`a group of which a statement fails at ${table}, of ${errno}, with an action for the audit log: an approval is 503, and its key is free`, async () => {
        const api = await startTestApi(db);
        const guarded = await openGuarded(api);
        const { id } = await guarded.createPending();
        const path = `/v1/transfers/${text(id)}/approve`;
        const key = text(id);
        const approve = (): ReturnType<TestRequest> =>
          api.request('POST', path, { token: guarded.tokens.approver, key });
        answered(await failing(table, event, errno, approve), 503, 'ledger_unavailable');
        await assertLedgerSound(db.database);
        assert.equal(answered(await approve(), 200).json.status, 'completed');
        await api.stop();
      });
});

type TestRequest = Awaited<ReturnType<typeof startTestApi>>['request'];
