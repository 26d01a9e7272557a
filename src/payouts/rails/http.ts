import type { Keyring } from '../../core/fingerprint.js';
import type { Uuid } from '../../core/ids.js';
import { type Clock, type Instant, toRfc3339 } from '../../core/instant.js';
import { traceHeaders } from '../../core/trace.js';
import type { RailStatement } from '../rules.js';
import { signed, type SignedMessage } from './signing.js';
import { type ListingRail, type RailOrder, type RailPage, RailSilent } from './types.js';
import {
  orderText,
  readPage,
  readStatement,
  saysCannotList,
  saysCannotVoid,
  saysUnknown,
} from './wire.js';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_PAGE_BYTES = 1024 * 1024;
const NOTHING = Buffer.alloc(0);

/** The paths of the protocol, below the gateway's address. */
export const PAYOUTS_PATH = '/payouts';
export const VOID = '/void';

/** The path of a page of the orders since then, after a key; the query is part of the path, and signed with it. */
function listPath(since: Instant, after: Uuid | null): string {
  return `${PAYOUTS_PATH}?since=${toRfc3339(since)}${after === null ? '' : `&after=${after}`}`;
}

/** A gateway by docs/payout-rail.md: all but a 2xx with a statement about this very key leaves the outcome unknown. */
export class HttpRail implements ListingRail {
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
    const { status, text } = await this.send(
      { method: 'POST', path: PAYOUTS_PATH, body },
      order.key,
    );
    return this.statement(order.key, status, text);
  }

  async status(key: Uuid): Promise<RailStatement | null> {
    const { status, text } = await this.send(
      { method: 'GET', path: `${PAYOUTS_PATH}/${key}`, body: NOTHING },
      key,
    );
    if (status === 404 && saysUnknown(text, key)) return null;
    return this.statement(key, status, text);
  }

  async void(key: Uuid): Promise<RailStatement | null> {
    const path = `${PAYOUTS_PATH}/${key}${VOID}`;
    const { status, text } = await this.send({ method: 'POST', path, body: NOTHING }, key);
    if (status === 501 && saysCannotVoid(text, key)) return null;
    return this.statement(key, status, text);
  }

  async list(since: Instant, after: Uuid | null): Promise<RailPage | null> {
    const message = { method: 'GET', path: listPath(since, after), body: NOTHING } as const;
    const { status, text } = await this.send(message, null, MAX_PAGE_BYTES);
    if (status === 501 && saysCannotList(text)) return null;
    const page = status >= 200 && status < 300 ? readPage(text) : null;
    if (page === null) throw new RailSilent(`${this.name} answered ${status} without a list`);
    return page;
  }

  private statement(key: Uuid, status: number, text: string): RailStatement {
    const said = status >= 200 && status < 300 ? readStatement(text) : null;
    if (said?.key !== key)
      throw new RailSilent(`${this.name} answered ${status} without a statement about the payout`);
    return said;
  }

  private async send(
    message: SignedMessage,
    key: Uuid | null,
    maxBytes = MAX_ANSWER_BYTES,
  ): Promise<{ status: number; text: string }> {
    const { method, path, body } = message;
    try {
      const response = await fetch(this.url + path, {
        method,
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          ...signed(this.keys[0], message, this.clock()),
          ...(key === null ? {} : { 'idempotency-key': key }),
          ...traceHeaders(),
          ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
        },
        ...(method === 'POST' ? { body } : {}),
      });
      return { status: response.status, text: await limitedText(response, maxBytes) };
    } catch (failure) {
      // Its message may contain the address, but nothing that was sent.
      const why = failure instanceof Error ? failure.name : 'failure';
      throw new RailSilent(`${this.name} gave no answer: ${why}`, { cause: failure });
    }
  }
}

/** The answer's text; a longer one does not count as an answer. */
export async function limitedText(
  response: Response,
  maxBytes = MAX_ANSWER_BYTES,
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
