import { ApiError } from '../core/errors.js';

/** How many uploads a process holds in memory at once, in total and per tenant. */
const MAX_UPLOADS = 16;
const MAX_UPLOADS_OF_A_TENANT = 4;
/**
 * An upload slower than this loses its place while other uploads wait. A phone on a poor network is
 * faster.
 */
const MIN_BYTES_PER_S = 64 * 1024;
/** No upload counts as slow before this, because a connection needs time to reach its speed. */
const SLOW_AFTER_MS = 2_000;

export interface UploadPlace {
  readonly lost: AbortSignal;
  received(bytes: number): void;
  /** The upload is complete, and keeps its place from now on. */
  arrived(): void;
  leave(): void;
}

/** How long a new upload waits for a place, and how often it checks for a slow one. */
const MAX_WAIT_MS = 10_000;
const LOOK_AGAIN_MS = 500;

interface Newcomer {
  readonly tenantId: string;
  readonly admit: (place: UploadPlace) => void;
}

/**
 * Prevents slow or numerous uploads from using up the memory or all places. An upload without a
 * place waits, and none of it is read. While every place is taken, a new upload takes over the
 * place of the slowest upload that is still being received and is either slow or of a tenant with
 * at least two places more.
 */
export class UploadPlaces {
  private readonly places = new Set<Place>();
  /** In order of arrival. */
  private readonly waiting = new Set<Newcomer>();

  /** `elapsed` are milliseconds that never jump. */
  constructor(
    private readonly elapsed: () => number = () => performance.now(),
    private readonly maxWaitMs: number = MAX_WAIT_MS,
  ) {}

  /**
   * Returns a place, after waiting if necessary. Rejects with 429 `rate_limited` if none becomes
   * free in time.
   */
  take(tenantId: string): Promise<UploadPlace> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(last);
        clearInterval(looking);
        this.waiting.delete(newcomer);
      };
      const newcomer = { tenantId, admit: (place: UploadPlace) => (end(), resolve(place)) };
      const looking = setInterval(() => this.admitAll(), LOOK_AGAIN_MS);
      const last = setTimeout(
        () => (end(), reject(tooMany('too many uploads at once'))),
        this.maxWaitMs,
      );
      this.waiting.add(newcomer);
      this.admitAll();
    });
  }

  /** Admits every waiting upload for which a place is free. */
  private admitAll(): void {
    for (const { tenantId, admit } of this.waiting) {
      const place = this.find(tenantId);
      if (place !== null) admit(place);
    }
  }

  private find(tenantId: string): UploadPlace | null {
    if (this.held(tenantId) >= MAX_UPLOADS_OF_A_TENANT) return null;
    if (this.places.size >= MAX_UPLOADS && !this.takeAway(tenantId)) return null;
    const place = new Place(tenantId, this.elapsed(), () => {
      if (this.places.delete(place)) this.admitAll();
    });
    this.places.add(place);
    return place;
  }

  private held(tenantId: string): number {
    let count = 0;
    for (const place of this.places) if (place.tenantId === tenantId) count += 1;
    return count;
  }

  /** Takes a place away for this tenant. Returns true if it could. */
  private takeAway(tenantId: string): boolean {
    const own = this.held(tenantId);
    const now = this.elapsed();
    let slowest: Place | undefined;
    for (const place of this.places) {
      const isSlow = now - place.began > SLOW_AFTER_MS && place.bytesPerS(now) < MIN_BYTES_PER_S;
      if (!place.isReceiving || !(isSlow || this.held(place.tenantId) > own + 1)) continue;
      if (slowest === undefined || place.bytesPerS(now) < slowest.bytesPerS(now)) slowest = place;
    }
    if (slowest === undefined) return false;
    this.places.delete(slowest);
    slowest.lose();
    return true;
  }
}

export function uploadPlaceLost(): ApiError {
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
