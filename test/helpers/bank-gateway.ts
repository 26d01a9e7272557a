import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import getRawBody from 'raw-body';
import {
  callbackText,
  holderText,
  readOrder,
  readResolve,
  reportText,
  unknownText,
} from '../../development/simulated-rail/wire.js';
import type { Keyring } from '../../src/core/fingerprint.js';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import type { RecipientKey } from '../../src/payouts/rails/destinations.js';
import { PAYOUTS_PATH, RESOLVE_PATH, VOID } from '../../src/payouts/rails/http.js';
import type { FailureCode, KeyHolder } from '../../src/payouts/rails/rail.js';
import {
  type KeyedReport,
  type RailHeaders,
  railHeaders,
  verify,
} from '../../src/payouts/rails/wire.js';
import type { RailOrder } from '../../src/payouts/rails/rail.js';
import type { RailReport } from '../../src/payouts/rails/rail.js';
import { listenAt } from './service-process.js';

/** A payment as the gateway has it; one for each key. */
export interface GatewayPayment {
  readonly key: Uuid;
  readonly reference: string;
  status: RailReport['status'];
  failureCode?: FailureCode;
}

/** Movements of money, in their order. */
interface GatewayAct {
  readonly key: Uuid;
  readonly what: 'paid' | 'failed' | 'voided';
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The fate of an order, this long after it was accepted; 0: at once. */
interface GatewayPlan {
  readonly afterMs: number;
  readonly status: 'completed' | 'failed';
}

export interface GatewayAnswer {
  readonly status: number;
  readonly text: string;
}

export interface GatewayRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

const LATER_MS = 300;
const RETRY_MS = 50;

/**
 * A gateway in memory that speaks docs/payout-rail.md and does what it asks. What shall go wrong is said by overriding: each
 * method is one of the promises.
 */
export class BankGateway {
  readonly payments = new Map<Uuid, GatewayPayment>();
  readonly acts: GatewayAct[] = [];
  /** Where its callbacks go. */
  serviceUrl = '';
  url = '';
  private readonly server = createServer((request, response) => {
    this.serve(request, response).catch(() => response.destroy());
  });
  private readonly stopping = new AbortController();
  private references = 0;

  constructor(
    readonly name: string,
    readonly keys: Keyring,
  ) {}

  async start(): Promise<this> {
    this.url = `http://127.0.0.1:${await listenAt(this.server)}`;
    return this;
  }

  stop(): void {
    this.stopping.abort();
    this.server.close();
    this.server.closeAllConnections();
  }

  /** How often it paid the key. */
  paidTimes(key: Uuid): number {
    return this.acts.filter((act) => act.key === key && act.what === 'paid').length;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await getRawBody(request);
    const method = request.method === 'POST' ? 'POST' : 'GET';
    await this.respond(
      { method, path: request.url ?? '', headers: request.headers, body },
      response,
    );
  }

