import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
import type { Ledger } from '../ledgers/ledger.js';
import { RowFailed } from '../row-failed.js';
import type { ApiProcess } from './api-process.js';

const SHOWN_LETTERS = 1_000;

/** Single requests to the API, for when the answers matter rather than the rate. */
export class Client {
  private readonly base: string;
  private readonly token: string;

  constructor({ port }: Pick<ApiProcess, 'port'>, { token }: Pick<Ledger, 'token'>) {
    this.base = `http://127.0.0.1:${port}`;
    this.token = token;
  }

  /** Throws RowFailed for an unexpected status. */
  get(path: string): Promise<Response> {
    return this.send(200, path, {});
  }

  /** Sends the request with a new key. A form is sent as multipart, anything else as JSON; the body may be absent. */
  post(path: string, expectedStatus: number, body?: FormData | object): Promise<Response> {
    const headers = { 'Idempotency-Key': randomUUID() };
    if (body === undefined) return this.send(expectedStatus, path, { method: 'POST', headers });
    if (body instanceof FormData)
      return this.send(expectedStatus, path, { method: 'POST', headers, body });
    const json = { ...headers, 'Content-Type': 'application/json' };
    return this.send(expectedStatus, path, {
      method: 'POST',
      headers: json,
      body: JSON.stringify(body),
    });
  }

  put(path: string, body: object): Promise<Response> {
    const headers = { 'Content-Type': 'application/json' };
    return this.send(200, path, { method: 'PUT', headers, body: JSON.stringify(body) });
  }

  /** Downloads a file, and returns its bytes and seconds. Uses `http`, because fetch is slower than the service. */
  download(path: string): Promise<{ readonly seconds: number; readonly bytes: number }> {
    const began = performance.now();
    return new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${this.token}` };
      const request = get(this.base + path, { headers, agent: false }, (answer) => {
        let bytes = 0;
        answer.on('data', (piece: Buffer) => (bytes += piece.length));
        answer.once('error', reject);
        answer.once('end', () => {
          if (answer.statusCode === 200)
            resolve({ seconds: (performance.now() - began) / 1000, bytes });
          else reject(new RowFailed(`${path} answered ${answer.statusCode}`));
        });
      });
      request.once('error', reject);
    });
  }

  private async send(
    expectedStatus: number,
    path: string,
    {
      headers,
      ...init
    }: { method?: string; headers?: Record<string, string>; body?: FormData | string },
  ): Promise<Response> {
    const answer = await fetch(this.base + path, {
      ...init,
      headers: { ...headers, Authorization: `Bearer ${this.token}` },
    });
    if (answer.status === expectedStatus) return answer;
    const text = (await answer.text()).slice(0, SHOWN_LETTERS);
    throw new RowFailed(`${path} answered ${answer.status} and not ${expectedStatus}:\n${text}`);
  }
}
