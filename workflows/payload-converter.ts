import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';

/**
 * Decodes undecodable payloads as undefined, which are refused like an empty signal. Otherwise, a
 * signal with invalid bytes would make every workflow task fail. The SDK requires this name.
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
