import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';

/**
 * Whoever may signal a workflow may send it any bytes. What cannot be decoded would fail each of its tasks for ever; so it
 * comes as undefined, and is refused like a signal that says nothing. The name is the SDK's.
 */
export const payloadConverter: PayloadConverter = {
  toPayload: (...value) => defaultPayloadConverter.toPayload(...value),
  fromPayload<T>(...payload: Parameters<PayloadConverter['fromPayload']>): T {
    try {
      return defaultPayloadConverter.fromPayload<T>(payload[0], payload[1]);
    } catch {
      return undefined as T;
    }
  },
};
