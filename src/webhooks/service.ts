import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Page, TimePosition } from '../core/pages.js';
import type { Caller } from '../core/permissions.js';
import type { Answer } from '../ledger/desk/types.js';
import { change, type EndpointChange, remove, rotateSecret } from './changing.js';
import type { WebhookDeps } from './deps.js';
import { listDeliveries, listEndpoints, readEndpoint, type ShownDelivery, type ShownEndpoint } from './reading.js';
import { recover, type Recovery } from './recovering.js';
import { redeliver } from './redelivering.js';
import { type KeyOfRequest, register, type RegisteredEndpoint, type WantedEndpoint } from './registering.js';
import { type SentTest, TestDeliveries } from './testing.js';

/**
 * What the API does with webhook endpoints. Every method throws not_found or authority_insufficient if the caller has
 * no right. (docs/contract.md, Webhooks)
 */
export class Webhooks {
  /** Tests that this process has in flight. */
  readonly tests: TestDeliveries;

  /** `onFault` gets the failure if a test could not be recorded. */
  constructor(
    private readonly deps: WebhookDeps,
    onFault: (fault: unknown) => void,
  ) {
    this.tests = new TestDeliveries(deps, onFault);
  }

  register(caller: Caller, wanted: WantedEndpoint, idempotency: KeyOfRequest): Promise<Answer<RegisteredEndpoint>> {
    return register(this.deps, caller, wanted, idempotency);
  }

  read(caller: Caller, id: Uuid): Promise<ShownEndpoint> {
    return readEndpoint(this.deps.database.reader, caller, id);
  }

  list(caller: Caller, before: TimePosition | null, limit: number): Promise<Page<ShownEndpoint>> {
    return listEndpoints(this.deps.database.reader, caller, before, limit);
  }

  change(caller: Caller, id: Uuid, wanted: EndpointChange): Promise<ShownEndpoint> {
    return change(this.deps, caller, id, wanted);
  }

  remove(caller: Caller, id: Uuid): Promise<void> {
    return remove(this.deps, caller, id);
  }

  rotateSecret(caller: Caller, id: Uuid): Promise<{ readonly endpoint: ShownEndpoint; readonly secret: string }> {
    return rotateSecret(this.deps, caller, id);
  }

  test(caller: Caller, id: Uuid): Promise<SentTest> {
    return this.tests.send(caller, id);
  }

  deliveries(caller: Caller, id: Uuid, before: TimePosition | null, limit: number): Promise<Page<ShownDelivery>> {
    return listDeliveries(this.deps.database.reader, caller, id, before, limit);
  }

  recover(caller: Caller, id: Uuid, since: Instant): Promise<Recovery> {
    return recover(this.deps, caller, id, since);
  }

  /** Returns the Event as serialised. */
  redeliver(caller: Caller, eventId: Uuid): Promise<string> {
    return redeliver(this.deps, caller, eventId);
  }
}
