import assert from 'node:assert/strict';
import { ApiError } from '../../src/core/errors.js';
import { type UploadPlace, UploadPlaces } from '../../src/http/upload-places.js';

const KIB = 1024;

describe('the places of uploads', () => {
  let now: number;
  let places: UploadPlaces;

  beforeEach(() => {
    now = 0;
    places = new UploadPlaces(() => now, 0);
  });

  const take = (tenant: string, count: number): Promise<UploadPlace[]> =>
    Promise.all(Array.from({ length: count }, () => places.take(tenant)));
  const fourOfEach = async (...tenants: readonly string[]): Promise<UploadPlace[]> =>
    (await Promise.all(tenants.map((tenant) => take(tenant, 4)))).flat();
  const isFull = async (tenant: string): Promise<boolean> => {
    try {
      await places.take(tenant);
      return false;
    } catch (failure) {
      assert(failure instanceof ApiError && failure.refusal.code === 'rate_limited');
      return true;
    }
  };
  const lost = (all: readonly UploadPlace[]): number[] =>
    all.flatMap((place, at) => (place.lost.aborted ? [at] : []));

  it('the places of uploads are sixteen, and four of a tenant', async () => {
    const own = await take('a', 4);
    assert.equal(await isFull('a'), true);
    own[0]!.leave();
    assert.equal(await isFull('a'), false);
  });

  it('the places of uploads are waited for in order of arrival, and nobody waits for places that only another tenant may not have', async () => {
    places = new UploadPlaces(() => now, 60_000);
    const own = await take('a', 4);
    const admitted: string[] = [];
    const waiting = ['first', 'second'].map(async (which) => {
      const place = await places.take('a');
      admitted.push(which);
      return place;
    });
    (await places.take('b')).leave();
    assert.deepEqual(admitted, []);
    own[0]!.leave();
    (await waiting[0]!).leave();
    await waiting[1];
    assert.deepEqual(admitted, ['first', 'second']);
  });

  it('a newcomer who waits gets the place of an upload that has become slow meanwhile', async () => {
    places = new UploadPlaces(() => now, 60_000);
    const all = await Promise.all(
      Array.from({ length: 16 }, (_, at) => places.take(`tenant ${at}`)),
    );
    const waiting = places.take('honest');
    now = 10_000;
    await waiting;
    assert.equal(lost(all).length, 1);
  });

  it('when all places are taken, a new upload gets the slowest place of a tenant that has at least two more', async () => {
    const all = await fourOfEach('a', 'b', 'c', 'd');
    now = 1_000;
    for (const [at, place] of all.entries()) place.received((at === 9 ? 100 : 900) * KIB);
    assert.equal(await isFull('honest'), false);
    assert.deepEqual(lost(all), [9]);
    for (const _ of [2, 3]) assert.equal(await isFull('honest'), false);
    assert.equal(lost(all).length, 3);
    assert.equal(await isFull('honest'), true, 'nobody has two more than its three');
  });

  it('an upload below 64 KiB/s loses its place to a newcomer, but not in the first two seconds', async () => {
    const all = await Promise.all(
      Array.from({ length: 16 }, (_, at) => places.take(`tenant ${at}`)),
    );
    now = 1_900;
    assert.equal(await isFull('honest'), true);
    now = 10_000;
    for (const [at, place] of all.entries()) place.received((at === 5 ? 639 : 641) * KIB);
    assert.equal(await isFull('honest'), false);
    assert.deepEqual(lost(all), [5]);
    assert.equal(await isFull('other'), true);
  });

  it('an upload that has arrived no longer loses its place', async () => {
    const all = await fourOfEach('a', 'b', 'c', 'd');
    for (const place of all) place.arrived();
    now = 60_000;
    assert.equal(await isFull('honest'), true);
    all[0]!.leave();
    assert.equal(await isFull('honest'), false);
  });

  it('a lost place is released once', async () => {
    const all = await fourOfEach('a', 'b', 'c', 'd');
    assert.equal(await isFull('honest'), false);
    for (const at of lost(all)) all[at]!.leave();
    now = 1_000;
    for (const place of all) place.arrived();
    assert.equal(await isFull('other'), true);
  });
});
