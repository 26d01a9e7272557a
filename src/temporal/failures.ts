import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';

/** Temporal cannot be reached or is overloaded: the same call may work later. */
export class TemporalUnavailable extends Error {
  override name = 'TemporalUnavailable';
}

/** gRPC: NOT_FOUND. */
const NOT_FOUND_CODE = 5;

/** gRPC: DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE, and CANCELLED, which a closed connection causes. */
const PASSING_CODES: readonly number[] = [1, 4, 8, 14];

/** True if the call may have failed for a transient reason. */
export function isTransient(failure: unknown): boolean {
  const cause = failure instanceof ServiceError ? failure.cause : failure;
  return isGrpcServiceError(cause) && PASSING_CODES.includes(cause.code);
}

/** True if Temporal has no such resource. */
export function isNotFound(failure: unknown): boolean {
  return isGrpcServiceError(failure) && failure.code === NOT_FOUND_CODE;
}

/** gRPC: NOT_FOUND, PERMISSION_DENIED, UNIMPLEMENTED, UNAUTHENTICATED. */
const CODES_OF_EVERY_CALL: readonly number[] = [NOT_FOUND_CODE, 7, 12, 16];

/** True if any other call would have failed too: no such namespace, or no permission. */
export function isOfEveryCall(failure: unknown): boolean {
  const cause = failure instanceof ServiceError ? failure.cause : failure;
  if (cause instanceof NamespaceNotFoundError || failure instanceof NamespaceNotFoundError)
    return true;
  return isGrpcServiceError(cause) && CODES_OF_EVERY_CALL.includes(cause.code);
}

/** One line for logs and operators: Temporal's own words, which contain no payload. */
export function messageOf(failure: unknown): string {
  const cause = failure instanceof ServiceError ? failure.cause : failure;
  if (isGrpcServiceError(cause)) return cause.details === '' ? cause.message : cause.details;
  return failure instanceof Error ? failure.message : String(failure);
}
