import assert from 'node:assert/strict';
import { startTestApi } from '../helpers/api.js';
import type { TestDatabase } from '../helpers/database.js';
import { type Gate, StatementProxy } from '../helpers/statement-proxy.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { randomFrom } from './approval-activities.js';
import { Group } from './linearizability/group.js';
import { sendNext, type Seen } from './linearizability/load.js';
import { findFault } from './linearizability/order.js';

interface Interleavings {
  readonly db: TestDatabase;
  readonly interleavings: number;
  readonly seed: number;
}

/** Requests to each process, which become a group of its ledger writer. */
const WIDTH = 2;
/** Interleavings that one group of accounts sees, before its history is judged. */
const OF_A_GROUP = 25;
/** A statement that takes longer waits for a lock of another session, which gets the next turn. */
const BLOCKED_MS = 5;
/** How long the first statement of either process is awaited at most. */
const ABSENT_MS = 1_000;
const ALTERNATING = /A[^A]+A/;

/** Gives turns to sessions by chance, one statement at a time. */
class Turns implements Gate {
  /** The sessions in the order of their statements, as letters. */
  order = '';
  private readonly names = new Map<object, string>();
  private readonly waiting = new Map<object, () => void>();
  /** Sessions that have a statement under way, or will send the next one soon. */
  private readonly busy = new Set<object>();
  /** Processes that have sent no statement yet, and may. */
  private absent = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly random: (below: number) => number) {}

  begin(processes: number): void {
    this.order = '';
    this.names.clear();
    this.busy.clear();
    this.absent = processes;
  }

  /** A process has answered all its requests, perhaps without a statement. */
  finished(): void {
    this.absent -= 1;
    this.look();
  }

  turn(session: object): Promise<void> {
    if (!this.names.has(session)) {
      this.names.set(session, String.fromCharCode('A'.charCodeAt(0) + this.names.size));
      this.absent -= 1;
    }
    this.busy.delete(session);
    const turn = new Promise<void>((resolve) => this.waiting.set(session, resolve));
    this.look();
    return turn;
  }

  answered(session: object, isEnd: boolean): void {
    if (isEnd) this.busy.delete(session);
    else this.busy.add(session);
    this.look();
  }

  /** Gives a turn once all sessions want one, or have been busy for too long. */
  private look(): void {
    clearTimeout(this.timer);
    if (this.waiting.size === 0) return;
    if (this.busy.size === 0 && this.absent <= 0) return this.give();
    const give = (): void => {
      // Sessions that are blocked come back by themselves.
      this.busy.clear();
      this.absent = 0;
      this.give();
    };
    this.timer = setTimeout(give, this.absent > 0 ? ABSENT_MS : BLOCKED_MS);
  }

  private give(): void {
    const sessions = [...this.waiting.keys()];
    const next = sessions[this.random(sessions.length)]!;
    const go = this.waiting.get(next)!;
    this.waiting.delete(next);
    this.busy.add(next);
    this.order += this.names.get(next) ?? '';
    go();
    this.look();
  }
}

/**
 * Two API processes get requests to the same accounts, and the statements of their groups are sent to MySQL in an order that the
 * test chooses. Each response is correct at some moment between its request and its return.
 */
export function interleavingsCampaign(campaign: Interleavings): Promise<string> {
  const { db, interleavings, seed } = campaign;
  return withCleanup(async (open) => {
    const turns = new Turns(randomFrom(seed));
    const proxy = await open(StatementProxy.open(db.url, turns), (own) => own.close());
    const url = proxy.through(db.url);
    const apis = [
      await open(startTestApi({ url }), (own) => own.stop()),
      await open(startTestApi({ url }), (own) => own.stop()),
    ];
    const baseUrls = apis.map(({ baseUrl }) => baseUrl);
    const now = (): number => performance.timeOrigin + performance.now();
    const orders = new Set<string>();
    let [requests, lost, alternating] = [0, 0, 0];
    for (let done = 0; done < interleavings; done += OF_A_GROUP) {
      const group = await Group.open(db, { baseUrls, now });
      const seen: Seen = { transfers: new Map(), keyed: [] };
      for (let one = 0; one < OF_A_GROUP; one += 1) {
        turns.begin(baseUrls.length);
        const sides = baseUrls.map(async (baseUrl) => {
          await Promise.all(Array.from({ length: WIDTH }, () => sendNext(group, seen, baseUrl)));
          turns.finished();
        });
        await Promise.all(sides);
        orders.add(turns.order);
        alternating += ALTERNATING.test(turns.order) ? 1 : 0;
      }
      const history = await group.finish();
      assert.equal(findFault(history), null);
      requests += history.operations.length;
      lost += history.operations.filter(({ response }) => response === null).length;
    }
    assert(alternating > 0, 'the statements of no two groups alternated');
    return `${interleavings} interleavings of the statements of groups of two processes (seed ${seed}), ${alternating} of them alternating, in ${orders.size} different orders: ${requests} requests, ${lost} of them without a response, every response correct`;
  });
}