  protected respond(request: GatewayRequest, response: ServerResponse): Promise<void> {
    const { status, text } = this.answer(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    return Promise.resolve();
  }

  protected answer(request: GatewayRequest): GatewayAnswer {
    if (!this.isGenuine(request)) return { status: 401, text: '{}' };
    const { method, path, body } = request;
    if (method === 'POST' && path === PAYOUTS_PATH) {
      const order = this.read(body.toString('utf8'));
      return order === null ? { status: 400, text: '{}' } : answerOf(this.take(order));
    }
    if (method === 'POST' && path === RESOLVE_PATH) {
      const recipient = readResolve(body.toString('utf8'));
      return recipient === null ? { status: 400, text: '{}' } : this.holderAnswer(recipient);
    }
    const key = asUuid(path.slice(PAYOUTS_PATH.length + 1).replace(VOID, ''));
    if (method === 'POST') return answerOf(this.void(key));
    const payment = this.payments.get(key);
    return payment === undefined ? this.unknown(key) : answerOf(this.tell(payment));
  }

  protected isGenuine({ headers, ...message }: GatewayRequest): boolean {
    return verify(this.keys, headers, message, systemClock()) === 'genuine';
  }

  protected read(text: string): RailOrder | null {
    return readOrder(text);
  }

  protected take(order: RailOrder): KeyedReport {
    return this.tell(this.payments.get(order.key) ?? this.refuse(order) ?? this.pay(order));
  }

  protected holderAnswer(recipient: RecipientKey): GatewayAnswer {
    const found = this.holderOf(recipient);
    return { status: found === null ? 404 : 200, text: holderText(recipient.key, found) };
  }

  /** As the simulated rail: a key that ends with 08 has no holder. */
  protected holderOf({ key }: RecipientKey): KeyHolder | null {
    const account = { bankCode: '0007', accountType: 'savings' } as const;
    return key.endsWith('08') ? null : { holder: 'H-1', holderName: 'Luz Rojas', ...account };
  }

  /** Never pays a key to another holder than the named one. */
  protected refuse({ key, destination: to }: RailOrder): GatewayPayment | null {
    if (to.type === 'bank_account' || to.holder === null) return null;
    if (this.holderOf(to)?.holder === to.holder) return null;
    const payment = this.newPayment(key, 'accepted');
    payment.failureCode = 'recipient_changed';
    this.settle(payment, 'failed');
    return payment;
  }

  /** Makes the payment of a new order. */
  protected pay(order: RailOrder): GatewayPayment {
    const payment = this.newPayment(order.key, 'accepted');
    const { afterMs, status } = this.plan(order);
    if (afterMs === 0) this.settle(payment, status);
    else void this.settleLater(payment, status, afterMs);
    return payment;
  }

  protected newPayment(key: Uuid, status: GatewayPayment['status']): GatewayPayment {
    this.references += 1;
    const payment = { key, reference: `B-${this.references}`, status };
    this.payments.set(key, payment);
    return payment;
  }

  /** As the simulated rail: an account that ends with 06 is paid later. */
  protected plan({ destination: to }: RailOrder): GatewayPlan {
    const number = to.type === 'bank_account' ? to.accountNumber : to.key;
    return {
      afterMs: number.endsWith('06') ? LATER_MS : 0,
      status: 'completed',
    };
  }

  protected settle(payment: GatewayPayment, status: GatewayPlan['status']): void {
    if (payment.status !== 'accepted') return;
    payment.status = status;
    this.act(payment.key, status === 'completed' ? 'paid' : 'failed');
  }

  protected act(key: Uuid, what: GatewayAct['what']): void {
    this.acts.push({ key, what, at: Date.now() });
  }

  protected async settleLater(
    payment: GatewayPayment,
    status: GatewayPlan['status'],
    afterMs: number,
  ): Promise<void> {
    await this.pause(afterMs);
    if (this.isStopping || payment.status !== 'accepted') return;
    this.settle(payment, status);
    await this.callBack(payment);
  }

  protected void(key: Uuid): KeyedReport {
    const payment = this.payments.get(key) ?? this.newPayment(key, 'accepted');
    if (payment.status === 'accepted') {
      payment.status = 'voided';
      this.act(key, 'voided');
    }
    return this.tell(payment);
  }

  protected unknown(key: Uuid): GatewayAnswer {
    return { status: 404, text: unknownText(key) };
  }

  protected tell({ key, status, reference, ...payment }: GatewayPayment): KeyedReport {
    const { failureCode: why = 'account_closed' } = payment;
    const failureCode = status === 'failed' || status === 'returned' ? why : null;
    return { key, status, reference, failureCode };
  }

  /** Tells what became of it until the service has taken it. */
  protected async callBack(payment: GatewayPayment): Promise<void> {
    for (let times = 0; !this.isStopping; times += 1) {
      if (await this.send(this.tell(payment), this.callbackId(payment, times))) return;
      await this.pause(RETRY_MS);
    }
  }

  protected callbackId({ reference, status }: GatewayPayment, _times: number): string {
    return `${reference}.${status}`;
  }

  /** True when it need not be sent again. */
  protected async send(statement: KeyedReport, callbackId: string): Promise<boolean> {
    const path = `/rails/${this.name}/callbacks`;
    const body = Buffer.from(callbackText({ ...statement, callbackId }));
    try {
      const headers = { 'content-type': 'application/json', ...this.sign(path, body) };
      const { signal } = this.stopping;
      const response = await fetch(this.serviceUrl + path, {
        method: 'POST',
        body,
        headers,
        signal,
      });
      await response.arrayBuffer();
      return response.status !== 503;
    } catch {
      return this.isStopping;
    }
  }

  protected sign(path: string, body: Buffer): RailHeaders {
    return railHeaders(this.keys[0], { method: 'POST', path, body }, systemClock());
  }

  protected pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }

  protected get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }
}

export function answerOf(statement: KeyedReport): GatewayAnswer {
  return { status: 200, text: reportText(statement) };
}
