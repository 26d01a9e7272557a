import { pino } from 'pino';
import { buildApi, buildBridge, buildConfiguredSending, buildCore, buildWebhookParts } from '../../src/app.js';
import { readConfig } from '../../src/config.js';
import { openApiDocument } from '../../src/http/openapi.js';
import type { Route } from '../../src/http/route.js';
import { TestDeliveries } from '../../src/webhooks/testing.js';

/** What the API is, without a service that runs. */
export interface DescribedApi {
  readonly routes: readonly Route[];
  readonly openApi: object;
  readonly baseUrl: string;
  readonly docsUrl: string;
}

/** Where the examples of what is made from the document lead: nowhere. */
export const EXAMPLE_BASE_URL = 'https://api.example.com';

const A_KEY = `none:${Buffer.alloc(32).toString('base64')}`;
/** What a configuration must have, and nothing here uses. */
const UNUSED = {
  MYSQL_URL: 'mysql://nobody:nothing@127.0.0.1:1/nothing',
  FINGERPRINT_KEYS: A_KEY,
  CURSOR_KEYS: A_KEY,
  ENCRYPTION_KEYS: A_KEY,
};

/**
 * Made from the routes as a process makes it, by BASE_URL and DOCS_URL of the environment. Connects to nothing. Throws ConfigError
 * where they are no addresses.
 */
export async function describeApi({ BASE_URL, DOCS_URL }: NodeJS.ProcessEnv): Promise<DescribedApi> {
  const config = readConfig({ ...UNUSED, BASE_URL, DOCS_URL });
  const logger = pino({ level: 'silent' });
  const core = buildCore(config, logger);
  const bridge = buildBridge(config, core, logger);
  const sending = buildConfiguredSending(config);
  const deps = buildWebhookParts(config, core, sending, bridge);
  const tests = new TestDeliveries(deps, () => undefined);
  const api = buildApi(config, core, bridge, { deps, tests });
  // What they keep would keep the process.
  await Promise.all([bridge.notifier.stop(), tests.stop(), sending.close()]);
  await Promise.all([core.database.close(), bridge.client.close()]);
  const { BASE_URL: baseUrl, DOCS_URL: docsUrl } = config;
  return { routes: api.routes, openApi: openApiDocument(api, baseUrl, docsUrl), baseUrl, docsUrl };
}

/** The document with the addresses of the examples. */
export async function serviceDocument(): Promise<object> {
  return (await describeApi({ BASE_URL: EXAMPLE_BASE_URL, DOCS_URL: `${EXAMPLE_BASE_URL}/docs` })).openApi;
}
