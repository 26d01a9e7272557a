export interface DeskObserver {
  groupPosted(size: number, seconds: number): void;
  groupRetried(
    reason: 'rolled_back' | 'lock_wait' | 'unavailable' | 'unlocked' | 'data_fault' | 'clock',
  ): void;
  commitUnknown(): void;
  /** A command was answered 503: its key was bound under a fingerprint key that this process lacks. */
  keyUnknown(): void;
  shed(): void;
  /** Commands were answered 503, because this process's clock differs from the database's. */
  clockRefused(commands: number): void;
  queued(waiting: number): void;
}
