import { ApiError } from '../core/errors.js';

/** How many uploads a process holds in memory at once, and how many of these one tenant may have. */
const MAX_UPLOADS = 16;
const MAX_UPLOADS_OF_A_TENANT = 4;
/** An upload slower than this loses its place while others wait. A phone on a poor network manages as much. */
const MIN_BYTES_PER_S = 64 * 1024;
/** Nothing counts as slow before this: a connection takes a while to get up to speed. */
const SLOW_AFTER_MS = 2_000;

export interface UploadPlace {
  readonly lost: AbortSignal;
  received(bytes: number): void;
  /** The upload is complete: from now on nobody else gets the place. */
  arrived(): void;
  leave(): void;
}

/**
 * Keeps slow or numerous uploads from using up the memory or all places. While every place is taken, a newcomer takes
 * over the place of an upload that is still being received and is either slow or belongs to a tenant with at least two
 * places more: of these, the slowest.
 */
export class UploadPlaces {
  private readonly places = new Set<Place>();

  /** `elapsed` are milliseconds that never jump. */
  constructor(private readonly elapsed: () => number = () => performance.now()) {}

  /** Throws 429 `rate_limited`. */
  take(tenantId: string): UploadPlace {
    if (this.held(tenantId) >= MAX_UPLOADS_OF_A_TENANT) throw tooMany('too many uploads at once');
    if (this.places.size >= MAX_UPLOADS) this.takeAway(tenantId);
    const place = new Place(tenantId, this.elapsed(), () => this.places.delete(place));
    this.places.add(place);
    return place;
  }

  private held(tenantId: string): number {
    let count = 0;
    for (const place of this.places) if (place.tenantId === tenantId) count += 1;
    return count;
  }

  private takeAway(tenantId: string): void {
    const own = this.held(tenantId);
    const now = this.elapsed();
    let slowest: Place | undefined;
    for (const place of this.places) {
      const isSlow = now - place.began > SLOW_AFTER_MS && place.bytesPerS(now) < MIN_BYTES_PER_S;
      if (!place.isReceiving || !(isSlow || this.held(place.tenantId) > own + 1)) continue;
      if (slowest === undefined || place.bytesPerS(now) < slowest.bytesPerS(now)) slowest = place;
    }
    if (slowest === undefined) throw tooMany('too many uploads at once');
    this.places.delete(slowest);
    slowest.lose();
  }
}

export function placeLost(): ApiError {
  return tooMany('others waited while this upload came in');
}

function tooMany(why: string): ApiError {
  const message = `${why}: send it again when another one has been answered`;
  return new ApiError({ code: 'rate_limited', message }, { 'Retry-After': '1' });
}

class Place implements UploadPlace {
  isReceiving = true;
  private bytes = 0;
  private readonly losing = new AbortController();

  constructor(
    readonly tenantId: string,
    readonly began: number,
    readonly leave: () => void,
  ) {}

  get lost(): AbortSignal {
    return this.losing.signal;
  }

  received(bytes: number): void {
    this.bytes += bytes;
  }

  arrived(): void {
    this.isReceiving = false;
  }

  lose(): void {
    this.losing.abort();
  }

  bytesPerS(now: number): number {
    return (this.bytes * 1_000) / Math.max(1, now - this.began);
  }
}
