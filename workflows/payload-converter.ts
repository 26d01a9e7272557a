import { defaultPayloadConverter, type PayloadConverter } from '@temporalio/common';

/**
 * Anybody who may signal a workflow may send it any bytes. Undecodable ones would make every task fail forever, so they
 * arrive as undefined, and are refused like an empty signal. The name is the SDK's.
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
