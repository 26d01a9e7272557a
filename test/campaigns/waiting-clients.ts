import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import { outbox } from '../../src/db/entities/outbox.js';
import { transfers } from '../../src/db/entities/operations.js';
import { request, startTestApi, type TestAnswer } from '../helpers/api.js';
import { LEAST, transferBody } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { knownAnswer } from '../helpers/known-answer.js';
import {
  stateOf,
  type TestTemporal,
  until,
  workflowOf,
  workflowStatus,
} from '../helpers/temporal.js';
import {
  assertEnds,
  assertMonths,
  endOf,
  type GuardedBank,
  type MemberAct,
  moveExpiry,
  newSignature,
  openGuardedBank,
  REASON,
  sendSignal,
} from '../helpers/temporal-world.js';
import { assertLedgerSound, balanceOf } from '../helpers/world.js';

/** Where the clients find what they use. */
interface WaitingStage {
  readonly db: TestDatabase;
  readonly temporal: TestTemporal;
  readonly baseUrl: string;
}

const FUNDS = 1_000_000n * LEAST;
/**
 * An action that dies with its worker is tried again after 15 s, and then a minute later at most, each time. No signal is taken while
 * Temporal is away, for ten minutes in one campaign.
 */
const RESOLVE_MS = 900_000;
const ASK_AGAIN_MS = 50;
/** Beyond this many workflows in progress no transfer is made, or a slow Temporal falls ever further behind. */
const MOST_IN_PROGRESS = 1_000;
const COUNT_AGAIN_MS = 2_000;
/** Transfers that are looked at beside each other: there may be hundreds of thousands. */
const LANES = 16;
const HISTORY_SHOWN = 20;
const SAID_MS = 10_000;

type Way = 'time' | `${'api' | 'signal'} ${MemberAct}`;
const WAYS: readonly Way[] = [
  'api approve',
  'signal approve',
  'time',
  'api reject',
  'signal cancel',
  'api approve',
  'time',
  'signal reject',
  'api cancel',
];
const ENDS = {
  approve: 'completed',
  reject: 'rejected',
  cancel: 'canceled',
  time: 'expired',
} as const;

/**
 * Clients that make transfers which need approval, and decide each in one way alone: by the API, by a signal, by time.
 * Through all failures they repeat their requests until they know. In the end each transfer ended as was decided.
 */
