import type { Uuid } from '../../core/ids.js';
import type { Candidate, Room } from './finding.js';

/** The endpoints of one round: healthy ones, and those that fail or are slow, each up to the room there is. */
export class Choice {
  private readonly taken = new Map<Uuid, Candidate>();
  private well = 0;
  private failing = 0;

  constructor(
    private readonly room: Room,
    private readonly isSlow: (id: Uuid) => boolean,
  ) {}

  /** Whether there is no more room for healthy ones. */
  get isFull(): boolean {
    return this.well >= this.room.well;
  }

  get all(): readonly Candidate[] {
    return [...this.taken.values()];
  }

  has(id: Uuid): boolean {
    return this.taken.has(id);
  }

  /** Takes those that it does not have yet, as far as there is room. */
  take(candidates: Iterable<Candidate>): void {
    for (const candidate of candidates) {
      const { id } = candidate;
      const isFailing = candidate.isFailing || this.isSlow(id);
      if (this.taken.has(id) || (isFailing ? this.failing >= this.room.failing : this.isFull))
        continue;
      if (isFailing) this.failing += 1;
      else this.well += 1;
      this.taken.set(id, candidate);
    }
  }
}
