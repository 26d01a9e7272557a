import type { Keyring, SecretKey } from '../../src/core/fingerprint.js';
import type { Uuid } from '../../src/core/ids.js';
import { type Clock, instant } from '../../src/core/instant.js';
import { limitedText, PAYOUTS_PATH, RESOLVE_PATH, VOID } from '../../src/payouts/rails/http.js';
import {
  isAbout,
  isUnknownKey,
  keyJson,
  type KeyedReport,
  orderText,
  railHeaders,
  readHolder,
  readReport,
  type SignedMessage,
} from '../../src/payouts/rails/wire.js';
import type { RecipientKey } from '../../src/payouts/rails/destinations.js';
import type { KeyHolder, RailOrder } from '../../src/payouts/rails/rail.js';

/** Thrown if the gateway does not follow docs/payout-rail.md. The message describes what it did. */
export class Violation extends Error {
  override name = 'Violation';
}

/** Overrides for signing a message wrongly. */
export interface Signing {
  readonly key?: SecretKey;
  readonly awayS?: number;
  /** Text that is signed instead of the body. */
  readonly body?: Buffer;
  readonly isUnsigned?: boolean;
}

interface ProbeAnswer {
  /** `POST /payouts`, for messages about it. */
  readonly request: string;
  readonly status: number;
  readonly text: string;
}

const TIMEOUT_MS = 10_000;
const NOTHING = Buffer.alloc(0);
const ACCEPTED_STATUSES = [200, 201, 202];

/**
 * Calls a gateway with valid and with invalid requests. Every operation throws Violation if the
 * gateway does not answer.
 */
export class Probe {
  private readonly url: string;

  constructor(
    url: string,
    readonly keys: Keyring,
    private readonly clock: Clock,
  ) {
    this.url = url.replace(/\/+$/, '');
  }

  order(order: RailOrder | string, signing?: Signing): Promise<ProbeAnswer> {
    const body = Buffer.from(typeof order === 'string' ? order : orderText(order));
    return this.send({ method: 'POST', path: PAYOUTS_PATH, body }, signing);
  }

  get(key: Uuid, signing?: Signing): Promise<ProbeAnswer> {
    return this.send({ method: 'GET', path: `${PAYOUTS_PATH}/${key}`, body: NOTHING }, signing);
  }

  resolve(recipient: RecipientKey | string, signing?: Signing): Promise<ProbeAnswer> {
    const text = typeof recipient === 'string' ? recipient : JSON.stringify(keyJson(recipient));
    return this.send({ method: 'POST', path: RESOLVE_PATH, body: Buffer.from(text) }, signing);
  }

  void(key: Uuid, signing?: Signing): Promise<ProbeAnswer> {
    return this.send(
      { method: 'POST', path: `${PAYOUTS_PATH}/${key}${VOID}`, body: NOTHING },
      signing,
    );
  }

  private async send(message: SignedMessage, signing: Signing = {}): Promise<ProbeAnswer> {
    const { method, path, body } = message;
    const { key = this.keys[0], awayS = 0, isUnsigned = false } = signing;
    const at = instant(this.clock() + awayS * 1_000);
    const request = `${method} ${path}`;
    try {
      const response = await fetch(this.url + path, {
        method,
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          ...(isUnsigned ? {} : railHeaders(key, { ...message, body: signing.body ?? body }, at)),
          ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
        },
        ...(method === 'POST' ? { body } : {}),
      });
      return { request, status: response.status, text: await limitedText(response) };
    } catch (failure) {
      throw new Violation(`${request} was not answered: ${reasonOf(failure)}`);
    }
  }
}

function reasonOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  return failure.cause instanceof Error ? failure.cause.message : failure.message;
}

/** Returns the statement about the key. Throws Violation without one. */
export function statement(answer: ProbeAnswer, key: Uuid): KeyedReport {
  const report = ACCEPTED_STATUSES.includes(answer.status) ? readReport(answer.text) : null;
  if (report?.key === key) return report;
  throw new Violation(`${describeAnswer(answer)}, which is no statement about the key`);
}

/** Returns who holds the key; null if the gateway does not know it. Throws Violation. */
export function holderOf(answer: ProbeAnswer, key: string): KeyHolder | null {
  if (answer.status === 404 && isUnknownKey(key, answer.text)) return null;
  const holder = answer.status === 200 ? readHolder(key, answer.text) : null;
  if (holder !== null) return holder;
  throw new Violation(`${describeAnswer(answer)}, which does not say who holds the key`);
}

/** Returns the statement after a void; null if the gateway cannot void. */
export function voidStatement(answer: ProbeAnswer, key: Uuid): KeyedReport | null {
  return answer.status === 501 && isAbout(key, 'cannot_void', answer.text)
    ? null
    : statement(answer, key);
}

/** Throws Violation unless it is the protocol's 404. */
export function mustBeUnknown(answer: ProbeAnswer, key: Uuid): void {
  if (answer.status !== 404 || !isAbout(key, 'unknown', answer.text))
    throw new Violation(`${describeAnswer(answer)}, and not 404 with the status "unknown"`);
}

export function mustAnswer(answer: ProbeAnswer, status: number, what: string): void {
  if (answer.status !== status)
    throw new Violation(`${what}: ${describeAnswer(answer)}, and not ${status}`);
}

const SHOWN = 120;

function describeAnswer({ request, status, text }: ProbeAnswer): string {
  // Only plain characters reach the terminal.
  const plain = text.slice(0, SHOWN).replace(/[^\x20-\x7e]/g, '?');
  return `${request} was answered ${status} ${plain}`.trimEnd();
}
