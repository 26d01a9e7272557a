import { API_VERSIONS } from '../../core/versions.js';
import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';
import { SUBSCRIBABLE_TYPES } from './events.js';

export { SUBSCRIBABLE_TYPES, type SubscribableType } from './events.js';

/** Who is told of events, what is on its way to them, and what was tried. */

/** A deleted one stays as the resource that its idempotency key made. */
export const ENDPOINT_STATUSES = ['enabled', 'disabled', 'deleted'] as const;
/** Who or what disabled an endpoint. */
export const DISABLED_REASONS = ['by_tenant', 'by_operator', 'answered_410', 'failing_for_5_days'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** The row is the lock of all that belongs to the endpoint. Every run that sends to it has a number of its own, the `fence`. */
export const webhookEndpoints = defineTable('webhook_endpoints', {
  id: column.uuid,
  tenantId: column.uuid,
  url: column.string,
  status: column.oneOf(ENDPOINT_STATUSES),
  disabledReason: column.nullable(column.oneOf(DISABLED_REASONS)),
  disabledAt: column.nullable(column.time),
  apiVersion: column.oneOf(API_VERSIONS),
  /** Sealed: never in clear at rest. */
  secret: column.bytes,
  secretKeyId: column.string,
  /** The one before the last rotation; it signs too until `previousUntil`. */
  previousSecret: column.nullable(column.bytes),
  previousSecretKeyId: column.nullable(column.string),
  previousUntil: column.nullable(column.time),
  /** Every event up to it has been looked at. */
  cursorSequence: column.bigint,
  /** What is to be looked at again: the events after the first, up to and with the second. Null: nothing. */
  recoverAfter: column.nullable(column.bigint),
  recoverUntil: column.nullable(column.bigint),
  /** Whether that goes back behind the moment at which a type was subscribed to. */
  recoverAll: column.boolean,
  /** The events that retention removed before they were looked at; first and last. */
  lostFrom: column.nullable(column.bigint),
  lostTo: column.nullable(column.bigint),
  /** Set by operators: nothing is sent until it is null again. */
  pausedAt: column.nullable(column.time),
  pausedBy: column.nullable(column.string),
  /** The number of the last run. Only that one may write. */
  fence: column.bigint,
  /** Until when that run counts as alive; null: it has ended. */
  leaseUntil: column.nullable(column.time),
  /** When a sender looks at it, new events aside; null: nothing waits. What its workflow waits for is left to that a little longer. */
  nextDueAt: column.nullable(column.time),
  /** Until when its workflow waits, as far as that has been told; null: it waits for nothing. */
  waitsUntil: column.nullable(column.time),
  /** When its workflow last looked at it; null: never. */
  attendedAt: column.nullable(column.time),
  /** Failures since the last 2xx. */
  failuresInRow: column.integer,
  failingSince: column.nullable(column.time),
  /** How often it was probed in vain. */
  probes: column.integer,
  /** When the next probe is due; null: it is not being probed. */
  probeAt: column.nullable(column.time),
  lastSuccessAt: column.nullable(column.time),
  /** The member. */
  createdBy: column.uuid,
  createdAt: column.time,
});
export type WebhookEndpoint = RowOf<typeof webhookEndpoints>;

/** A type that an endpoint is told of, from which event on. */
export const webhookSubscriptions = defineTable(
  'webhook_subscriptions',
  {
    endpointId: column.uuid,
    type: column.oneOf(SUBSCRIBABLE_TYPES),
    tenantId: column.uuid,
    fromSequence: column.bigint,
  },
  ['endpointId', 'type'],
);
export type WebhookSubscription = RowOf<typeof webhookSubscriptions>;

export const DELIVERY_CAUSES = ['event', 'recover', 'redeliver', 'test'] as const;
export type DeliveryCause = (typeof DELIVERY_CAUSES)[number];

/** `pending` was never tried, `retrying` failed and has steps left; the others are over (`ended`: nobody wants it any more). */
export const DELIVERY_STATES = ['pending', 'retrying', 'delivered', 'failed', 'ended'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One event on its way to one endpoint. Its body is the event's. */
export const webhookDeliveries = defineTable(
  'webhook_deliveries',
  {
    endpointId: column.uuid,
    /** In the order of creation. */
    id: column.uuid,
    eventId: column.uuid,
    eventType: column.string,
    /** Null for a test, which is no event. */
    sequence: column.nullable(column.bigint),
    cause: column.oneOf(DELIVERY_CAUSES),
    /** The how manieth of this cause for the event. */
    round: column.integer,
    state: column.oneOf(DELIVERY_STATES),
    /** How many steps of the schedule its attempts have used up. */
    steps: column.integer,
    /** Null when it is over. */
    nextAttemptAt: column.nullable(column.time),
    createdAt: column.time,
    finishedAt: column.nullable(column.time),
  },
  ['endpointId', 'id'],
);
export type WebhookDelivery = RowOf<typeof webhookDeliveries>;

/** One HTTP request of a delivery. Never changed; kept 30 days. */
export const webhookAttempts = defineTable(
  'webhook_attempts',
  {
    endpointId: column.uuid,
    deliveryId: column.uuid,
    id: column.uuid,
    at: column.time,
    /** Null when no answer came. */
    status: column.nullable(column.integer),
    /** Why none came, in a word. */
    failure: column.nullable(column.string),
    message: column.nullable(column.string),
    durationMs: column.integer,
    /** The beginning of the answer's body. */
    response: column.nullable(column.string),
  },
  ['endpointId', 'deliveryId', 'id'],
);
export type WebhookAttempt = RowOf<typeof webhookAttempts>;
