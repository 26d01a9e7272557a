import { performBatchAction } from '../../batches/control.js';
import { CANCELABLE, isPaused, PAUSABLE } from '../../batches/rules.js';
import { ApiError } from '../../core/errors.js';
import type { BonusBatch } from '../../db/entities/bonuses.js';
import type { WebhookEndpoint } from '../../db/entities/webhooks.js';
import { type Operation, pause, resume, retryNow } from '../../webhooks/staff-actions.js';
import type { DeskAction } from './action.js';

type BatchAction = Parameters<typeof performBatchAction>[1]['action'];

const BATCH_WORDS: Readonly<
  Record<BatchAction, Pick<DeskAction<BonusBatch>, 'label' | 'explanation' | 'isOpen'>>
> = {
  pause: {
    label: 'Pause',
    explanation: 'Pays no further rows until the batch is resumed.',
    isOpen: (batch) =>
      PAUSABLE.includes(batch.status) && !isPaused(batch) && batch.canceledAt === null,
  },
  resume: {
    label: 'Resume',
    explanation: 'Continues to pay the remaining rows.',
    isOpen: (batch) => isPaused(batch),
  },
  cancel: {
    label: 'Cancel',
    explanation: 'Ends the batch. Paid rows stay paid, and all other rows fail.',
    isOpen: (batch) => CANCELABLE.includes(batch.status) && batch.canceledAt === null,
  },
};

export const BATCH_ACTIONS: readonly DeskAction<BonusBatch>[] = (
  ['pause', 'resume', 'cancel'] as const
).map((action) => ({
  ...BATCH_WORDS[action],
  ...(action === 'cancel' ? { isStop: true } : {}),
  verb: action,
  name: `bonus_batch.${action}`,
  recordsRefusals: true,
  run: async (deps, { id: batchId }, { by, reason, actId }) => {
    const result = await performBatchAction(deps, { batchId, action, by, reason, actId });
    if ('refusal' in result) throw new ApiError(result.refusal);
  },
}));

function endpointAction(
  operation: Operation,
  action: Omit<DeskAction<WebhookEndpoint>, 'run'>,
): DeskAction<WebhookEndpoint> {
  return {
    ...action,
    run: async (deps, { id }, { by, reason, actId }) =>
      void (await operation(deps, id, by, { reason }, actId)),
  };
}

export const ENDPOINT_ACTIONS: readonly DeskAction<WebhookEndpoint>[] = [
  endpointAction(pause, {
    verb: 'pause',
    name: 'webhook.pause',
    label: 'Pause',
    explanation: 'Sends nothing until the endpoint is resumed. Its deliveries stay in order.',
    isOpen: ({ status, pausedAt }) => status !== 'deleted' && pausedAt === null,
  }),
  endpointAction(resume, {
    verb: 'resume',
    name: 'webhook.resume',
    label: 'Resume',
    explanation: 'Continues to send, in order.',
    isOpen: ({ status, pausedAt }) => status !== 'deleted' && pausedAt !== null,
  }),
  endpointAction(retryNow, {
    verb: 'retry',
    name: 'webhook.retry_now',
    label: 'Retry now',
    explanation: 'Retries all failed deliveries immediately.',
    isOpen: ({ status, pausedAt }) => status === 'enabled' && pausedAt === null,
  }),
];
