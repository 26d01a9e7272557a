import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';

/** Temporal is unreachable or overloaded. The call may work later. */
export class TemporalUnavailable extends Error {
  override name = 'TemporalUnavailable';
}

const NOT_FOUND_CODE = 5;

/** CANCELLED (by a closed connection), DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE. */
const TRANSIENT_CODES: readonly number[] = [1, 4, 8, 14];

export function isTransient(failure: unknown): boolean {
  const cause = failure instanceof ServiceError ? failure.cause : failure;
  return isGrpcServiceError(cause) && TRANSIENT_CODES.includes(cause.code);
}

export function isNotFound(failure: unknown): boolean {
  return isGrpcServiceError(failure) && failure.code === NOT_FOUND_CODE;
}

/** gRPC codes NOT_FOUND, PERMISSION_DENIED, UNIMPLEMENTED and UNAUTHENTICATED. */
const GENERAL_CODES: readonly number[] = [NOT_FOUND_CODE, 7, 12, 16];

/** True if the namespace does not exist or access is denied. */
export function affectsEveryCall(failure: unknown): boolean {
  const cause = failure instanceof ServiceError ? failure.cause : failure;
  if (cause instanceof NamespaceNotFoundError || failure instanceof NamespaceNotFoundError)
    return true;
  return isGrpcServiceError(cause) && GENERAL_CODES.includes(cause.code);
}

/** Temporal's message in one line, without payloads. */
export function messageOf(failure: unknown): string {
  const cause = failure instanceof ServiceError ? failure.cause : failure;
  if (isGrpcServiceError(cause)) return cause.details === '' ? cause.message : cause.details;
  return failure instanceof Error ? failure.message : String(failure);
}
