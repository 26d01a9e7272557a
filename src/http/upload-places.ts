import { ApiError } from '../core/errors.js';

const MAX_UPLOADS = 16;
const MAX_UPLOADS_OF_A_TENANT = 4;
/** A slower upload loses its place while others wait. */
const MIN_BYTES_PER_S = 64 * 1024;
const SLOW_AFTER_MS = 2_000;

const MAX_WAIT_MS = 10_000;
const LOOK_AGAIN_MS = 500;

interface Newcomer {
  readonly tenantId: string;
  readonly admit: (place: UploadPlace) => void;
}

/**
 * Places for uploads in memory. An upload without a place waits unread. If all are taken, a new
 * upload replaces the slowest one in progress that is slow or of a tenant with at least two places
 * more.
 */
export class UploadPlaces {
  private readonly places = new Set<UploadPlace>();
  private readonly waiting = new Set<Newcomer>();

  constructor(
    private readonly elapsed: () => number = () => performance.now(),
    private readonly maxWaitMs: number = MAX_WAIT_MS,
  ) {}

  /** Rejects with 429 `rate_limited` if no place becomes free in time. */
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

  private admitAll(): void {
    for (const { tenantId, admit } of this.waiting) {
      const place = this.find(tenantId);
      if (place !== null) admit(place);
    }
  }

  private find(tenantId: string): UploadPlace | null {
    if (this.held(tenantId) >= MAX_UPLOADS_OF_A_TENANT) return null;
    if (this.places.size >= MAX_UPLOADS && !this.takeAway(tenantId)) return null;
    const place = new UploadPlace(tenantId, this.elapsed(), () => {
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
    let slowest: UploadPlace | undefined;
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

/** A place of an upload, which may lose it while it is being received. */
export class UploadPlace {
  isReceiving = true;
  private bytes = 0;
  private readonly losing = new AbortController();
  readonly lost = this.losing.signal;

  constructor(
    readonly tenantId: string,
    readonly began: number,
    readonly leave: () => void,
  ) {}

  received(bytes: number): void {
    this.bytes += bytes;
  }

  /** The upload is complete, and keeps its place. */
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
