import type { Failpoints } from '../core/failpoints.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Uuid } from '../core/ids.js';
import type { Clock } from '../core/instant.js';
import type { Database } from '../db/database.js';
import type { Sending } from './sending.js';

/** What the webhooks stand on. */
export interface WebhookParts {
  readonly database: Database;
  readonly clock: Clock;
  /** The first seals. */
  readonly encryptionKeys: Keyring;
  readonly sending: Sending;
  readonly failpoints: Failpoints;
  /** Hears after the commit of every endpoint for which something became due. It may be lost: the sweeper finds it too. */
  readonly onDue: (endpointId: Uuid) => void;
}
