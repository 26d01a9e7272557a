import { ApplicationFailure, CancelledFailure, TemporalFailure } from '@temporalio/common';
import type {
  ActivityInboundCallsInterceptor,
  ActivityInterceptorsFactory,
} from '@temporalio/worker';
import { ApiError } from '../core/errors.js';
import { UnknownKey } from '../core/fingerprint.js';
import { errnoOf } from '../db/failures.js';

/** History shows only refusals with their message. (docs/contract.md, Secrets and personal data) */
export function activityFailure(fault: unknown): Error {
  if (fault instanceof TemporalFailure || fault instanceof CancelledFailure) return fault;
  if (fault instanceof ApiError) {
    const { code } = fault.refusal;
    // A missing resource will not appear later.
    return ApplicationFailure.create({
      message: fault.message,
      type: code,
      nonRetryable: code === 'not_found',
    });
  }
  // Names only a keyring and an id. Retried until a worker has the key.
  if (fault instanceof UnknownKey)
    return ApplicationFailure.create({ message: fault.message, type: fault.name });
  const name = fault instanceof Error ? fault.name : typeof fault;
  const errno = errnoOf(fault);
  return ApplicationFailure.create({
    message: errno === null ? name : `${name} (${errno})`,
    type: name,
  });
}

export const safeFailures: ActivityInterceptorsFactory = () => {
  const inbound: ActivityInboundCallsInterceptor = {
    execute: async (input, next) => {
      try {
        return await next(input);
      } catch (fault) {
        throw activityFailure(fault);
      }
    },
  };
  return { inbound };
};
