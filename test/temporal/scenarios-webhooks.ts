import { webhookWorkflowId } from '../../src/temporal/contracts.js';
import type { TestApi } from '../helpers/api.js';
import { answered } from '../helpers/bank.js';
import { HttpReceiver } from '../helpers/http-receiver.js';
import { type TestTemporal, until, untilEnded } from '../helpers/temporal.js';
import { REASON, type Signature } from '../helpers/temporal-world.js';
import {
  type WebhookBank,
  openWebhookBank,
  signalEndpoint,
  untilDetails,
} from '../helpers/webhook-world.js';
import type { Played } from './scenarios.js';

/** Every way that the workflow of a webhook endpoint takes. */
interface HookStage {
  /** Sends by real HTTP. */
  readonly api: TestApi;
  readonly temporal: TestTemporal;
  /** A signature of active staff. */
  readonly sign: () => Promise<Signature>;
}

interface Scene extends HookStage {
  readonly own: WebhookBank;
  /** Sets the answer of the endpoint's receiver from now on. */
  answer(status: number): void;
  /** Resolves after this many deliveries to it. */
  untilTried(times: number): Promise<unknown>;
}

/** The one delivery failed twice. */
async function failing(scene: Scene): Promise<void> {
  scene.answer(500);
  await scene.own.send();
  await scene.untilTried(2);
  await untilDetails(scene.temporal, scene.own.id, /^waiting until .* to retry/);
}

async function paused(scene: Scene): Promise<void> {
  await failing(scene);
  await signalEndpoint(scene.temporal, scene.own.id, 'pause', await scene.sign());
  await untilDetails(scene.temporal, scene.own.id, /^paused/);
}

const WAYS: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  delivered: async ({ own, untilTried }) => {
    await own.send();
    await untilTried(1);
  },
  'retried-by-timer': async ({ own, answer, untilTried }) => {
    answer(500);
    await own.send();
    await untilTried(1);
    answer(200);
    await untilTried(2);
  },
  'retried-now': async (scene) => {
    await failing(scene);
    scene.answer(200);
    await signalEndpoint(scene.temporal, scene.own.id, 'retry_now', await scene.sign());
    await scene.untilTried(3);
  },
  'woken-while-it-waits': async (scene) => {
    await failing(scene);
    scene.answer(200);
    await scene.own.send();
    await scene.untilTried(3);
    await signalEndpoint(scene.temporal, scene.own.id, 'retry_now', await scene.sign());
    await scene.untilTried(4);
  },
  'paused-and-resumed': async (scene) => {
    await paused(scene);
    scene.answer(200);
    const { temporal, own } = scene;
    await signalEndpoint(temporal, own.id, 'resume', await scene.sign());
    await untilDetails(temporal, own.id, /^waiting until .* to retry/);
    await signalEndpoint(temporal, own.id, 'retry_now', await scene.sign());
    await scene.untilTried(3);
  },
  'paused-and-deleted': async (scene) => {
    await paused(scene);
    const { bank, id } = scene.own;
    answered(await bank.request('DELETE', `/v1/webhook_endpoints/${id}`), 204);
  },
  'disabled-by-410': async ({ own, answer, untilTried, temporal }) => {
    answer(410);
    await own.send();
    await untilTried(1);
    await untilDetails(temporal, own.id, /^disabled/);
  },
  'refused-signals': async (scene) => {
    await failing(scene);
    const { temporal, own } = scene;
    await signalEndpoint(temporal, own.id, 'pause');
    await signalEndpoint(temporal, own.id, 'resume', { actor: 'Mallory', reason: REASON });
    await signalEndpoint(temporal, own.id, 'retry_now', { ...(await scene.sign()), reason: '' });
    await untilDetails(temporal, own.id, /Refused at/);
    scene.answer(200);
    await signalEndpoint(temporal, own.id, 'retry_now', await scene.sign());
    await scene.untilTried(3);
  },
};

/** Every way, each of an endpoint of its own, which is then deleted: so its workflow ends. */
export async function playWebhooks(stage: HookStage): Promise<readonly Played[]> {
  const receiver = await new HttpReceiver().open();
  const answers = new Map<string, number>();
  receiver.reply = ({ path }) => answers.get(path) ?? 200;
  const played = await Promise.all(
    Object.entries(WAYS).map(async ([way, act]) => {
      const own = await openWebhookBank(stage.api, receiver);
      await act({
        ...stage,
        own,
        answer: (status) => void answers.set(own.path, status),
        untilTried: (times) =>
          until(`${way}: ${times} deliveries`, () => receiver.at(own.path).length >= times),
      });
      await untilDetails(stage.temporal, own.id, /^(.*\n\n)?(nothing|disabled|deleted)/);
      // One that is deleted already is so again.
      answered(await own.bank.request('DELETE', `/v1/webhook_endpoints/${own.id}`), 204);
      await untilEnded(stage.temporal, own.id, 'webhook_endpoint');
      return { workflow: 'webhookEndpoint', way, workflowId: webhookWorkflowId(own.id) } as const;
    }),
  );
  await receiver.close();
  return played;
}
