import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { newId } from '../../src/core/ids.js';
import { type Answer, Connection } from '../../bench/load/connection.js';
import { type Endpoint, ENDPOINTS, makeTarget, methodOf, renewed, type Target } from '../access/matrix-endpoints.js';
import type { TestApi } from '../support/api.js';
import { type Bank, openBank } from '../support/bank.js';

interface TimingCampaign {
  /** Where tenants are made. */
  readonly api: TestApi;
  /** The process that is asked: the API's own or another's. */
  readonly baseUrl: string;
  /** Of each kind, at each endpoint. */
  readonly requests: number;
  /** How many standard errors a difference must have to be one. */
  readonly errors: number;
  /** All, unless said: `GET /v1/transfers/{id}`. */
  readonly routes?: readonly string[];
  /** Hears of each endpoint: with full counts a campaign takes an hour. */
  readonly onCompared?: (line: string) => void;
}

/** What a difference is, among so many endpoints, hardly ever by chance: once in some hundred campaigns. */
export const CERTAIN = 4.5;
/** The same for a campaign that runs often and on busy machines. */
export const BEYOND_DOUBT = 5;
/** With so many standard errors beyond the bar a difference is seen in 99 of 100 campaigns. */
const SEEN_NEARLY_ALWAYS = 2.33;
/** Endpoints at a time: each answer waits for a beat. */
const LANES = 16;
/** One of so many requests warms up what the others measure. */
const WARM_UP = 8;

/** What one endpoint showed: times in milliseconds. */
interface Compared {
  readonly route: string;
  /** How far the probability that a foreign id takes longer is from a half, in its standard errors. */
  readonly errors: number;
  /** The least shift between the two kinds that would have been seen in 99 of 100 campaigns. */
  readonly seenMs: number;
}

/**
 * Asks for another tenant's ids and for ids that nobody has, in random order, and compares how long the answers take, by ranks
 * (Mann and Whitney): no assumption of how times are spread, and no figure of a machine. Nothing shows whether an id is there.
 */
