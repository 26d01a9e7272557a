import { scheduleWorkflowId } from '../../src/temporal/contracts.js';
import type { TestApi } from '../helpers/api.js';
import { answered, type Bank, idLiteral, openBank, text } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { type TestTemporal, untilEnded, workflowOf } from '../helpers/temporal.js';
import { REASON, type Signature } from '../helpers/temporal-world.js';
import { makeDue, scheduled, untilShown } from '../transfers/schedules/support.js';
import type { Played } from './scenarios.js';

/** Every way that the workflow of a schedule takes. */
interface ScheduleStage {
  readonly db: TestDatabase;
  readonly api: TestApi;
  readonly temporal: TestTemporal;
  /** A signature of active staff. */
  readonly sign: () => Promise<Signature>;
}

interface Scene extends ScheduleStage {
  readonly bank: Bank;
  readonly id: string;
}

const signal = ({ temporal, id }: Scene, name: string, ...input: unknown[]): Promise<void> =>
  workflowOf(temporal, id, 'schedule').signal<unknown[]>(name, ...input);
const act = async ({ bank, id }: Scene, action: string): Promise<unknown> =>
  answered(await bank.request('POST', `/v1/schedules/${id}/${action}`), 200);
const shown = (scene: Scene, words: RegExp): Promise<true> =>
  untilShown(scene.temporal, scene.id, words);

/** Each ends the schedule, which has three runs. */
const WAYS: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  'late-runs': async (scene) => {
    await makeDue(scene.db, scene.id, 9);
    await signal(scene, 'changed');
  },
  'run-and-canceled': async (scene) => {
    await makeDue(scene.db, scene.id, 1);
    await signal(scene, 'changed');
    await shown(scene, /Run 1: transfer .* is completed/);
    await act(scene, 'cancel');
  },
  'refused-run': async (scene) => {
    await scene.db.change(`UPDATE schedules SET raw=raw*1000 WHERE id=${idLiteral(scene.id)}`);
    await makeDue(scene.db, scene.id, 9);
    await signal(scene, 'changed');
  },
  'paused-by-signal-and-resumed': async (scene) => {
    await signal(scene, 'pause', await scene.sign());
    await shown(scene, /The schedule is paused/);
    await signal(scene, 'resume', await scene.sign());
    await shown(scene, /Waiting for run 1/);
    await signal(scene, 'cancel', await scene.sign());
  },
  'paused-and-canceled-by-api': async (scene) => {
    await act(scene, 'pause');
    await shown(scene, /The schedule is paused/);
    await act(scene, 'cancel');
  },
  'refused-signals': async (scene) => {
    await signal(scene, 'pause');
    await signal(scene, 'resume', await scene.sign());
    await signal(scene, 'cancel', { actor: 'Mallory', reason: REASON });
    await shown(scene, /Refused at/);
    await signal(scene, 'cancel', await scene.sign());
  },
};

export async function playSchedules(stage: ScheduleStage): Promise<readonly Played[]> {
  return Promise.all(
    Object.entries(WAYS).map(async ([way, play]) => {
      const bank = await openBank(stage.api);
      const id = text((await scheduled(bank, { max_runs: 3 })).id);
      await untilShown(stage.temporal, id, /Waiting for run 1/);
      await play({ ...stage, bank, id });
      await untilEnded(stage.temporal, id, 'schedule');
      return { workflow: 'schedule', way, workflowId: scheduleWorkflowId(id) } as const;
    }),
  );
}
