import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { ApplicationFailure, NamespaceNotFoundError, TemporalFailure } from '@temporalio/common';
import type {
  ActivityInboundCallsInterceptor,
  ActivityInterceptorsFactory,
} from '@temporalio/worker';
import { ApiError } from '../core/errors.js';
import { UnknownKey } from '../core/fingerprint.js';
import { errnoOf } from '../db/failures.js';

/** Temporal is unreachable or overloaded. The call may work later. */
export class TemporalUnavailable extends Error {
  override name = 'TemporalUnavailable';
}

/** Failures of this many workflows show that Temporal is away, if no call succeeded meanwhile. */
const FAILURES_OF_OUTAGE = 3;

/** Tells failures of single workflows from an outage, in one round of calls for many workflows. */
export class OutageDetector {
  private failures = 0;
  private hasSucceeded = false;

  get isAway(): boolean {
    return !this.hasSucceeded && this.failures >= FAILURES_OF_OUTAGE;
  }

  succeeded(): void {
    this.hasSucceeded = true;
  }

  failed(): void {
    this.failures += 1;
  }
}

const NOT_FOUND_CODE = 5;

/** CANCELLED (by a closed connection), DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE. */
const TRANSIENT_CODES: readonly number[] = [1, 4, 8, 14];

export function isTransient(failure: unknown): boolean {
  const cause = failure instanceof ServiceError ? failure.cause : failure;
  return isGrpcServiceError(cause) && TRANSIENT_CODES.includes(cause.code);
}

/** True if a raw call (`workflowService`), whose failures are never wrapped, found no workflow. */
export function isNotFound(failure: unknown): boolean {
  return isGrpcServiceError(failure) && failure.code === NOT_FOUND_CODE;
}

/** gRPC codes NOT_FOUND (the namespace), PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED. */
const GENERAL_CODES: readonly number[] = [NOT_FOUND_CODE, 7, 12, 16];

/**
 * True if any workflow's notification would fail in this way: the namespace is missing, access is
 * denied, or the server lacks the operation.
 */
export function affectsEveryCall(failure: unknown): boolean {
  const cause = failure instanceof ServiceError ? failure.cause : failure;
  if (cause instanceof NamespaceNotFoundError) return true;
  return isGrpcServiceError(cause) && GENERAL_CODES.includes(cause.code);
}

/** Temporal's message in one line, without payloads. */
export function messageOf(failure: unknown): string {
  const cause = failure instanceof ServiceError ? failure.cause : failure;
  if (isGrpcServiceError(cause)) return cause.details === '' ? cause.message : cause.details;
  return failure instanceof Error ? failure.message : String(failure);
}

/** Hides all messages but those of refusals. (docs/contract.md, Secrets and personal data) */
function activityFailure(fault: unknown): Error {
  if (fault instanceof TemporalFailure) return fault;
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
