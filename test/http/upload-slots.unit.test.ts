import assert from 'node:assert/strict';
import { ApiError } from '../../src/core/errors.js';
import { type UploadSlot, UploadSlots } from '../../src/http/upload-slots.js';

const KIB = 1024;

describe('the slots of uploads', () => {
  let now: number;
  let slots: UploadSlots;

  beforeEach(() => {
    now = 0;
    slots = new UploadSlots(() => now, 0);
  });

  const take = (tenant: string, count: number): Promise<UploadSlot[]> =>
    Promise.all(Array.from({ length: count }, () => slots.take(tenant)));
  const fourOfEach = async (...tenants: readonly string[]): Promise<UploadSlot[]> =>
    (await Promise.all(tenants.map((tenant) => take(tenant, 4)))).flat();
  const isFull = async (tenant: string): Promise<boolean> => {
    try {
      await slots.take(tenant);
      return false;
    } catch (failure) {
      assert(failure instanceof ApiError && failure.refusal.code === 'rate_limited');
      return true;
    }
  };
  const lost = (all: readonly UploadSlot[]): number[] =>
    all.flatMap((slot, at) => (slot.lost.aborted ? [at] : []));

  it('uploads wait for slots in order of arrival, and none waits for a tenant that has reached its own limit', async () => {
    slots = new UploadSlots(() => now, 60_000);
    const own = await take('a', 4);
    const admitted: string[] = [];
    const waiting = ['first', 'second'].map(async (which) => {
      const slot = await slots.take('a');
      admitted.push(which);
      return slot;
    });
    (await slots.take('b')).leave();
    assert.deepEqual(admitted, []);
    own[0]!.leave();
    (await waiting[0]!).leave();
    await waiting[1];
    assert.deepEqual(admitted, ['first', 'second']);
  });

  it('when all slots are taken, a new upload gets the slowest slot of a tenant that has at least two more', async () => {
    const all = await fourOfEach('a', 'b', 'c', 'd');
    now = 1_000;
    for (const [at, slot] of all.entries()) slot.received((at === 9 ? 100 : 900) * KIB);
    assert.equal(await isFull('honest'), false);
    assert.deepEqual(lost(all), [9]);
    for (const _ of [2, 3]) assert.equal(await isFull('honest'), false);
    assert.equal(lost(all).length, 3);
    assert.equal(await isFull('honest'), true, 'nobody has two more than its three');
  });

  it('an upload slower than 64 KiB/s loses its slot to a waiting upload, but not in its first two seconds', async () => {
    const all = await Promise.all(
      Array.from({ length: 16 }, (_, at) => slots.take(`tenant ${at}`)),
    );
    now = 1_900;
    assert.equal(await isFull('honest'), true);
    now = 10_000;
    for (const [at, slot] of all.entries()) slot.received((at === 5 ? 639 : 641) * KIB);
    assert.equal(await isFull('honest'), false);
    assert.deepEqual(lost(all), [5]);
    assert.equal(await isFull('other'), true);
  });

  it('an upload that has arrived no longer loses its slot', async () => {
    const all = await fourOfEach('a', 'b', 'c', 'd');
    for (const slot of all) slot.arrived();
    now = 60_000;
    assert.equal(await isFull('honest'), true);
    all[0]!.leave();
    assert.equal(await isFull('honest'), false);
  });
});
