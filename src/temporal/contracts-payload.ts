import { defaultPayloadConverter, type Payload } from '@temporalio/common';

// Apart from the contracts, so that programs without Temporal do not load its packages.

/** Returns undefined for unreadable bytes, so that they fail neither a call nor a workflow task. */
export function decodePayload(payload: Payload | undefined): unknown {
  try {
    return payload === undefined ? undefined : defaultPayloadConverter.fromPayload(payload);
  } catch {
    return undefined;
  }
}
