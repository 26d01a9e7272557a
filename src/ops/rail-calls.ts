import { Failpoints } from '../core/failpoints.js';
import { RailBreakers } from '../payouts/breaker.js';
import { RailCalls } from '../payouts/rail-calls.js';
import { openRails } from '../payouts/rails/registry.js';
import type { Ops } from './command.js';

/** Returns the rails that are configured here, except those left out. */
export function railCallsOf(
  { database, desk, clock, config, output }: Ops,
  leftOut: ReadonlySet<string> = new Set(),
): RailCalls {
  const all = openRails({ database, clock }, config);
  const rails = new Map([...all].filter(([name]) => !leftOut.has(name)));
  const observer = {
    called: () => undefined,
    silent: (_: string, message: string) => output.say(message),
    contradicted: () => undefined,
    ended: () => undefined,
  };
  const breakers = new RailBreakers(database, clock);
  return new RailCalls({
    database,
    desk,
    clock,
    rails,
    failpoints: new Failpoints(null),
    observer,
    breakers,
  });
}