export class WaitingClients {
  /** How many transfers were decided. */
  decided = 0;
  private readonly ends = new Map<Uuid, string>();
  private readonly signaled = new Map<Uuid, MemberAct>();
  /** Workflows; none while Temporal is away. */
  private inProgress = 0;
  private isRunning = true;
  private running: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly stage: WaitingStage,
    private readonly guarded: GuardedBank,
    private readonly pauseMs: number,
  ) {}

  /** A tenant with a guarded account, and `count` clients, each of which makes a transfer every `pauseMs` at most. */
  static async start(stage: WaitingStage, count: number, pauseMs = 0): Promise<WaitingClients> {
    const { db } = stage;
    const api = await startTestApi(db);
    const guarded = await openGuardedBank(api, { funds: FUNDS });
    await api.stop();
    const clients = new WaitingClients(stage, guarded, pauseMs);
    clients.running = Promise.all([
      clients.countInProgress(),
      ...Array.from({ length: count }, (_, index) => clients.work(index)),
    ]);
    // Looked at in `finish`.
    clients.running.catch(() => undefined);
    return clients;
  }

  /** Resolves with the work that is done to the service; fails at once when a client does. */
  async during(work: Promise<unknown>): Promise<void> {
    await Promise.race([work, this.running.then(() => work)]);
  }

  private async countInProgress(): Promise<void> {
    for (; this.isRunning; await sleep(COUNT_AGAIN_MS)) {
      // While Temporal is away it makes no workflows either, and transfers are decided without it.
      const { count } = await this.stage.temporal.client.workflow
        .count('ExecutionStatus="Running"')
        .catch(() => ({ count: 0 }));
      this.inProgress = count;
    }
  }

  private async work(index: number): Promise<void> {
    // Every other one needs no Temporal, and goes on while it is away.
    const ways = index % 2 === 0 ? WAYS.filter((way) => !way.startsWith('signal')) : WAYS;
    for (let round = index; this.isRunning; round += 1) {
      if (this.inProgress > MOST_IN_PROGRESS) {
        await sleep(COUNT_AGAIN_MS);
        continue;
      }
      const way = ways[round % ways.length]!;
      const id = await this.make();
      const [means, action] = way === 'time' ? (['time', 'time'] as const) : split(way);
      this.ends.set(id, ENDS[action]);
      if (means === 'time')
        await again(() => moveExpiry(this.stage.db, id, Date.now()).then(() => true));
      else if (means === 'api') await this.actByApi(action, id);
      else await this.actBySignal(action, id);
      this.decided += 1;
      await sleep(this.pauseMs);
    }
  }

  private async make(): Promise<Uuid> {
    const { bank, source, target } = this.guarded;
    const body = transferBody({ from: source, to: target, raw: LEAST });
    const answer = await this.ask('/v1/transfers', { token: bank.token, body, key: randomUUID() });
    assert([200, 202].includes(answer.status), answer.text);
    return asUuid(String(answer.json.id));
  }

  private async actByApi(action: MemberAct, id: Uuid): Promise<void> {
    const { bank, approvers } = this.guarded;
    const answer = await this.ask(`/v1/transfers/${id}/${action}`, {
      token: action === 'cancel' ? bank.token : approvers[0],
      key: randomUUID(),
      ...(action === 'reject' ? { body: { reason: REASON } } : {}),
    });
    // A rejection that was not heard of is found done when it is asked for again.
    if (answer.status === 409) assert.equal(answer.details?.current, 'rejected', answer.text);
    else assert.equal(answer.status, 200, answer.text);
  }

  /** The answer to a request that is repeated, with its key, until it is known. */
  private ask(path: string, options: Parameters<typeof request>[3]): Promise<TestAnswer> {
    return knownAnswer(() => request(this.stage.baseUrl, 'POST', path, options), RESOLVE_MS);
  }

  /** The workflow may not have started yet; and one that took the signal unseen has ended. */
  private actBySignal(action: MemberAct, id: Uuid): Promise<true> {
    this.signaled.set(id, action);
    return again(async () => {
      const transfer = await this.stage.db.database.reader.find(transfers, { id });
      return transfer?.status !== 'pending_approval' || this.signal(action, id);
    });
  }

  private async signal(action: MemberAct, id: Uuid): Promise<true> {
    const { db, temporal } = this.stage;
    await sendSignal(temporal, id, action, await newSignature(db.database));
    return true;
  }

  private async awaitEnd(id: Uuid, end: string): Promise<void> {
    const { db, temporal } = this.stage;
    const action = this.signaled.get(id);
    let read: string | null = null;
    const isEnded = async (): Promise<boolean> => {
      const transfer = await db.database.reader.find(transfers, { id });
      if (transfer !== undefined && endOf(transfer) === end) return true;
      if (action !== undefined && transfer?.status === 'pending_approval')
        read = await this.askAgain(action, id, read).catch(() => read);
      return false;
    };
    await until(`${id} is ${end}`, isEnded, { limitMs: RESOLVE_MS }).catch(
      async (fault: unknown) => {
        throw new Error(`${String(fault)}; ${await standingOf(temporal, id)}`);
      },
    );
  }

  /** A code that is checked more than ten minutes later is refused: the sender reads that, and sends a new one. */
  private async askAgain(action: MemberAct, id: Uuid, read: string | null): Promise<string | null> {
    const refusal = (await stateOf(this.stage.temporal, id))?.lastRefusal ?? null;
    if (refusal !== read) await this.signal(action, id);
    return refusal;
  }

  /** Each ends with what it is at. */
  stop(): void {
    this.isRunning = false;
  }

  /** Lets every client finish, waits for every end, and compares. */
  async finish(): Promise<string> {
    this.stop();
    await this.running;
    const { db, temporal } = this.stage;
    const { source, target, bank } = this.guarded;
    const ends = this.ends.entries();
    const finishing = Array.from({ length: LANES }, async () => {
      for (const [id, end] of ends) {
        await this.awaitEnd(id, end);
        await until(
          `no workflow waits for ${id}`,
          async () => (await workflowStatus(temporal, id)) !== 'RUNNING',
          {
            limitMs: RESOLVE_MS,
          },
        );
      }
    });
    await Promise.all(finishing);
    const { id: tenantId } = bank.tenant.tenant;
    await until(
      'the outbox has nothing left',
      async () => (await db.database.reader.select(outbox, { tenantId })).length === 0,
      { limitMs: RESOLVE_MS },
    );
    await assertEnds(db, this.ends);
    await assertMonths(db, source);
    const completed = BigInt([...this.ends.values()].filter((end) => end === 'completed').length);
    assert.deepEqual(await balanceOf(db.database, source.id), {
      available: FUNDS - completed * LEAST,
      held: 0n,
    });
    assert.equal((await balanceOf(db.database, target.id)).available, completed * LEAST);
    await assertLedgerSound(db.database);
    return `${this.ends.size} pending transfers ended as decided, each with one event`;
  }
}

/** The state of the workflow, for the message of a transfer that did not end. */
async function standingOf(temporal: TestTemporal, id: Uuid): Promise<string> {
  const { status, raw } = await workflowOf(temporal, id).describe();
  const pending = (raw.pendingActivities ?? []).map(
    ({ activityType, attempt, lastFailure }) =>
      `${activityType?.name}, attempt ${attempt}: ${lastFailure?.message}`,
  );
  const { events } = await workflowOf(temporal, id).fetchHistory();
  const history = (events ?? []).slice(-HISTORY_SHOWN).map((event) => {
    const at = new Date(Number(event.eventTime?.seconds ?? 0) * 1_000).toISOString();
    return `${at} ${Object.keys(event).find((field) => field.endsWith('EventAttributes'))}`;
  });
  const { pendingWorkflowTask: task } = raw;
  const tasked = task ? `attempt ${task.attempt} of its task, state ${task.state}` : 'no task';
  const state = await Promise.race([stateOf(temporal, id), sleep(SAID_MS)]).catch(String);
  return `its workflow is ${status.name}, with ${tasked} and ${pending.length} activities under way: ${pending.join('; ')};
it says ${JSON.stringify(state)}; its last events: ${history.join(', ')}`;
}

function split(way: Exclude<Way, 'time'>): readonly ['api' | 'signal', MemberAct] {
  const [means, action] = way.split(' ') as ['api' | 'signal', MemberAct];
  return [means, action];
}

/** Until it works and gives something. */
async function again<T>(attempt: () => Promise<T | null>): Promise<T> {
  const end = performance.now() + RESOLVE_MS;
  let fault: unknown = null;
  for (;;) {
    const result = await attempt().catch((failure: unknown) => {
      fault = failure;
      return null;
    });
    if (result !== null) return result;
    if (performance.now() > end)
      throw new Error(`not resolved within ${RESOLVE_MS / 60_000} minutes`, { cause: fault });
    await sleep(ASK_AGAIN_MS);
  }
}
