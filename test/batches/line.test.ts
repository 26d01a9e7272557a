import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { outbox } from '../../src/db/entities/outbox.js';
import type { Account } from '../../src/db/entities/parties.js';
import { testDatabase } from '../helpers/database.js';
import { LEAST } from '../helpers/bank.js';
import { BatchWorld, payroll, UNWATCHED } from './support.js';

const FILE = payroll([['$nobody', LEAST.toString(), 'COPM']]);

const db = await testDatabase();

describe('the line of files that wait to be validated', () => {
  let world: BatchWorld;
  let source: Account;

  beforeEach(async () => {
    world = await BatchWorld.open(db);
    source = await world.account();
  });

  const upload = async (count: number, to = world, from = source): Promise<Uuid[]> => {
    const ids: Uuid[] = [];
    for (let sent = 0; sent < count; sent += 1) ids.push((await to.uploaded(from, FILE)).id);
    return ids;
  };
  /** Of these the ones that the relay will hear of. */
  const told = async (ids: readonly Uuid[]): Promise<Uuid[]> => {
    const entries = await db.database.reader.select(outbox, { resourceId: ids });
    return ids.filter((id) => entries.some(({ resourceId }) => resourceId === id));
  };

  it('the line of files that wait to be validated has the first two begin, and each of the others when one has ended', async () => {
    const ids = await upload(4);
    assert.deepEqual(await told(ids), ids.slice(0, 2));
    await world.validate(ids[1]!);
    assert.deepEqual(await told(ids), ids.slice(0, 3));
    await world.validate(ids[0]!);
    assert.deepEqual(await told(ids), ids);
    for (const at of [2, 3]) await world.validate(ids[at]!);
    const next = await upload(1);
    assert.deepEqual(await told(next), next);
  });

  it("the line of files that wait to be validated never delays another tenant's file", async () => {
    await upload(6);
    const other = await BatchWorld.open(db);
    const ids = await upload(1, other, await other.account());
    assert.deepEqual(await told(ids), ids);
  });

  it('the line of files that wait to be validated goes on at once when a file that fails again and again leaves it', async () => {
    const ids = await upload(4);
    const cutOff = { ...UNWATCHED, signal: AbortSignal.abort(new Error('the worker is gone')) };
    for (let run = 0; run < 5; run += 1) {
      assert.deepEqual(await told(ids), ids.slice(0, 2));
      await assert.rejects(world.validate(ids[0]!, cutOff), /gone/);
    }
    assert.deepEqual(await told(ids), ids.slice(0, 3));
    await world.validate(ids[1]!);
    assert.deepEqual(await told(ids), ids);
    for (const at of [0, 2, 3]) await world.validate(ids[at]!);
  });
});
