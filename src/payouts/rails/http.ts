import type { Keyring } from '../../core/fingerprint.js';
import type { Uuid } from '../../core/ids.js';
import { type Clock, type Instant, toRfc3339 } from '../../core/instant.js';
import { traceHeaders } from '../../core/trace.js';
import { DEFAULT_RESOLVE_WITHIN_MS, type RecipientKey } from './destinations.js';
import {
  cannotList,
  isAbout,
  isUnknownKey,
  keyJson,
  orderText,
  railHeaders,
  readHolder,
  readPage,
  readReport,
  type SignedMessage,
} from './wire.js';
import {
  type KeyHolder,
  type Rail,
  type RailOrder,
  type RailPage,
  type RailReport,
  RailUnresponsive,
} from './rail.js';

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_PAGE_BYTES = 1024 * 1024;
const EMPTY_BODY = Buffer.alloc(0);

interface RailResponse {
  readonly status: number;
  readonly text: string;
}

export const PAYOUTS_PATH = '/payouts';
export const VOID = '/void';
export const RESOLVE_PATH = '/resolve';

function listPath(since: Instant, after: Uuid | null): string {
  return `${PAYOUTS_PATH}?since=${toRfc3339(since)}${after === null ? '' : `&after=${after}`}`;
}

/** Calls a gateway (docs/payout-rail.md). Only a 2xx response about the key shows the outcome. */
export class HttpRail implements Rail {
  private readonly url: string;

  constructor(
    private readonly name: string,
    url: string,
    private readonly keys: Keyring,
    private readonly clock: Clock,
    private readonly resolveWithinMs = DEFAULT_RESOLVE_WITHIN_MS,
  ) {
    this.url = url.replace(/\/+$/, '');
  }

  async submit(order: RailOrder): Promise<RailReport> {
    const body = Buffer.from(orderText(order));
    const message = { method: 'POST', path: PAYOUTS_PATH, body } as const;
    return this.report(order.key, await this.send(message, order.key));
  }

  async status(key: Uuid): Promise<RailReport | null> {
    const message = { method: 'GET', path: `${PAYOUTS_PATH}/${key}`, body: EMPTY_BODY } as const;
    const response = await this.send(message, key);
    return response.status === 404 && isAbout(key, 'unknown', response.text)
      ? null
      : this.report(key, response);
  }

  async void(key: Uuid): Promise<RailReport | null> {
    const path = `${PAYOUTS_PATH}/${key}${VOID}`;
    const response = await this.send({ method: 'POST', path, body: EMPTY_BODY }, key);
    return response.status === 501 && isAbout(key, 'cannot_void', response.text)
      ? null
      : this.report(key, response);
  }

  async list(since: Instant, after: Uuid | null): Promise<RailPage | null> {
    const message = { method: 'GET', path: listPath(since, after), body: EMPTY_BODY } as const;
    const { status, text } = await this.send(message, null, { maxBytes: MAX_PAGE_BYTES });
    if (status === 501 && cannotList(text)) return null;
    const page = status >= 200 && status < 300 ? readPage(text) : null;
    if (page === null) throw new RailUnresponsive(`${this.name} answered ${status} without a list`);
    return page;
  }

  /** The request has a body, because paths are logged on their way. */
  async resolve(recipient: RecipientKey): Promise<KeyHolder | null> {
    const body = Buffer.from(JSON.stringify(keyJson(recipient)));
    const message = { method: 'POST', path: RESOLVE_PATH, body } as const;
    const limits = { withinMs: this.resolveWithinMs };
    const { status, text } = await this.send(message, null, limits);
    if (status === 404 && isUnknownKey(recipient.key, text)) return null;
    const holder = status === 200 ? readHolder(recipient.key, text) : null;
    if (holder === null)
      throw new RailUnresponsive(`${this.name} answered ${status} without the holder of the key`);
    return holder;
  }

  private report(key: Uuid, { status, text }: RailResponse): RailReport {
    const report = status >= 200 && status < 300 ? readReport(text) : null;
    if (report?.key !== key)
      throw new RailUnresponsive(
        `${this.name} answered ${status} without a statement about the payout`,
      );
    return report;
  }

  private async send(
    message: SignedMessage,
    key: Uuid | null,
    { maxBytes = MAX_RESPONSE_BYTES, withinMs = TIMEOUT_MS } = {},
  ): Promise<RailResponse> {
    const { method, path, body } = message;
    try {
      const response = await fetch(this.url + path, {
        method,
        redirect: 'manual',
        signal: AbortSignal.timeout(withinMs),
        headers: {
          ...railHeaders(this.keys[0], message, this.clock()),
          ...(key === null ? {} : { 'idempotency-key': key }),
          ...traceHeaders(),
          ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
        },
        ...(method === 'POST' ? { body } : {}),
      });
      return { status: response.status, text: await limitedText(response, maxBytes) };
    } catch (failure) {
      // The failure's message may contain the address, so only its name is reported.
      const why = failure instanceof Error ? failure.name : 'failure';
      throw new RailUnresponsive(`${this.name} gave no answer: ${why}`, { cause: failure });
    }
  }
}

/** Returns the body as text. Throws RangeError if it is longer than `maxBytes`. */
export async function limitedText(
  response: Response,
  maxBytes = MAX_RESPONSE_BYTES,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new RangeError('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
