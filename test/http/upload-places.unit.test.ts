import assert from 'node:assert/strict';
import { ApiError } from '../../src/core/errors.js';
import { type UploadPlace, UploadPlaces } from '../../src/http/upload-places.js';

const KIB = 1024;

describe('the places of uploads', () => {
  let now: number;
  let places: UploadPlaces;

  beforeEach(() => {
    now = 0;
    places = new UploadPlaces(() => now);
  });

  const take = (tenant: string, count: number): UploadPlace[] =>
    Array.from({ length: count }, () => places.take(tenant));
  const isFull = (tenant: string): boolean => {
    try {
      places.take(tenant);
      return false;
    } catch (failure) {
      assert(failure instanceof ApiError && failure.refusal.code === 'rate_limited');
      return true;
    }
  };
  const lost = (all: readonly UploadPlace[]): number[] => all.flatMap((place, at) => (place.lost.aborted ? [at] : []));

  it('are sixteen, and four of a tenant', () => {
    const own = take('a', 4);
    assert.equal(isFull('a'), true);
    own[0]!.leave();
    assert.equal(isFull('a'), false);
  });

  it('when all are taken, a newcomer gets the slowest place of a tenant that has at least two more', () => {
    const all = ['a', 'b', 'c', 'd'].flatMap((tenant) => take(tenant, 4));
    now = 1_000;
    for (const [at, place] of all.entries()) place.received((at === 9 ? 100 : 900) * KIB);
    assert.equal(isFull('honest'), false);
    assert.deepEqual(lost(all), [9]);
    for (const _ of [2, 3]) assert.equal(isFull('honest'), false);
    assert.equal(lost(all).length, 3);
    assert.equal(isFull('honest'), true, 'nobody has two more than its three');
  });

  it('an upload below 64 KiB/s loses its place to a newcomer, but not in the first two seconds', () => {
    const all = Array.from({ length: 16 }, (_, at) => places.take(`tenant ${at}`));
    now = 1_900;
    assert.equal(isFull('honest'), true);
    now = 10_000;
    for (const [at, place] of all.entries()) place.received((at === 5 ? 639 : 641) * KIB);
    assert.equal(isFull('honest'), false);
    assert.deepEqual(lost(all), [5]);
    assert.equal(isFull('other'), true);
  });

  it('what has arrived loses its place no more', () => {
    const all = ['a', 'b', 'c', 'd'].flatMap((tenant) => take(tenant, 4));
    for (const place of all) place.arrived();
    now = 60_000;
    assert.equal(isFull('honest'), true);
    all[0]!.leave();
    assert.equal(isFull('honest'), false);
  });

  it('a lost place is released once', () => {
    const all = ['a', 'b', 'c', 'd'].flatMap((tenant) => take(tenant, 4));
    assert.equal(isFull('honest'), false);
    for (const at of lost(all)) all[at]!.leave();
    now = 1_000;
    for (const place of all) place.arrived();
    assert.equal(isFull('other'), true);
  });
});
