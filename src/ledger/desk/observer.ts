export interface DeskObserver {
  groupPosted(size: number, seconds: number): void;
  groupRetried(
    reason: 'rolled_back' | 'lock_wait' | 'unavailable' | 'unlocked' | 'data_fault',
  ): void;
  commitUnknown(): void;
  /** A command was answered 503: its key was bound under a fingerprint key that this process lacks. */
  keyUnknown(): void;
  shed(): void;
  queued(waiting: number): void;
}
