import { ApiError } from '../core/errors.js';

const MAX_UPLOADS = 16;
const MAX_UPLOADS_PER_TENANT = 4;
/** An upload slower than this loses its slot if another upload waits for one. */
const MIN_BYTES_PER_S = 64 * 1024;
const SLOW_AFTER_MS = 2_000;

const MAX_WAIT_MS = 10_000;
const RECHECK_MS = 500;

interface WaitingUpload {
  readonly tenantId: string;
  readonly admit: (slot: UploadSlot) => void;
}

/**
 * Limits the uploads that are held in memory. An upload without a slot waits, and its body is not
 * read. If all slots are taken, a new upload gets the slot of the slowest upload in progress that
 * is too slow, or whose tenant has at least two slots more.
 */
export class UploadSlots {
  private readonly slots = new Set<UploadSlot>();
  private readonly waiting = new Set<WaitingUpload>();

  constructor(
    private readonly elapsed: () => number = () => performance.now(),
    private readonly maxWaitMs: number = MAX_WAIT_MS,
  ) {}

  /** Rejects with 429 `rate_limited` if no slot becomes free in time. */
  take(tenantId: string): Promise<UploadSlot> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timeout);
        clearInterval(timer);
        this.waiting.delete(upload);
      };
      const upload = { tenantId, admit: (slot: UploadSlot) => (end(), resolve(slot)) };
      const timer = setInterval(() => this.admitAll(), RECHECK_MS);
      const timeout = setTimeout(
        () => (end(), reject(tooMany('too many uploads at once'))),
        this.maxWaitMs,
      );
      this.waiting.add(upload);
      this.admitAll();
    });
  }

  private admitAll(): void {
    for (const { tenantId, admit } of this.waiting) {
      const slot = this.tryTake(tenantId);
      if (slot !== null) admit(slot);
    }
  }

  private tryTake(tenantId: string): UploadSlot | null {
    if (this.countSlots(tenantId) >= MAX_UPLOADS_PER_TENANT) return null;
    if (this.slots.size >= MAX_UPLOADS && !this.revokeSlowest(tenantId)) return null;
    const slot = new UploadSlot(tenantId, this.elapsed(), () => {
      if (this.slots.delete(slot)) this.admitAll();
    });
    this.slots.add(slot);
    return slot;
  }

  private countSlots(tenantId: string): number {
    let count = 0;
    for (const slot of this.slots) if (slot.tenantId === tenantId) count += 1;
    return count;
  }

  /** Takes the slot of the slowest upload that may lose it. Returns false if none may. */
  private revokeSlowest(tenantId: string): boolean {
    const own = this.countSlots(tenantId);
    const now = this.elapsed();
    let slowest: UploadSlot | undefined;
    for (const slot of this.slots) {
      const isSlow = now - slot.began > SLOW_AFTER_MS && slot.bytesPerS(now) < MIN_BYTES_PER_S;
      if (!slot.isReceiving || !(isSlow || this.countSlots(slot.tenantId) > own + 1)) continue;
      if (slowest === undefined || slot.bytesPerS(now) < slowest.bytesPerS(now)) slowest = slot;
    }
    if (slowest === undefined) return false;
    this.slots.delete(slowest);
    slowest.lose();
    return true;
  }
}

export function uploadSlotLost(): ApiError {
  return tooMany('the upload was too slow while other uploads waited');
}

function tooMany(why: string): ApiError {
  const message = `${why}: send it again when another one has been answered`;
  return new ApiError({ code: 'rate_limited', message }, { 'Retry-After': '1' });
}

/** The slot of one upload, which may lose it while it is being received. */
export class UploadSlot {
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

  /** Marks the upload as complete, so that it keeps its slot. */
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
