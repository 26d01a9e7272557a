import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import type { Transaction } from '../../src/db/database.js';
import { RequestLog, type RequestOutcome } from '../../src/requests/log.js';

const TENANT = newId();

/** A log whose database is there or not, with what it has been given. */
function openLog(): {
  log: RequestLog;
  statements: string[];
  state: { isAway: boolean; nowMs: number };
  forgotten: number[];
} {
  const statements: string[] = [];
  const forgotten: number[] = [];
  const state = { isAway: false, nowMs: 1 };
  const transaction = {
    execute: (sql: string) => {
      statements.push(sql);
      return Promise.resolve(1);
    },
  } as unknown as Transaction;
  const database = {
    withTransaction: <T>(work: (own: Transaction) => Promise<T>): Promise<T> =>
      state.isAway ? Promise.reject(new Error('away')) : work(transaction),
  };
  const log = new RequestLog(
    database,
    { dropped: (count) => forgotten.push(count) },
    () => state.nowMs,
  );
  return { log, statements, state, forgotten };
}

function refused(changes: Partial<RequestOutcome> = {}): RequestOutcome {
  return {
    ...{
      id: newId(),
      caller: { tenantId: TENANT, memberId: newId() },
      operation: 'createTransfer',
      method: 'POST',
    },
    ...{ path: '/v1/transfers', status: 422, code: 'below_minimum', resourceId: null },
    ...changes,
  };
}

describe('the request log', () => {
  const isRemembered = async (changes: Partial<RequestOutcome>): Promise<boolean> => {
    const { log, statements } = openLog();
    log.record(refused(changes));
    await log.write();
    return statements.length === 1;
  };

  it('stores requests that write, and requests that failed because of an internal error', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      for (const status of [200, 201, 204, 400, 401, 403, 404, 409, 422, 500, 503])
        assert(
          await isRemembered({ method, status, ...(status < 400 ? { code: null } : {}) }),
          `${method} ${status}`,
        );
    assert(await isRemembered({ method: 'GET', status: 503, code: 'ledger_unavailable' }));
    for (const status of [200, 400, 404]) assert(!(await isRemembered({ method: 'GET', status })));
  });

  it('stores neither rate-limited requests nor requests whose id a resource has', async () => {
    assert(!(await isRemembered({ status: 429 })));
    const id = newId();
    assert(!(await isRemembered({ id, resourceId: id, status: 201, code: null })));
  });

  it('waits while the database is away, and keeps its newest requests, and no request fails', async () => {
    const { log, statements, state, forgotten } = openLog();
    state.isAway = true;
    for (let tenant = 0; tenant < 2; tenant += 1) {
      const caller = { tenantId: newId(), memberId: newId() };
      for (let index = 0; index < 5_500; index += 1) log.record(refused({ caller }));
      await log.write();
    }
    assert.equal(forgotten.length, 1_000);
    state.isAway = false;
    await log.write();
    assert.equal(statements.length, 20);
  });

  it('keeps at most six thousand requests of a tenant in ten minutes, however many are refused', async () => {
    const { log, statements, state, forgotten } = openLog();
    const other = { caller: { tenantId: newId(), memberId: newId() } };
    for (let index = 0; index < 6_001; index += 1) log.record(refused());
    log.record(refused(other));
    await log.write();
    assert.deepEqual([forgotten.length, statements.join().split("'POST'").length - 1], [1, 6_001]);
    state.nowMs += 600_001;
    log.record(refused());
    await log.write();
    assert.equal(forgotten.length, 1);
  });
});
