import type { Registry } from 'prom-client';
import { timeOfId, type Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import { metersOf, registerGauges } from '../core/meters.js';
import { integer, nullable, oneOf, time } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import type { WebhookObserver } from './deps.js';

const LAG_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600];
const ATTEMPT_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function webhookMetrics(
  registry: Registry,
  onTrouble: (fault: unknown, endpointId?: Uuid) => void,
): WebhookObserver {
  const { counter, gauge, histogram } = metersOf(registry);
  const attempts = counter(
    'webhook_attempts_total',
    'Webhook delivery attempts, by outcome: the status class, or why there was none',
    ['outcome'],
  );
  const durations = histogram(
    'webhook_attempt_seconds',
    'Duration of a delivery attempt, by outcome',
    ATTEMPT_SECONDS,
    ['outcome'],
  );
  const lag = histogram(
    'webhook_first_attempt_seconds',
    'Time from an event to the start of its first attempt at an endpoint',
    LAG_SECONDS,
  );
  const endpoints = gauge(
    'webhook_endpoints_sending',
    'Endpoints this process sends to, by how long they take',
    ['slot'],
  );
  const failures = counter(
    'webhook_sender_failures_total',
    'Rounds of the dispatcher, and endpoints in them, that failed because of a fault of the service; they are repeated',
  );
  const setAside = counter(
    'webhook_endpoints_set_aside_total',
    'Times that an endpoint was set aside for a minute because its rows cannot be read',
  );
  return {
    attempted: ({ delivery: { cause, steps, eventId }, result, beganAt }) => {
      const outcome =
        result.outcome === 'answered' ? `${Math.trunc(result.status / 100)}xx` : result.reason;
      attempts.inc({ outcome });
      durations.observe({ outcome }, result.durationMs / 1_000);
      if (cause === 'event' && steps === 0)
        lag.observe(Math.max(0, beganAt - timeOfId(eventId)) / 1000);
    },
    slotsTaken: (fast, slow) => {
      endpoints.set({ slot: 'short' }, fast);
      endpoints.set({ slot: 'long' }, slow);
    },
    setAside: (endpointId, fault) => {
      setAside.inc();
      onTrouble(fault, endpointId);
    },
    failed: (fault) => {
      failures.inc();
      onTrouble(fault);
    },
  };
}

/** `probed`: the endpoint gets one attempt at a time, until one succeeds. */
const CLASSES = ['healthy', 'failing', 'probed', 'paused'] as const;
const classColumn = oneOf(CLASSES);

const LAG_SQL = `SELECT CASE WHEN e.paused_at IS NOT NULL THEN 'paused' WHEN e.probe_at IS NOT NULL THEN 'probed'
    WHEN e.failures_in_row>0 THEN 'failing' ELSE 'healthy' END AS class, COUNT(*) AS endpoints,
    CAST(COALESCE(SUM(GREATEST(w.head-e.cursor_sequence,0)),0) AS CHAR) AS events,
    MIN(v.created_at) AS oldest, MIN(e.failing_since) AS failing_since
  FROM webhook_endpoints e
  LEFT JOIN (SELECT s.endpoint_id, MAX(h.last_sequence) AS head FROM webhook_subscriptions s
    JOIN event_heads h ON h.tenant_id=s.tenant_id AND h.type=s.type GROUP BY s.endpoint_id) w ON w.endpoint_id=e.id
  LEFT JOIN events v ON v.tenant_id=e.tenant_id AND v.sequence=e.cursor_sequence+1 AND w.head>e.cursor_sequence
  WHERE e.status='enabled' GROUP BY class`;

export function lagMetrics(registry: Registry, reader: Reader, clock: Clock): void {
  const labelNames = ['class'];
  registerGauges(
    registry,
    {
      webhook_endpoints: { help: 'Enabled endpoints, by state', labelNames },
      webhook_lag_events: { help: 'Events in the log still ahead of their cursors', labelNames },
      webhook_lag_seconds: { help: 'Age of the oldest event still ahead of a cursor', labelNames },
      webhook_failing_seconds: {
        help: 'How long the longest-failing endpoint has been failing',
        labelNames,
      },
    },
    async () => {
      const rows = await reader.query(LAG_SQL);
      const byClass = new Map(rows.map((row) => [classColumn.parse(row.class), row]));
      const valuesOf = (read: (row: (typeof rows)[number]) => number) =>
        CLASSES.map((name) => {
          const row = byClass.get(name);
          return { labels: { class: name }, value: row === undefined ? 0 : read(row) };
        });
      const secondsSince = (stored: unknown): number => {
        const at = nullable(time).parse(stored ?? null);
        return at === null ? 0 : Math.max(0, clock() - at) / 1_000;
      };
      return {
        webhook_endpoints: valuesOf((row) => integer.parse(row.endpoints)),
        webhook_lag_events: valuesOf((row) => integer.parse(row.events)),
        webhook_lag_seconds: valuesOf((row) => secondsSince(row.oldest)),
        webhook_failing_seconds: valuesOf((row) => secondsSince(row.failing_since)),
      };
    },
  );
}
