/** The weight of a new measurement against all earlier ones. */
const WEIGHT = 0.25;
/** From this share on of the time for which groups here have their locks, others' are in their way. */
const SHARED_FROM = 0.25;
/** Of the time that others have them. The rest is the margin by which a group is there before its turn. */
const GATHERED_SHARE = 0.75;
const LONGEST_GATHERING_MS = 50;

/**
 * How a desk goes about accounts that other processes post to as well. Whatever it sends then only waits behind their groups, so it
 * sends one group at a time, and lets a part of that time pass first in which more commands gather: fewer and larger groups are less
 * to wait for, for everybody. Neither costs anything, since somebody else has the locks meanwhile.
 * (docs/decisions/0048-gathered-while-others-post.md)
 */
export class Pace {
  private othersMs = 0;
  private heldMs = 0;
  private commands = 0;
  private committedAt = -Infinity;

  constructor(private readonly now = () => performance.now()) {}

  /** A group has its locks. Answers since when. */
  locked(sentAt: number, waitedMs: number): number {
    const lockedAt = sentAt + waitedMs;
    // Until then it may have waited for a group of this desk.
    const othersMs = Math.max(0, Math.min(waitedMs, lockedAt - this.committedAt));
    this.othersMs += (othersMs - this.othersMs) * WEIGHT;
    return lockedAt;
  }

  committed(lockedAt: number, commands = 1): void {
    this.committedAt = this.now();
    this.heldMs += (this.committedAt - lockedAt - this.heldMs) * WEIGHT;
    this.commands += (commands - this.commands) * WEIGHT;
  }

  /** How many commands hold their locks for so long if they share a group. */
  commandsWithin(ms: number): number {
    return this.heldMs === 0 ? Infinity : (ms * this.commands) / this.heldMs;
  }

  /** A lock that is not had at all is kept by somebody who does not post. */
  forget(): void {
    this.othersMs = 0;
  }

  get isShared(): boolean {
    return this.othersMs > this.heldMs * SHARED_FROM;
  }

  /** How much longer the next group gathers. */
  gatheringMs(): number {
    if (!this.isShared) return 0;
    const ms = Math.min(this.othersMs * GATHERED_SHARE, LONGEST_GATHERING_MS);
    return Math.max(0, this.committedAt + ms - this.now());
  }
}
