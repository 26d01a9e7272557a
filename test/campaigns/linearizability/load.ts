import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LEAST } from '../../helpers/bank.js';
import { EXPIRES_IN_S, type Group } from './group.js';
import { type Actor, READS, type Request, type Response } from './history.js';

interface Load {
  /** Of each group. */
  readonly clients: number;
  /** The mean pause of a client between two requests, in milliseconds. */
  readonly pauseMs: number;
  /** Clients stop when this is false. */
  readonly goesOn: (sent: number) => boolean;
}

interface Known {
  readonly id: string;
  readonly creator: Actor;
  /** As the last response showed it. */
  status: string;
}

/** Transfers and requests that the clients of one group have seen. */
export interface Seen {
  readonly transfers: Map<string, Known>;
  readonly keyed: { readonly actor: Actor; readonly request: Request & { key: string } }[];
}

const ACTORS = ['owner', 'clerk'] as const;
const ASK_AGAIN_MS = 500;
/** A client whose request got no response asks again with the same key, but for this share. */
const GIVES_UP = 0.1;
const MOST = 7n;

const chance = (share: number): boolean => Math.random() < share;
const below = (count: number): number => Math.floor(Math.random() * count);
const pick = <T>(items: readonly T[]): T | undefined => items[below(items.length)];
const otherThan = (actor: Actor): Actor => (actor === 'owner' ? 'clerk' : 'owner');

/** Clients of a group send requests of every kind until they are stopped. */
export async function loadGroup(group: Group, { clients, pauseMs, goesOn }: Load): Promise<void> {
  const seen: Seen = { transfers: new Map(), keyed: [] };
  const work = async (): Promise<void> => {
    for (let sent = 0; goesOn(sent); sent += 1) {
      const { actor, request } = nextOf(group, seen);
      await ask(group, seen, actor, request);
      await sleep(pauseMs * 2 * Math.random());
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
}

/** Sends the next request once, to this process. */
export async function sendNext(group: Group, seen: Seen, baseUrl: string): Promise<void> {
  const { actor, request } = nextOf(group, seen);
  if ('key' in request) seen.keyed.push({ actor, request });
  const response = await group.send(actor, request, baseUrl);
  if (response !== null) see(seen, actor, request, response);
}

/** Repeats a request until its result is known, or the client gives up. */
async function ask(group: Group, seen: Seen, actor: Actor, request: Request): Promise<void> {
  if ('key' in request) seen.keyed.push({ actor, request });
  for (;;) {
    const response = await group.send(actor, request);
    if (response !== null) return see(seen, actor, request, response);
    if (READS.includes(request.kind) || chance(GIVES_UP)) return;
    await sleep(ASK_AGAIN_MS);
  }
}

function see({ transfers }: Seen, actor: Actor, request: Request, { body, details }: Response) {
  if (typeof body?.status === 'string') {
    const id = String(body.id);
    const known = transfers.get(id) ?? { id, creator: actor, status: '' };
    known.status = body.status;
    transfers.set(id, known);
  }
  const known = 'of' in request ? transfers.get(request.of) : undefined;
  if (known !== undefined && typeof details?.current === 'string') known.status = details.current;
}

function nextOf(group: Group, seen: Seen): { actor: Actor; request: Request } {
  const actor = pick(ACTORS)!;
  const made = (request: Request | null) => request && { actor, request };
  const way = Math.random();
  const next =
    (way < 0.12 && decision(seen)) ||
    (way < 0.22 && made(onStatus(seen, 'capture', 'held'))) ||
    (way < 0.34 && made(onStatus(seen, 'refund', 'completed'))) ||
    (way < 0.42 && repeated(seen)) ||
    (way < 0.62 && made({ kind: 'balances', account: below(group.accountCount) })) ||
    (way < 0.7 && made(readOf(seen)));
  return next || { actor, request: transfer(group) };
}

function transfer(group: Group): Request {
  const from = below(group.accountCount);
  const to = (from + 1 + below(group.accountCount - 1)) % group.accountCount;
  const raw = amount();
  const captureWithinS = chance(0.3) ? EXPIRES_IN_S : null;
  return { kind: 'transfer', key: randomUUID(), from, to, raw, captureWithinS };
}

function amount(): string {
  return (LEAST + BigInt(below(Number(MOST * LEAST)))).toString();
}

/** Approves, rejects or cancels. Transfers without a decision expire. */
function decision({ transfers }: Seen): { actor: Actor; request: Request } | null {
  const open = [...transfers.values()].filter(
    ({ status }) => status === 'pending_approval' || (status === 'held' && chance(0.3)),
  );
  const one = pick(open);
  if (one === undefined) return null;
  const actor = chance(0.9) ? otherThan(one.creator) : one.creator;
  const kind = chance(0.6) ? 'approve' : chance(0.5) ? 'reject' : 'cancel';
  if (kind === 'approve') return { actor, request: { kind, key: randomUUID(), of: one.id } };
  return { actor, request: { kind, of: one.id } };
}

/** Mostly of a transfer in this status. */
function onStatus({ transfers }: Seen, kind: 'capture' | 'refund', usual: string): Request | null {
  const isUsual = chance(0.9);
  const one = pick([...transfers.values()].filter(({ status }) => !isUsual || status === usual));
  if (one === undefined) return null;
  return { kind, key: randomUUID(), of: one.id, raw: chance(0.5) ? null : amount() };
}

/** Returns an earlier request once more, or another one with its key. */
function repeated({ keyed }: Seen): { actor: Actor; request: Request } | null {
  const one = pick(keyed);
  if (one === undefined || chance(0.7) || !('raw' in one.request)) return one ?? null;
  return { actor: one.actor, request: { ...one.request, raw: amount() } };
}

function readOf({ transfers }: Seen): Request | null {
  const one = pick([...transfers.values()]);
  return one === undefined ? null : { kind: 'read', of: one.id };
}
