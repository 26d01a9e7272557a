import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';

/**
 * Decodes unreadable payloads as undefined, so that a signal with invalid bytes is refused instead
 * of failing every workflow task. The SDK requires this name.
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
