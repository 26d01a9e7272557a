import { once } from 'node:events';
import { z } from 'zod';
import { query } from '../../src/ops/command.js';
import { day } from '../../src/ops/commands/rails.js';
import { OpsError } from '../../src/ops/failures.js';
import { option, text, wholeNumber } from '../../src/ops/inputs.js';
import { SIMULATED } from '../../src/payouts/rails/rail.js';
import { SimulatedRail } from '../../src/payouts/rails/simulated.js';
import { serveGateway } from '../simulated-rail/gateway.js';
import { simulatedStatement } from '../simulated-rail/statement.js';

export const simulatedRailCommands = {
  simulate: query({
    summary: 'serve the simulated rail over HTTP, as a gateway would: a reference for your own',
    explanation: `
It speaks the protocol of docs/payout-rail.md, with the keys that PAYOUT_RAIL_KEYS has for the name, and keeps its payments
in the database. What it does follows from the account number's ending (docs/payouts.md). Ctrl-C ends it.`,
    examples: ['rails simulate --name bank-a --port 9999'],
    input: {
      name: option('<name> its name in PAYOUT_RAILS, without http:'),
      port: option('<port> the loopback port that it listens on', wholeNumber(0, 65_535)),
      service: option(
        '<url> where the service is, for its callbacks (default: http://127.0.0.1:8080)',
        z.url({ error: 'must be an address' }).default('http://127.0.0.1:8080'),
      ),
    },
    run: async ({ database, clock, output, config }, { name, port, service }) => {
      const keys = config.PAYOUT_RAIL_KEYS.get(name);
      if (keys === undefined) throw new OpsError(`PAYOUT_RAIL_KEYS has no key of ${name}`);
      const rail = new SimulatedRail(database, clock, `gateway:${name}`);
      const onLine = (line: string): void => output.say(line);
      const running = await serveGateway(rail, clock, {
        name,
        port,
        keys,
        serviceUrl: service,
        onLine,
      });
      output.say(`${name} listens on http://127.0.0.1:${running.port}`);
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
      await running.stop();
    },
  }),
  statement: query({
    summary: "the simulated rail's own statement of a day, as CSV: what payouts reconcile reads",
    examples: [
      'rails statement --date 2026-11-21',
      'rails statement --date 2026-11-21 --name bank-a',
    ],
    input: {
      date: option('<day> the day, UTC: 2026-11-21', day),
      name: option(
        '<name> of a rail served by rails simulate (default: the built-in one)',
        text.optional(),
      ),
    },
    run: async ({ database, clock, output }, { date, name }) => {
      const rail = name === undefined ? SIMULATED : `gateway:${name}`;
      for await (const piece of simulatedStatement(database.reader, rail, date, clock()))
        output.verbatim(piece);
    },
  }),
};
