import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';

/** Unreadable payloads are undefined, so that signals with invalid bytes do not fail every task. */
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
