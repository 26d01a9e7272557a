import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import type { Transaction } from '../../src/db/database.js';
import { members } from '../../src/db/entities/parties.js';
import { DatabaseUnavailable, isUncommitted } from '../../src/db/failures.js';
import { insertSql } from '../../src/db/statements.js';
import { openDatabase, testDatabase } from '../helpers/database.js';

/**
 * Errors of a server that is not the primary any more. After one of the first list nothing has happened, also at COMMIT,
 * because the server checks first. The others may follow a COMMIT that the group has taken.
 */
const REFUSED_BEFORE_EXECUTION = [1290, 1792, 1836, 3796, 3797, 3798];
const UNKNOWN_AT_COMMIT = [1180, 3032, 3100, 3101, 3781, 3782, 3783, 3799, 4094, 6400];

const db = await testDatabase();

describe('a server that is no longer the primary', () => {
  const told: string[] = [];

  const open = () =>
    openDatabase(db.url, {
      observer: {
        found: () => told.push('found'),
        lost: () => told.push('lost'),
        refused: () => told.push('refused'),
      },
    });

  const fail = (errno: number): string =>
    `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO=${errno}, MESSAGE_TEXT='a test'`;

  /** A transaction that has written, and then meets the error by `then`. */
  async function failing(
    then: (transaction: Transaction) => Promise<unknown>,
  ): Promise<readonly [unknown, boolean]> {
    told.length = 0;
    const database = open();
    const row = { id: newId(), tenantId: newId(), name: 'somebody', createdAt: instant(0) };
    const failure: unknown = await database
      .withTransaction(async (transaction) => {
        await transaction.execute(insertSql(members, [row]));
        await then(transaction);
      })
      .then(
        () => null,
        (error: unknown) => error,
      );
    await database.reader.query('SELECT 1');
    const isThere = (await database.current.find(members, { id: row.id })) !== undefined;
    await database.close();
    return [failure, isThere];
  }

  for (const errno of [...REFUSED_BEFORE_EXECUTION, ...UNKNOWN_AT_COMMIT]) {
    it(`a former primary that answers ${errno} to a statement is replaced by the new one, and the transaction had no effect`, async () => {
      const [failure, isThere] = await failing((transaction) => transaction.execute(fail(errno)));
      assert(failure instanceof DatabaseUnavailable, String(failure));
      assert.equal(isThere, false);
      assert.deepEqual(told, ['found', 'lost', 'found']);
    });

    it(`a former primary that answers ${errno} to a statement sent with COMMIT is replaced too, and the transaction had no effect`, async () => {
      const [failure, isThere] = await failing(async (transaction) => {
        transaction.withCommit(['DO 1', fail(errno)]);
        return Promise.resolve();
      });
      assert(failure instanceof DatabaseUnavailable, String(failure));
      assert.equal(isThere, false);
      assert.deepEqual(told, ['found', 'lost', 'found']);
    });

    const isUnknown = UNKNOWN_AT_COMMIT.includes(errno);
    // No server answers so to COMMIT when a test asks for it.
    it(`after ${errno} from a former primary to COMMIT ${isUnknown ? 'the outcome is unknown' : 'the transaction is known to be rolled back'}`, () => {
      const answer = Object.assign(new Error('a test'), { errno });
      assert.equal(isUncommitted(answer, 2, 2), !isUnknown);
      assert(isUncommitted(answer, 1, 2));
    });
  }

  it('if the connection to a former primary breaks after a COMMIT was sent, the outcome is unknown', () => {
    assert(
      !isUncommitted(
        Object.assign(new Error('lost'), { fatal: true, code: 'PROTOCOL_CONNECTION_LOST' }),
        0,
        2,
      ),
    );
    assert(
      !isUncommitted(
        Object.assign(new Error('reset'), { fatal: true, code: 'ECONNRESET', errno: -104 }),
        0,
        2,
      ),
    );
  });

  it('a statement that returns rows is never sent in one text with COMMIT, because the number of results shows which statement failed', async () => {
    const [failure] = await failing(async (transaction) => {
      transaction.withCommit(['SELECT 1']);
      return Promise.resolve();
    });
    assert(failure instanceof TypeError, String(failure));
  });
});
