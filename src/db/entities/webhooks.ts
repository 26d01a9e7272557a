import { API_VERSIONS } from '../../core/api-version.js';
import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';
import { SUBSCRIBABLE_TYPES } from './events.js';

const ENDPOINT_STATUSES = ['enabled', 'disabled', 'deleted'] as const;
export const DISABLED_REASONS = [
  'by_tenant',
  'by_operator',
  'answered_410',
  'failing_for_5_days',
] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** The lock on everything that belongs to the endpoint. */
export const webhookEndpoints = defineTable(
  'webhook_endpoints',
  {
    id: column.uuid,
    tenantId: column.uuid,
    url: column.varchar(2048),
    status: column.oneOf(ENDPOINT_STATUSES),
    disabledReason: column.nullable(column.asciiEnum(DISABLED_REASONS, 40)),
    disabledAt: column.nullable(column.time),
    apiVersion: column.asciiEnum(API_VERSIONS, 10),
    secret: column.varbinary(200),
    secretKeyId: column.ascii(32),
    /** The secret before the last rotation, which also signs until `previousUntil`. */
    previousSecret: column.nullable(column.varbinary(200)),
    previousSecretKeyId: column.nullable(column.ascii(32)),
    previousUntil: column.nullable(column.time),
    cursorSequence: column.bigint,
    /** Events after `recoverAfter`, up to and including `recoverUntil`, are sent again. */
    recoverAfter: column.nullable(column.bigint),
    recoverUntil: column.nullable(column.bigint),
    /** Whether recovery includes events from before their type was subscribed to. */
    recoverAll: column.boolean,
    /** Events that retention removed before they were handled. */
    lostFrom: column.nullable(column.bigint),
    lostTo: column.nullable(column.bigint),
    pausedAt: column.nullable(column.time),
    pausedBy: column.nullable(column.varchar(120)),
    /** Number of the latest run, the only one that may write. */
    fence: column.bigint,
    /** When the lease of that run expires. Null once the run has ended. */
    leaseUntil: column.nullable(column.time),
    /** When the dispatcher checks the endpoint even if its workflow has not marked it as due. */
    nextDueAt: column.nullable(column.time),
    /** Until when the endpoint's workflow waits, as of its last check. */
    waitsUntil: column.nullable(column.time),
    /** When the workflow last checked the endpoint. */
    workflowCheckedAt: column.nullable(column.time),
    failuresInRow: column.integer,
    failingSince: column.nullable(column.time),
    probes: column.integer,
    probeAt: column.nullable(column.time),
    lastSuccessAt: column.nullable(column.time),
    createdBy: column.uuid,
    createdAt: column.time,
  },
  {
    indexes: {
      due: ['status', 'nextDueAt'],
      previousSecretKey: ['previousSecretKeyId'],
      secretKey: ['secretKeyId'],
      tenant: ['tenantId', 'createdAt', 'id'],
    },
  },
);
export type WebhookEndpoint = RowOf<typeof webhookEndpoints>;

export const webhookSubscriptions = defineTable(
  'webhook_subscriptions',
  {
    endpointId: column.uuid,
    type: column.asciiEnum(SUBSCRIBABLE_TYPES, 40),
    tenantId: column.uuid,
    fromSequence: column.bigint,
  },
  { key: ['endpointId', 'type'], indexes: { byType: ['tenantId', 'type'] } },
);
export type WebhookSubscription = RowOf<typeof webhookSubscriptions>;

export const DELIVERY_CAUSES = ['event', 'recover', 'redeliver', 'test'] as const;

/** `pending` was never tried; `ended` was given up before it succeeded. */
export const DELIVERY_STATES = ['pending', 'retrying', 'delivered', 'failed', 'ended'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const webhookDeliveries = defineTable(
  'webhook_deliveries',
  {
    endpointId: column.uuid,
    id: column.uuid,
    eventId: column.uuid,
    eventType: column.ascii(40),
    /** Null for a test, which is not an event. */
    sequence: column.nullable(column.bigint),
    cause: column.oneOf(DELIVERY_CAUSES),
    /** Counts the event's deliveries with this cause. */
    round: column.integer,
    state: column.oneOf(DELIVERY_STATES),
    /** Steps of the schedule that its attempts have used. */
    steps: column.integer,
    nextAttemptAt: column.nullable(column.time),
    createdAt: column.time,
    finishedAt: column.nullable(column.time),
  },
  {
    key: ['endpointId', 'id'],
    unique: { event: ['endpointId', 'eventId', 'cause', 'round'] },
    indexes: { due: ['endpointId', 'state', 'nextAttemptAt', 'id'] },
  },
);
export type WebhookDelivery = RowOf<typeof webhookDeliveries>;

/** Attempts to deliver, kept for 30 days. */
export const webhookAttempts = defineTable(
  'webhook_attempts',
  {
    endpointId: column.uuid,
    deliveryId: column.uuid,
    id: column.uuid,
    at: column.time,
    status: column.nullable(column.integer),
    failure: column.nullable(column.ascii(32)),
    message: column.nullable(column.varchar(255)),
    durationMs: column.integer,
    response: column.nullable(column.varchar(1024)),
  },
  { key: ['endpointId', 'deliveryId', 'id'] },
);
export type WebhookAttempt = RowOf<typeof webhookAttempts>;
