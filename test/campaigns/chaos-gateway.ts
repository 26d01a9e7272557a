import type { ServerResponse } from 'node:http';
import type { Keyring } from '../../src/core/fingerprint.js';
import type { Uuid } from '../../src/core/ids.js';
import type { KeyedReport } from '../../src/payouts/rails/wire.js';
import { holderText } from '../../development/simulated-rail/wire.js';
import type { RecipientKey } from '../../src/payouts/rails/destinations.js';
import {
  BankGateway,
  type GatewayAnswer,
  type GatewayPayment,
  type GatewayRequest,
} from '../helpers/bank-gateway.js';
import { randomFrom } from './approval-activities.js';

/** How a gateway contradicts itself: what it says first, and what it says then. What it did is in its acts alone. */
const LIES = ['denies_payment', 'claims_payment', 'renames', 'forgets'] as const;
type Lie = (typeof LIES)[number];

interface Liar {
  readonly lie: Lie;
  /** The first word has reached the service: now it says the other. */
  hasTurned: boolean;
}

const PERCENT = 100;
const LOST = 10;
const UNANSWERED = 10;
const FAULTY = 5;
const DELAYED = 20;
const REPEATED = 8;
const LIARS = 4;
const SILENT_CALLBACKS = 30;
/** Voids that are answered under another reference, and voids that the gateway contradicts later. */
const RENAMED_VOIDS = 15;
const DENIED_VOIDS = 15;
/** Lines that the first statement with their payment omits, or states the opposite of; the next one corrects them. */
const OMITTED = 3;
const MISSTATED = 3;
/** Answers about keys: malformed or about another key, of a key that is held as unknown, and of another holder. */
const WRONG_HOLDERS = 15;
const DENIED_KEYS = 5;
const CHANGED_HOLDERS = 10;
const OTHER_HOLDER = 'H-2';

/** A line of the gateway's statement, as far as the gateway decides it. */
interface GatewayLine extends Pick<GatewayPayment, 'key' | 'reference'> {
  readonly status: 'completed' | 'failed';
}

/**
 * A gateway that keeps its own books, at the end of a line that loses, delays, repeats and reorders requests and answers, and
 * that sends callbacks twice, late, out of order or never. For a small share of payments it contradicts itself, each time so
 * that the service hears both words. It never pays what it voided, and no key twice.
 */
export class ChaosGateway extends BankGateway {
  readonly counts = { requests: 0, lost: 0, unanswered: 0, repeated: 0, delayed: 0, renamed: 0 };
  readonly liars = new Map<Uuid, Liar>();
  /** By key: the holders, and null for unknown, of the answers in the form of the protocol. */
  readonly saidHolders = new Map<string, Set<string | null>>();
  readonly keyCounts = { asked: 0, wrong: 0, denied: 0, changed: 0 };
  /** Payments that a statement has listed, or should have listed. */
  private readonly listed = new Set<Uuid>();
  private readonly random: (below: number) => number;
  private isCalm = false;
  private readonly open = new Set<Promise<void>>();

  constructor(
    name: string,
    keys: Keyring,
    seed: number,
    /** Of a request that is held up on its way, at most. */
    private readonly longestMs: number,
  ) {
    super(name, keys);
    this.random = randomFrom(seed);
  }

  /** From now on nothing is lost; resolves when all that is on its way has arrived, and all was told. */
  async calm(): Promise<void> {
    this.isCalm = true;
    while (this.open.size > 0) await Promise.all(this.open);
  }

  /** The gateway's statement of each payment that has ended so far. */
  statement(): readonly GatewayLine[] {
    return [...this.payments.values()].flatMap(({ key, reference, status }): GatewayLine[] => {
      if (status !== 'completed' && status !== 'failed') return [];
      const isFirst = !this.listed.has(key);
      this.listed.add(key);
      if (isFirst && this.happens(OMITTED)) return [];
      const opposite = status === 'completed' ? 'failed' : 'completed';
      return [{ key, reference, status: isFirst && this.happens(MISSTATED) ? opposite : status }];
    });
  }

  private happens(percent: number): boolean {
    return !this.isCalm && this.random(PERCENT) < percent;
  }

  /** Some moments, mostly short ones. */
  private moments(longestMs: number): number {
    return Math.floor((this.random(1_000) / 1_000) ** 3 * longestMs);
  }

  private keep(work: Promise<void>): void {
    const kept = work.finally(() => this.open.delete(kept));
    this.open.add(kept);
  }

  protected override async respond(
    request: GatewayRequest,
    response: ServerResponse,
  ): Promise<void> {
    this.counts.requests += 1;
    if (this.happens(LOST)) {
      this.counts.lost += 1;
      return void response.destroy();
    }
    const trip = this.travel(request, response);
    this.keep(trip);
    await trip;
  }

  private async travel(request: GatewayRequest, response: ServerResponse): Promise<void> {
    if (this.happens(DELAYED)) {
      this.counts.delayed += 1;
      // The sender may have given up by then: the order arrives all the same.
      await this.pause(this.moments(this.longestMs));
    }
    const { status, text } = this.answer(request);
    if (this.happens(REPEATED)) {
      this.counts.repeated += 1;
      this.keep(this.pause(this.moments(this.longestMs)).then(() => void this.answer(request)));
    }
    if (this.happens(DELAYED)) await this.pause(this.moments(1_000));
    if (this.happens(UNANSWERED)) {
      this.counts.unanswered += 1;
      return void response.destroy();
    }
    if (this.happens(FAULTY)) return void response.writeHead(502).end('<html>bad gateway</html>');
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  }

