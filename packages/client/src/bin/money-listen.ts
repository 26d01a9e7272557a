#!/usr/bin/env node
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { MoneyClient } from '../client.js';
import { type Forwarded, forwardEvents } from '../forward.js';
import { EVENT_TYPES } from '../generated/constants.js';
import type { EventType } from '../follow.js';
import { newWebhookSecret } from '../webhooks.js';
import { plain, program, UsageError } from './program.js';

const USAGE = `money-listen --url https://api.example.com --forward-to http://localhost:3000/hooks

Follows the log of events and delivers each to your receiver, signed as the service signs, with the secret that it prints.
Nothing has to reach you from outside.

  --url URL          where the API is
  --token TOKEN      with the scope read or webhooks; better in SVC_TOKEN, where nobody sees it
  --forward-to URL   your receiver
  --secret whsec_…   to sign with, instead of a new one
  --events A,B       these types; by default all that a webhook endpoint can have
  --from WHERE       now (by default), start, or a position that it printed
  --json             a line of JSON for each delivery`;

const OPTIONS = {
  url: { type: 'string' },
  token: { type: 'string' },
  'forward-to': { type: 'string' },
  secret: { type: 'string' },
  events: { type: 'string' },
  from: { type: 'string' },
  json: { type: 'boolean' },
} as const;

await program(USAGE, async (args) => {
  const { values } = parseArgs({ args, options: OPTIONS });
  const token = values.token ?? process.env.SVC_TOKEN;
  const { url, 'forward-to': to, secret = newWebhookSecret(), from = 'now', json = false } = values;
  if (token === undefined) throw new UsageError('a token is needed: SVC_TOKEN, or --token');
  if (url === undefined || !URL.canParse(url))
    throw new UsageError('--url must say where the API is');
  if (to === undefined || !URL.canParse(to))
    throw new UsageError('--forward-to must say where your receiver is');
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret))
    throw new UsageError('--secret must be whsec_ and base64');
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  const client = new MoneyClient({ baseUrl: url, token });
  // Not shown if it was given, because it may be in use elsewhere.
  const shown = values.secret === undefined ? secret : 'the given secret';
  process.stderr.write(`Following the log of ${url}. Signing with ${shown}\n`);
  const { signal } = stopping;
  const following =
    from === 'start' ? {} : { from: from === 'now' ? await client.headOfEvents() : from };
  for await (const one of forwardEvents({
    client,
    to,
    secret,
    signal,
    ...following,
    ...typesOf(values.events),
  })) {
    const line = json ? jsonOf(one) : lineOf(one);
    // Waits for a slow reader.
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
  }
});

function typesOf(list: string | undefined): { types?: readonly EventType[] } {
  if (list === undefined) return {};
  return {
    types: list.split(',').map((name) => {
      const type = EVENT_TYPES.find((known) => known === name);
      if (type === undefined)
        throw new UsageError(
          `there is no event ${plain(name)}; there are ${EVENT_TYPES.join(', ')}`,
        );
      return type;
    }),
  };
}

function lineOf({ event, status, said, ms }: Forwarded): string {
  const answer = status === null ? `NO ANSWER: ${plain(said)}` : `${status} in ${ms} ms`;
  const why = status === null || status < 300 || said === '' ? '' : `  ${plain(said)}`;
  return `${event.created_at}  ${event.type}  #${event.sequence}  ${event.id}  →  ${answer}${why}`;
}

function jsonOf({ event, position, status, said, ms }: Forwarded): string {
  const { id, type, sequence } = event;
  return JSON.stringify({ id, type, sequence, status, said, ms, position });
}
