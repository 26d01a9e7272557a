import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { asUuid } from '../../src/core/ids.js';
import { runIfDue } from '../../src/transfers/schedules/run.js';
import { answered, type Json, list, text, transferBody } from '../helpers/bank.js';
import type { Played, Plays } from './generated.js';
import { assertSame } from './reading.js';
import { time } from './reference-state.js';
import type { ModelWorld } from './world.js';

const DAY_MS = 86_400_000;

/** Plays schedules of days, from their creation to their last run. */
export function scheduling(world: ModelWorld): Plays<'schedule'> {
  return { schedule: (operation) => play(world, operation) };
}

async function play(world: ModelWorld, operation: Played<'schedule'>): Promise<void> {
  const { ledger } = world;
  const { actor, from, to, asset, raw, description, metadata, runs, skipped, isCanceled } =
    operation;
  const wanted = { actor, from, to, asset, raw, description, metadata, captureWithinS: null };
  const startsAt = ledger.now + DAY_MS;
  const body = {
    transfer: transferBody({
      ...{ from: world.idOf(from), to: world.idOf(to), raw, asset },
      ...{ description, metadata },
    }),
    ...{ starts_at: time(startsAt), every: { unit: 'day', count: 1 }, max_runs: runs },
  };
  const key = randomUUID();
  const answer = await world.ask(actor, 'POST', '/v1/schedules', { body, key });
  world.keys.push({ what: 'schedules', key });
  assertSame(answer, ledger.transfers.scheduleRefusal(wanted) ?? { status: 201 });
  if (answer.status !== 201) return;
  const id = text(answer.json.id);
  const act = async (action: string): Promise<Json> =>
    answered(await world.ask(actor, 'POST', `/v1/schedules/${id}/${action}`), 200).json;
  const listed = {
    ...{ json: answer.json, key, at: ledger.now },
    ...{ source: world.account(from), destination: null },
  };
  ledger.tenantOf(actor).schedules.push(listed);
  if (skipped > 0) await act('pause');
  ledger.now += skipped * DAY_MS;
  if (skipped > 0) await act('resume');
  ledger.now += runs * DAY_MS;
  const shown = (): Promise<readonly Json[]> =>
    world
      .ask(actor, 'GET', `/v1/transfers?schedule=${id}`)
      .then(({ json }) => list(json.items).reverse());
  const made = isCanceled ? runs - 1 : runs;
  for (let run = 1; run <= made; run += 1) {
    // Two postings of one account are at different moments.
    ledger.now += 1_000;
    await runIfDue(world.api.core, asUuid(id));
    const created = (await shown())[run - 1];
    assert(created !== undefined, `run ${run} of ${runs} created nothing`);
    const due = time(startsAt + (skipped + run - 1) * DAY_MS);
    const expected = ledger.transfers.run(wanted, { id, run, due_at: due }, created);
    assert.deepEqual(created, expected);
  }
  if (isCanceled) await act('cancel');
  const ended = { status: isCanceled ? 'canceled' : 'completed', runs: made, next_run_at: null };
  listed.json = { ...answer.json, ...ended };
  const { json } = answered(await world.ask(actor, 'GET', `/v1/schedules/${id}`), 200);
  assert.deepEqual(json, listed.json);
}