  /** Wrong, contradicting and changing answers; what is slow or lost is so for every request. */
  protected override holderAnswer(recipient: RecipientKey): GatewayAnswer {
    const { key } = recipient;
    this.keyCounts.asked += 1;
    const found = this.holderOf(recipient);
    if (this.happens(WRONG_HOLDERS)) {
      this.keyCounts.wrong += 1;
      const other = { status: 200, text: holderText(`${key}0`, found) };
      return this.random(2) === 0 ? other : { status: 200, text: holderText(key, null) };
    }
    const [isDenied, hasChanged] = [this.happens(DENIED_KEYS), this.happens(CHANGED_HOLDERS)];
    const changed = found && hasChanged ? { ...found, holder: OTHER_HOLDER } : found;
    const said = isDenied ? null : changed;
    if (isDenied) this.keyCounts.denied += 1;
    else if (hasChanged) this.keyCounts.changed += 1;
    const all = this.saidHolders.get(key) ?? new Set();
    this.saidHolders.set(key, all.add(said?.holder ?? null));
    return { status: said === null ? 404 : 200, text: holderText(key, said) };
  }

  protected override plan(): ReturnType<BankGateway['plan']> {
    const afterMs = this.random(2) === 0 ? 0 : this.random(4_000);
    return { afterMs, status: this.random(5) === 0 ? 'failed' : 'completed' };
  }

  protected override settle(payment: GatewayPayment, status: 'completed' | 'failed'): void {
    if (payment.status !== 'accepted') return;
    super.settle(payment, status);
    if (this.happens(LIARS)) this.keep(this.contradict(payment));
    else if (!this.happens(SILENT_CALLBACKS)) this.keep(this.tellOften(payment));
  }

  protected override settleLater(
    ...[payment, status, afterMs]: Parameters<BankGateway['settleLater']>
  ): Promise<void> {
    const settling = this.pause(afterMs).then(() => this.settle(payment, status));
    this.keep(settling);
    return settling;
  }

  protected override void(key: Uuid): KeyedReport {
    const before = this.payments.get(key)?.status ?? 'accepted';
    const answer = super.void(key);
    if (answer.status !== 'voided') return answer;
    const payment = this.payments.get(key);
    if (before === 'accepted' && payment !== undefined && this.happens(DENIED_VOIDS))
      this.keep(this.contradict(payment));
    if (!this.happens(RENAMED_VOIDS)) return answer;
    this.counts.renamed += 1;
    return { ...answer, reference: `${answer.reference}-v` };
  }

  /** Up to three times, among them what has long been overtaken. */
  private async tellOften(payment: GatewayPayment): Promise<void> {
    const times = 1 + this.random(3);
    const words = Array.from({ length: times }, async (_, time) => {
      await this.pause(this.moments(3_000));
      const report = this.tell(payment);
      // One that failed was never accepted once it is said to have failed: that would be a contradiction.
      const isLate = time > 0 && report.status === 'completed';
      await this.deliver(
        isLate ? { ...report, status: 'accepted' } : report,
        `${payment.reference}.${isLate ? 'late' : 'end'}`,
      );
    });
    await Promise.all(words);
  }

  private async contradict(payment: GatewayPayment): Promise<void> {
    const paid = payment.status === 'completed';
    const fitting = LIES.filter((lie) => (lie === 'claims_payment') !== paid || lie === 'renames');
    const liar: Liar = { lie: fitting[this.random(fitting.length)]!, hasTurned: false };
    this.liars.set(payment.key, liar);
    await this.deliver(this.tell(payment), `${payment.reference}.first`);
    await this.pause(this.moments(2_000));
    liar.hasTurned = true;
    if (liar.lie !== 'forgets') await this.deliver(this.tell(payment), `${payment.reference}.then`);
  }

  private async deliver(statement: KeyedReport, id: string): Promise<void> {
    while (!this.isStopping && !(await this.send(statement, id))) await this.pause(100);
  }

  protected override tell(payment: GatewayPayment): KeyedReport {
    const truth = super.tell(payment);
    const liar = this.liars.get(payment.key);
    if (liar?.hasTurned !== true) return truth;
    switch (liar.lie) {
      case 'denies_payment':
        return { ...truth, status: 'failed', failureCode: 'account_closed' };
      case 'claims_payment':
        return { ...truth, status: 'completed', failureCode: null };
      case 'renames':
        return { ...truth, reference: `${payment.reference}-b` };
      case 'forgets':
        return truth;
    }
  }

  protected override answer(request: GatewayRequest): ReturnType<BankGateway['answer']> {
    const { method, path } = request;
    const key = path.slice('/payouts/'.length) as Uuid;
    const liar = method === 'GET' ? this.liars.get(key) : undefined;
    return liar?.lie === 'forgets' && liar.hasTurned ? this.unknown(key) : super.answer(request);
  }
}
