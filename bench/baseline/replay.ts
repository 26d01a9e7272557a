import type { Connection } from 'mysql2/promise';
import { latencyOf } from '../load/latency.js';
import type { Latency } from '../load/job.js';
import { closeAll, openMany } from './driver.js';
import type { RecordedGroup } from './groups.js';

export interface Replayed {
  readonly commandsPerSecond: number;
  /** Latency of whole groups. */
  readonly latency: Latency;
}

/** The first groups are sent but not counted, like the first seconds of the load. */
const WARM_UP_SHARE = 0.2;
const READS_AT_ONCE = 2;

/** Replays the recorded groups by the bare driver, this many at a time, and commits each. */
export async function replayGroups(
  url: string,
  groups: readonly RecordedGroup[],
  groupsInFlight: number,
): Promise<Replayed> {
  const readers = await openMany(url, 'reads', groupsInFlight * READS_AT_ONCE);
  const writers = await openMany(url, 'transactions', groupsInFlight);
  try {
    const replay = new Replay(groups, Math.floor(groups.length * WARM_UP_SHARE));
    await Promise.all(
      writers.map((writer, lane) =>
        replay.runLane(writer, readers.slice(lane * READS_AT_ONCE, (lane + 1) * READS_AT_ONCE)),
      ),
    );
    // Writes the final state of the event counter, whichever order the groups before it had.
    const [writer] = writers;
    if (writer !== undefined) await replay.runLast(writer, readers);
    return replay.result();
  } finally {
    await closeAll([...readers, ...writers]);
  }
}

class Replay {
  private next = 0;
  private beganAt = 0;
  private endedAt = 0;
  private commands = 0;
  private readonly samples: number[] = [];
  /** Resolves when the previous group has its locks. In another order the final rows would differ from the recording. */
  private locked: Promise<void> = Promise.resolve();

  constructor(
    private readonly groups: readonly RecordedGroup[],
    private readonly firstCounted: number,
  ) {}

  async runLane(writer: Connection, readers: readonly Connection[]): Promise<void> {
    while (this.next < this.groups.length - 1) {
      const index = this.next++;
      const group = this.groups[index];
      if (group === undefined) return;
      if (index === this.firstCounted) this.beganAt = performance.now();
      const sentAt = performance.now();
      await this.send(group, writer, readers);
      this.endedAt = performance.now();
      if (index < this.firstCounted) continue;
      this.commands += group.commands;
      this.samples.push(this.endedAt - sentAt);
    }
  }

  async runLast(writer: Connection, readers: readonly Connection[]): Promise<void> {
    const last = this.groups.at(-1);
    if (last !== undefined) await this.send(last, writer, readers);
  }

  result(): Replayed {
    return {
      commandsPerSecond: (this.commands * 1000) / (this.endedAt - this.beganAt),
      latency: latencyOf(this.samples),
    };
  }

  private async send(
    { reads, steps }: RecordedGroup,
    writer: Connection,
    readers: readonly Connection[],
  ): Promise<void> {
    const before = this.locked;
    let release: () => void = () => undefined;
    this.locked = new Promise((resolve) => (release = resolve));
    await Promise.all(
      reads.flatMap((sql, place) => {
        const reader = readers[place % readers.length];
        return reader === undefined ? [] : [reader.query(sql)];
      }),
    );
    await before;
    try {
      for (const [place, sql] of steps.entries()) {
        await writer.query(place === steps.length - 1 ? `${sql};COMMIT` : sql);
        if (place === 0) release();
      }
    } finally {
      release();
    }
  }
}
