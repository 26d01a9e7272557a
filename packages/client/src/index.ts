export { type CallOptions, type ClientOptions } from './calls.js';
export { MoneyClient } from './client.js';
export {
  type AnyApiError,
  ApiError,
  ConnectionError,
  type ErrorCode,
  isApiError,
  isMoneyError,
  type MoneyError,
  UnexpectedAnswerError,
  UnknownResultError,
} from './errors.js';
export { type DetailsByCode, type FieldProblem } from './generated/details.js';
export { type EventType, type Followed, type FollowOptions } from './follow.js';
export { List, type Page } from './list.js';
export {
  newWebhookSecret,
  signWebhook,
  verifyWebhook,
  type WebhookBody,
  WebhookError,
  type WebhookTest,
} from './webhooks.js';
/** Every schema of the document by name: `Transfer`, `CreatePayout`. */
export type * from './generated/schema.js';
