import { ApplicationFailure, CancelledFailure, TemporalFailure } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor, ActivityInterceptorsFactory } from '@temporalio/worker';
import { ApiError } from '../core/errors.js';
import { UnknownKey } from '../core/fingerprint.js';
import { errnoOf } from '../db/failures.js';

/**
 * What a history may hold of an activity's failure: an answer of ours as it is, of anything else the name and the number. A
 * driver's message quotes the statement, and with it names, phones and hosts.
 * (docs/contract.md, Secrets and personal data)
 */
export function activityFailure(fault: unknown): Error {
  // Those are Temporal's own, and mean something to it.
  if (fault instanceof TemporalFailure || fault instanceof CancelledFailure) return fault;
  if (fault instanceof ApiError) {
    const { code } = fault.refusal;
    // What is not there will not be there later.
    return ApplicationFailure.create({ message: fault.message, type: code, nonRetryable: code === 'not_found' });
  }
  // It names a keyring and an id, and is tried again: by a worker that has the key, or when this one gets it.
  if (fault instanceof UnknownKey) return ApplicationFailure.create({ message: fault.message, type: fault.name });
  const name = fault instanceof Error ? fault.name : typeof fault;
  const errno = errnoOf(fault);
  return ApplicationFailure.create({ message: errno === null ? name : `${name} (${errno})`, type: name });
}

/** For every activity of a worker. */
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
