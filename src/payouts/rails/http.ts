import type { Keyring } from '../../core/fingerprint.js';
import type { Uuid } from '../../core/ids.js';
import type { Clock } from '../../core/instant.js';
import type { RailStatement } from '../rules.js';
import { signed, type SignedMessage } from './signing.js';
import { type Rail, type RailOrder, RailSilent } from './types.js';
import { orderText, readStatement, saysCannotVoid, saysUnknown } from './wire.js';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/** The paths of the protocol, below the gateway's address. */
export const PAYOUTS_PATH = '/payouts';
export const VOID = '/void';

/**
 * A gateway that speaks docs/payout-rail.md. Only a 2xx with a statement about the very key is an answer; whatever else comes,
 * or does not come, leaves the outcome unknown.
 */
export class HttpRail implements Rail {
  private readonly url: string;

  /** `url` is the gateway's address; the first key signs. */
  constructor(
    private readonly name: string,
    url: string,
    private readonly keys: Keyring,
    private readonly clock: Clock,
  ) {
    this.url = url.replace(/\/+$/, '');
  }

  async submit(order: RailOrder): Promise<RailStatement> {
    const body = Buffer.from(orderText(order));
    const { status, text } = await this.send({ method: 'POST', path: PAYOUTS_PATH, body }, order.key);
    return this.statement(order.key, status, text);
  }

  async status(key: Uuid): Promise<RailStatement | null> {
    const { status, text } = await this.send({ method: 'GET', path: `${PAYOUTS_PATH}/${key}`, body: NOTHING }, key);
    if (status === 404 && saysUnknown(text, key)) return null;
    return this.statement(key, status, text);
  }

  async void(key: Uuid): Promise<RailStatement | null> {
    const path = `${PAYOUTS_PATH}/${key}${VOID}`;
    const { status, text } = await this.send({ method: 'POST', path, body: NOTHING }, key);
    if (status === 501 && saysCannotVoid(text, key)) return null;
    return this.statement(key, status, text);
  }

  private statement(key: Uuid, status: number, text: string): RailStatement {
    const said = status >= 200 && status < 300 ? readStatement(text) : null;
    if (said?.key !== key) throw new RailSilent(`${this.name} answered ${status} without a statement about the payout`);
    return said;
  }

  private async send(message: SignedMessage, key: Uuid): Promise<{ status: number; text: string }> {
    const { method, path, body } = message;
    try {
      const response = await fetch(this.url + path, {
        method,
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          ...signed(this.keys[0], message, this.clock()),
          'idempotency-key': key,
          ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
        },
        ...(method === 'POST' ? { body } : {}),
      });
      return { status: response.status, text: await limitedText(response) };
    } catch (failure) {
      // Its message may hold the address, and nothing of what was sent.
      const why = failure instanceof Error ? failure.name : 'failure';
      throw new RailSilent(`${this.name} gave no answer: ${why}`, { cause: failure });
    }
  }
}

/** The answer, of which more than 64 KiB is none. */
export async function limitedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw new RangeError('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
