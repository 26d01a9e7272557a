import { asUuid } from '../src/core/ids.js';
import type { DatabaseDeps } from '../src/db/database.js';
import type { StaffSignals } from '../src/staff/signals.js';
import type { EndpointActionSignal, EndpointView } from '../src/temporal/contracts.js';
import { performSignal, checkEndpoint } from '../src/webhooks/endpoint-workflow.js';

/** None of these activities sends. */
export interface WebhookActivities {
  checkEndpoint(endpointId: string): Promise<EndpointView>;
  /** Returns why the action was refused, or null. */
  actOnEndpoint(signal: EndpointActionSignal): Promise<string | null>;
}

export function webhookActivities(deps: DatabaseDeps, signals: StaffSignals): WebhookActivities {
  return {
    checkEndpoint: (endpointId) => checkEndpoint(deps, asUuid(endpointId)),
    actOnEndpoint: (signal) => performSignal(deps, signal, signals),
  };
}
