import { once } from 'node:events';
import type { Command } from 'commander';
import { z } from 'zod';
import { type Instant, toRfc3339 } from '../../core/instant.js';
import { serveGateway } from '../../payouts/rails/gateway.js';
import { httpRail, OWN_RAILS, SIMULATED } from '../../payouts/rails/rules.js';
import { SimulatedRail } from '../../payouts/rails/simulated.js';
import { simulatedStatement } from '../../payouts/rails/statement.js';
import { listRails, type RailStanding } from '../../support/reading/rails.js';
import { addQuery, group } from '../command.js';
import { OpsError } from '../failures.js';
import { text, wholeNumber } from '../inputs.js';
import type { Fields } from '../output.js';
import { addRailCheck } from './rails-check.js';
import { day } from './reconcile.js';

export function addRailCommands(program: Command): void {
  const own = group(program, 'rails', 'the ways by which payouts reach bank accounts');
  addList(own);
  addQuery(own, {
    usage: 'simulate',
    summary: 'serve the simulated rail over HTTP, as a gateway would: a reference for your own',
    explanation: `
It speaks the protocol of docs/payout-rail.md, with the keys that PAYOUT_RAIL_KEYS has for the name, and keeps its payments
in the database. What it does follows from the account number's ending (docs/payouts.md). Ctrl-C ends it.`,
    options: [
      ['--name <name>', 'its name in PAYOUT_RAILS, without http:'],
      ['--port <port>', 'the loopback port that it listens on'],
      ['--service <url>', 'where the service is, for its callbacks (default: http://127.0.0.1:8080)'],
    ],
    examples: ['rails simulate --name bank-a --port 9999'],
    input: z.object({
      name: text,
      port: wholeNumber(0, 65_535),
      service: z.url({ error: 'must be an address' }).default('http://127.0.0.1:8080'),
    }),
    run: async ({ database, clock, output, gateways }, { name, port, service }) => {
      const keys = gateways.keys.get(name);
      if (keys === undefined) throw new OpsError(`PAYOUT_RAIL_KEYS has no key of ${name}`);
      const rail = new SimulatedRail(database, clock, `gateway:${name}`);
      const onLine = (line: string): void => output.say(line);
      const running = await serveGateway(rail, clock, { name, port, keys, serviceUrl: service, onLine });
      output.say(`${name} listens on http://127.0.0.1:${running.port}`);
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
      await running.stop();
    },
  });
  addRailCheck(own);
  addQuery(own, {
    usage: 'statement',
    summary: "the simulated rail's own statement of a day, as CSV: what payouts reconcile reads",
    options: [
      ['--date <day>', 'the day, UTC: 2026-11-21'],
      ['--name <name>', 'of a rail served by rails simulate (default: the built-in one)'],
    ],
    examples: ['rails statement --date 2026-11-21', 'rails statement --date 2026-11-21 --name bank-a'],
    input: z.object({ date: day, name: text.optional() }),
    run: async ({ database, clock, output }, { date, name }) => {
      const rail = name === undefined ? SIMULATED : `gateway:${name}`;
      for await (const piece of simulatedStatement(database.reader, rail, date, clock())) output.verbatim(piece);
    },
  });
}

function addList(own: Command): void {
  addQuery(own, {
    usage: 'list',
    isDefault: true,
    summary: 'each rail: whether it answers, and how many payouts wait for it',
    explanation: `
A rail is open when several calls in a row, about different payouts, had no answer: nothing is handed to it, and nothing is
lost. A worker tries it again by itself with one payout (half_open); when it answers it is closed, and what waited goes on.`,
    options: [],
    examples: ['rails list', 'rails list --json'],
    input: z.object({}),
    run: async ({ database: { reader }, gateways, output }) => {
      const configured = [...OWN_RAILS, ...Array.from(gateways.urls.keys(), httpRail)];
      output.list((await listRails(reader, configured)).map(railFields), 'There are none.');
    },
  });
}

function railFields({ rail, breaker, approved, inProgress }: RailStanding): Fields {
  const time = (at: Instant | null | undefined): string | null =>
    at === null || at === undefined ? null : toRfc3339(at);
  return {
    rail,
    state: breaker?.state ?? 'closed',
    since: time(breaker?.since),
    failures: breaker?.failures ?? 0,
    last_failure: breaker?.lastFailure ?? null,
    last_failure_at: time(breaker?.lastFailureAt),
    tried: breaker?.probes ?? 0,
    tried_next_at: time(breaker?.probeAt),
    approved,
    in_progress: inProgress,
  };
}
