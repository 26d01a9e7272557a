import { buildApi, buildBridge, buildConfiguredSending, buildCore, buildWebhookParts } from '../../src/app.js';
import { readConfig } from '../../src/config.js';
import { createLogging } from '../../src/http/logging.js';
import { openApiDocument } from '../../src/http/openapi.js';
import { Webhooks } from '../../src/webhooks/service.js';

/** Where the examples of what is made from the document lead: nowhere. */
export const EXAMPLE_BASE_URL = 'https://api.example.com';

const KEY = `none:${Buffer.alloc(32).toString('base64')}`;
/** Nothing listens there, and nothing is asked. */
const NOWHERE = {
  MYSQL_URL: 'mysql://nobody@127.0.0.1:1/nothing',
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  FINGERPRINT_KEYS: KEY,
  CURSOR_KEYS: KEY,
  ENCRYPTION_KEYS: KEY,
  PAYOUT_RAILS: '*=simulated',
  LOG_LEVEL: 'silent',
};

/** The service's OpenAPI document, made from its routes as a process makes it. Connects to nothing. */
export async function serviceDocument(baseUrl = EXAMPLE_BASE_URL): Promise<object> {
  const config = readConfig({ ...NOWHERE, BASE_URL: baseUrl });
  const { logger } = createLogging(config.LOG_LEVEL, 'api', { write: () => undefined });
  const core = buildCore(config, logger);
  const bridge = buildBridge(config, core, logger);
  const sending = buildConfiguredSending(config);
  const webhooks = new Webhooks(
    buildWebhookParts(config, core, sending, () => undefined),
    () => undefined,
  );
  const document = openApiDocument(buildApi(config, core, bridge, webhooks), baseUrl, `${baseUrl}/docs`);
  await Promise.all([bridge.nudge.stop(), bridge.waker.stop(), webhooks.tests.stop(), sending.close()]);
  await Promise.all([core.database.close(), bridge.client.close()]);
  return document;
}