export async function timingCampaign(wanted: TimingCampaign): Promise<string> {
  const { api, baseUrl, requests, errors, routes, onCompared } = wanted;
  const network = `net-${randomUUID()}`;
  const bank = await openBank(api, { network });
  await makeTarget(bank);
  const foreign = await makeTarget(await openBank(api, { network }));
  const nobodys = missing();
  // Whose ids come after: past the last one an index looks on, at a page that is not there.
  await makeTarget(await openBank(api, { network }));
  const compared: Compared[] = [];
  const rest = ENDPOINTS.filter((one) => namesSomething(one) && (routes?.includes(one.route) ?? true)).values();
  const lane = async (): Promise<void> => {
    for (const endpoint of rest) {
      const target = await renewed(endpoint, foreign);
      const one = await compare(
        { bank, baseUrl, endpoint, requests, bar: errors },
        { foreign: target, missing: nobodys },
      );
      onCompared?.(`${one.route}: ${one.errors.toFixed(1)} standard errors`);
      compared.push(one);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const seen = compared.filter((one) => Math.abs(one.errors) > errors);
  assert.deepEqual(
    seen.map(({ route, errors: found }) => `${route}: ${found.toFixed(1)} standard errors`),
    [],
    'whether an id is there can be seen in the time',
  );
  const shifts = compared.map(({ seenMs }) => seenMs).sort((a, b) => a - b);
  const [least = 0, most = 0] = [shifts[0], shifts.at(-1)];
  const farthest = Math.max(...compared.map((one) => Math.abs(one.errors)));
  return (
    `${compared.length} endpoints, ${requests} requests for foreign ids and as many for missing ones at each: no difference ` +
    `(farthest ${farthest.toFixed(1)} standard errors of ${errors}); a shift of ${micros(least)} to ${micros(most)} µs, by ` +
    'endpoint, would have been seen in 99 of 100 campaigns'
  );
}

function namesSomething({ route, namesNothing, ask: asking }: Endpoint): boolean {
  if (namesNothing === true || !(route.includes('{') || route.startsWith('POST'))) return false;
  // A form is read and hashed before anything is looked up: its own time hides every other.
  return asking(missing()).form === undefined;
}

interface Comparison {
  readonly bank: Bank;
  readonly baseUrl: string;
  readonly endpoint: Endpoint;
  readonly requests: number;
  readonly bar: number;
}

type Targets = Readonly<Record<'foreign' | 'missing', Target>>;
type Texts = Readonly<Record<'foreign' | 'missing', string>>;

async function compare({ bank, baseUrl, endpoint, requests, bar }: Comparison, targets: Targets): Promise<Compared> {
  const times: Record<'foreign' | 'missing', number[]> = { foreign: [], missing: [] };
  // A general client's own time would hide more of the service's.
  const client = await openClient(baseUrl);
  // Both are made before either is sent: what the campaign itself has just done shows in the next answer's time.
  const pair = (): Texts => ({
    foreign: textOf(endpoint, targets.foreign, bank.token),
    missing: textOf(endpoint, targets.missing, bank.token),
  });
  const one = async (text: string): Promise<number> => {
    const began = performance.now();
    const answer = await client.request(text);
    const ms = performance.now() - began;
    assert(answer.status === 404 && answer.text.includes('"not_found"'), answer.text);
    return ms;
  };
  for (let count = 0; count < requests / WARM_UP; count += 2) for (const text of Object.values(pair())) await one(text);
  for (let count = 0; count < requests; count += 1) {
    // Each pair in an order of its own, so that what the machine does beside it falls on both alike.
    const order = Math.random() < 0.5 ? (['foreign', 'missing'] as const) : (['missing', 'foreign'] as const);
    const texts = pair();
    for (const kind of order) times[kind].push(await one(texts[kind]));
  }
  client.close();
  const { foreign: theirs, missing: nobodys } = times;
  const needed = (bar + SEEN_NEARLY_ALWAYS) * standardError(theirs.length, nobodys.length);
  return {
    route: endpoint.route,
    errors: (probabilityOfLonger(theirs, nobodys) - 0.5) / standardError(theirs.length, nobodys.length),
    seenMs: shiftThatShows(nobodys, needed),
  };
}

/** One connection that is kept. */
async function openClient(baseUrl: string): Promise<{ request(text: string): Promise<Answer>; close(): void }> {
  let fail: (reason: Error) => void = () => undefined;
  const connection = await Connection.open(Number(new URL(baseUrl).port), (reason) => fail(reason));
  return {
    request: (text) =>
      new Promise((resolve, reject) => {
        fail = reject;
        connection.send(Buffer.from(text), resolve);
      }),
    close: () => connection.close(),
  };
}

function textOf(endpoint: Endpoint, target: Target, token: string): string {
  const { path, body } = endpoint.ask(target);
  const method = methodOf(endpoint);
  const sent = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const headers = [
    `${method} ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    `authorization: Bearer ${token}`,
    ...(method === 'POST' ? [`idempotency-key: ${randomUUID()}`] : []),
    ...(sent === '' ? [] : ['content-type: application/json']),
    ...(method === 'GET' ? [] : [`content-length: ${Buffer.byteLength(sent)}`]),
  ];
  return `${headers.join('\r\n')}\r\n\r\n${sent}`;
}

/** Of the probability below, where the two are alike. */
export function standardError(first: number, second: number): number {
  return Math.sqrt((first + second + 1) / (12 * first * second));
}

/** The probability that a value of the first is above one of the second; equal ones count half. */
export function probabilityOfLonger(first: readonly number[], second: readonly number[]): number {
  const sorted = second.toSorted((a, b) => a - b);
  const below = (value: number, orEqual: boolean): number => {
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const at = sorted[middle] ?? 0;
      if (at < value || (orEqual && at === value)) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  const sum = first.reduce((total, value) => total + (below(value, false) + below(value, true)) / 2, 0);
  return sum / (first.length * second.length);
}

/** The least shift of these times by which the probability leaves a half so far. */
function shiftThatShows(times: readonly number[], needed: number): number {
  const shows = (shift: number): boolean =>
    probabilityOfLonger(
      times.map((time) => time + shift),
      times,
    ) -
      0.5 >=
    needed;
  let [least, most] = [0, 1];
  while (!shows(most) && most < 10_000) most *= 2;
  for (let round = 0; round < 20; round += 1) {
    const middle = (least + most) / 2;
    if (shows(middle)) most = middle;
    else least = middle;
  }
  return most;
}

const micros = (ms: number): string => Math.ceil(ms * 1_000).toString();

/** As new as those that are there, and asked for as often: an index finds both in the same place, equally warm. */
function missing(): Target {
  return {
    account: { id: newId() },
    other: { id: newId() },
    transferId: newId(),
    pendingId: newId(),
    bonusId: newId(),
    batchId: newId(),
    payoutId: newId(),
    rejectedBatchId: newId(),
    readyBatchId: newId(),
    eventId: newId(),
    alias: `$x${randomUUID().slice(-12)}`,
    webhookId: newId(),
    spareWebhookId: newId(),
    statementId: newId(),
    requestId: newId(),
  };
}
