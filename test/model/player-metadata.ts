import type { Played, Plays } from './generated.js';
import { assertSame, nthOf } from './reading.js';
import { FORBIDDEN, type Json, NOT_FOUND, type RefOperation } from './reference-state.js';
import type { ModelWorld } from './world.js';
import { object, text } from '../helpers/bank.js';

/** Changes metadata, of the service and of the reference. (docs/contract.md, Metadata) */
export function labelling(world: ModelWorld): Plays<'change metadata'> {
  return {
    'change metadata': async ({ what, nth, actor, change }: Played<'change metadata'>) => {
      const { ledger } = world;
      const all = ledger.homes.flatMap((tenant): readonly RefOperation[] => tenant[what]);
      const made = nthOf(all, nth);
      if (made === undefined) return;
      const path = `/v1/${what}/${text(made.json.id)}`;
      const answer = await world.ask(actor, 'PATCH', path, { body: { metadata: change } });
      const own: readonly RefOperation[] = ledger.tenantOf(actor)[what];
      if (!own.includes(made)) return assertSame(answer, NOT_FOUND);
      if (!ledger.mayCreate(actor, made.source)) return assertSame(answer, FORBIDDEN);
      const metadata: Json = withoutNulls({ ...object(made.json.metadata), ...change });
      made.json = { ...made.json, metadata };
      assertSame(answer, { status: 200, body: made.json });
    },
  };
}

function withoutNulls(pairs: Json): Json {
  return Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== null));
}
