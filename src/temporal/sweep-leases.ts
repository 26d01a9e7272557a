import { newId, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { Pause } from '../core/pause.js';
import { time, uuid } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { sweepLeases, sweepWorkers } from '../db/entities/sweeps.js';
import { equalsSql, insertSql, literals, statement } from '../db/statements.js';
import { parseRow, rowParser } from '../db/table.js';
import { transact } from '../db/transact.js';
import { type LeasePlan, type LeaseState, type LiveWorker, planLeases } from './lease-plan.js';

/**
 * How worker processes share the sweeps: each is done by the holder of its lease in MySQL. A lease says who looks, not
 * who may write: what a sweep finds is guarded by its own row, so two that look at once do no harm.
 * (docs/decisions/0039-each-due-thing-is-looked-for-once.md)
 */

/** A process that is silent for this long is considered dead: others take over its leases at their next beat. */
const LEASE_MS = 4_000;
const BEAT_MS = 1_000;
/** How much earlier a process considers its own lease over than others do. */
const MARGIN_MS = 500;
const LOOK_MS = 250;
const FORGOTTEN_DAYS = 1;
const NOW = 'UTC_TIMESTAMP(3)';
const FOR_A_LEASE = `${NOW} + INTERVAL ${LEASE_MS * 1_000} MICROSECOND`;
const parseWorker = rowParser({ id: uuid, startedAt: time });
const NOBODYS = { holder: null, takenAt: instant(0), leaseUntil: instant(0) } as const;

export interface LeaseObserver {
  /** A beat failed; the next one follows in a second. */
  failed(name: string, fault: unknown): void;
  /** Another process has it, or may: MySQL was not reached in time, or this process froze. */
  lost(name: string): void;
  holds(count: number): void;
}

export interface Turn {
  readonly names: readonly string[];
  /** Aborted when one of them is lost or the process stops: begin nothing more. */
  readonly signal: AbortSignal;
  readonly end: () => void;
}

interface Held {
  /** By performance.now(), a clock that nobody can set. */
  until: number;
  /** It moves to another process as soon as the round has ended. */
  isLeaving: boolean;
  readonly rounds: Set<AbortController>;
}

export class SweepLeases {
  readonly workerId: Uuid = newId();
  private readonly held = new Map<string, Held>();
  /** The leases of this process, according to MySQL at the last beat. */
  private own: readonly string[] = [];
  private plan: LeasePlan = { take: [], giveUp: [] };
  private isPrepared = false;
  private isStopping = false;
  private waiters = new Set<() => void>();
  private readonly pause = new Pause();
  private beating: Promise<void> = Promise.resolve();
  private looking: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    private readonly names: readonly string[],
    /** The process's name for people. */
    private readonly label: string,
    private readonly observer: LeaseObserver,
  ) {}

  start(): void {
    this.looking = setInterval(() => this.endExpired(), LOOK_MS).unref();
    this.beating = this.beatOn();
  }

  /** Waits until this process has at least one of the leases, and returns those it has; null when it stops. */
  async turn(names: readonly string[]): Promise<Turn | null> {
    for (;;) {
      if (this.isStopping) return null;
      this.endExpired();
      const mine = names.filter((name) => this.held.get(name)?.isLeaving === false);
      if (mine.length > 0) return this.begin(mine);
      await new Promise<void>((resolve) => this.waiters.add(resolve));
    }
  }

  /** Interrupts the rounds; no new one begins. */
  interrupt(): void {
    this.isStopping = true;
    this.pause.close();
    for (const { rounds } of this.held.values()) for (const round of rounds) round.abort();
    this.wakeWaiters();
  }

  /** Releases everything, so that others need not wait for it to expire. Call it once the rounds have ended. */
  async stop(): Promise<void> {
    this.interrupt();
    clearInterval(this.looking);
    await this.beating;
    const me = uuid.literal(this.workerId);
    await this.write([
      `UPDATE sweep_leases SET lease_until=${NOW} WHERE holder=${me} AND lease_until>${NOW}`,
      `UPDATE sweep_workers SET seen_until=${NOW} WHERE id=${me}`,
    ]).catch(() => undefined);
    this.held.clear();
    this.observer.holds(0);
  }

  private begin(names: readonly string[]): Turn {
    const round = new AbortController();
    const held = names.flatMap((name) => this.held.get(name) ?? []);
    for (const { rounds } of held) rounds.add(round);
    return {
      names,
      signal: round.signal,
      end: () => {
        for (const { rounds } of held) rounds.delete(round);
      },
    };
  }

  private async beatOn(): Promise<void> {
    while (!this.isStopping) {
      try {
        await this.beat();
        // Takes what it should have now, not a second later.
        if (this.plan.take.length > 0) await this.beat();
      } catch (fault) {
        this.observer.failed('leases', fault);
      }
      await this.pause.for(BEAT_MS);
    }
  }

  /** Renews, releases and takes leases in one text, then reads the result. Throws DatabaseUnavailable. */
  private async beat(): Promise<void> {
    if (!this.isPrepared) await this.prepare();
    const askedAt = performance.now();
    const { take, giveUp } = this.plan;
    const leaving = giveUp.filter((name) => (this.held.get(name)?.rounds.size ?? 0) === 0);
    const renewed = this.own.filter((name) => !leaving.includes(name));
    await this.write(this.beatSql(renewed, leaving, take));
    const { now, leases, workers } = await this.read();
    // If the database was restored to before this process began, or has lost its rows, they are created again at the
    // next beat.
    this.isPrepared =
      leases.length === this.names.length && workers.some(({ id }) => id === this.workerId);
    const mine = leases.filter(
      ({ holder, leaseUntil }) => leaseUntil > now && holder === this.workerId,
    );
    this.own = mine.map(({ name }) => name);
    const asked = new Set([...renewed, ...take]);
    const held = this.own.filter((name) => asked.has(name));
    this.hold(held, askedAt + LEASE_MS - MARGIN_MS);
    this.plan = planLeases(this.workerId, now, workers, leases);
    for (const [name, one] of this.held) one.isLeaving = this.plan.giveUp.includes(name);
  }

  private beatSql(
    renewed: readonly string[],
    leaving: readonly string[],
    take: readonly string[],
  ): string[] {
    const me = uuid.literal(this.workerId);
    const change = (set: string, names: readonly string[], where: string): string[] =>
      statement(
        names,
        () =>
          `UPDATE sweep_leases SET ${set} WHERE ${equalsSql(sweepLeases, { name: names })} AND ${where}`,
      );
    return [
      `UPDATE sweep_workers SET seen_until=${FOR_A_LEASE} WHERE id=${me}`,
      ...change(`lease_until=${FOR_A_LEASE}`, renewed, `holder=${me}`),
      ...change(`lease_until=${NOW}`, leaving, `holder=${me}`),
      ...change(
        `holder=${me}, taken_at=${NOW}, lease_until=${FOR_A_LEASE}`,
        take,
        `lease_until<=${NOW}`,
      ),
    ];
  }

  private async prepare(): Promise<void> {
    const rows = this.names.map((name) => ({ name, ...NOBODYS }));
    const me = {
      id: this.workerId,
      label: this.label,
      startedAt: instant(0),
      seenUntil: instant(0),
    };
    await this.write([
      `${insertSql(sweepLeases, rows)} ON DUPLICATE KEY UPDATE name=VALUES(name)`,
      `${insertSql(sweepWorkers, [me])} ON DUPLICATE KEY UPDATE label=VALUES(label)`,
      `UPDATE sweep_workers SET started_at=${NOW}
       WHERE id=${uuid.literal(this.workerId)} AND started_at=${time.literal(instant(0))}`,
      `DELETE FROM sweep_workers WHERE seen_until>${time.literal(instant(0))} AND seen_until<${NOW} - INTERVAL ${FORGOTTEN_DAYS} DAY`,
    ]);
    this.isPrepared = true;
  }

  /** One text with COMMIT: a process that freezes midway holds no lock. */
  private write(statements: readonly string[]): Promise<void> {
    return transact(this.database, (transaction) => {
      transaction.withCommit(statements);
      return Promise.resolve();
    });
  }

  private async read(): Promise<{ now: Instant; leases: LeaseState[]; workers: LiveWorker[] }> {
    const { reader } = this.database;
    const [leases, workers] = await Promise.all([
      reader.query(
        `SELECT name, holder, taken_at, lease_until, ${NOW} AS now FROM sweep_leases
         WHERE name IN (${literals(sweepLeases, 'name', this.names)})`,
      ),
      reader.query(`SELECT id, started_at FROM sweep_workers WHERE seen_until>${NOW}`),
    ]);
    return {
      // Without a lease there is nothing to plan.
      now: leases[0] === undefined ? instant(0) : time.parse(leases[0].now),
      leases: leases.map((row) => parseRow(sweepLeases, row)),
      workers: workers.map(parseWorker),
    };
  }

  private hold(names: readonly string[], until: number): void {
    for (const name of this.held.keys()) if (!names.includes(name)) this.lose(name);
    for (const name of names) {
      const held = this.held.get(name);
      if (held === undefined) this.held.set(name, { until, isLeaving: false, rounds: new Set() });
      else held.until = until;
    }
    this.observer.holds(this.held.size);
    this.wakeWaiters();
  }

  private endExpired(): void {
    const now = performance.now();
    for (const [name, { until }] of this.held) if (until <= now) this.lose(name);
  }

  private lose(name: string): void {
    const held = this.held.get(name);
    this.held.delete(name);
    if (held === undefined || held.isLeaving) return;
    for (const round of held.rounds) round.abort();
    this.observer.lost(name);
    this.observer.holds(this.held.size);
  }

  private wakeWaiters(): void {
    const waiting = [...this.waiters];
    this.waiters = new Set();
    for (const wake of waiting) wake();
  }
}
