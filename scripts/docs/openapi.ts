import { pino } from 'pino';
import { buildTemporal } from '../../src/processes/build-temporal.js';
import {
  buildApi,
  buildConfiguredSending,
  buildCore,
  buildWebhookParts,
} from '../../src/processes/build-api.js';
import { readConfig } from '../../src/config/config.js';
import { openApiDocument } from '../../src/http/openapi.js';
import type { ApiDocument } from '../../src/http/openapi-document.js';
import type { Route } from '../../src/http/route.js';
import { TestDeliveries } from '../../src/webhooks/test-deliveries.js';

/** The API's description, without a running service. */
interface DescribedApi {
  readonly routes: readonly Route[];
  readonly openApi: ApiDocument;
  readonly baseUrl: string;
  readonly docsUrl: string;
}

/** The address in the examples of generated files. No service has it. */
export const EXAMPLE_BASE_URL = 'https://api.example.com';

const A_KEY = `none:${Buffer.alloc(32).toString('base64')}`;
/** Required configuration that is not used here. */
const UNUSED = {
  MYSQL_URL: 'mysql://nobody:nothing@127.0.0.1:1/nothing',
  FINGERPRINT_KEYS: A_KEY,
  CURSOR_KEYS: A_KEY,
  ENCRYPTION_KEYS: A_KEY,
};

/**
 * Describes the API with the routes that a process builds, and with BASE_URL and DOCS_URL of the
 * environment. Opens no connections. Throws ConfigError if these two are not URLs.
 */
export async function describeApi({
  BASE_URL,
  DOCS_URL,
}: NodeJS.ProcessEnv): Promise<DescribedApi> {
  const config = readConfig({ ...UNUSED, BASE_URL, DOCS_URL });
  const logger = pino({ level: 'silent' });
  const core = buildCore(config, logger);
  const temporal = buildTemporal(config, core, logger);
  const sending = buildConfiguredSending(config);
  const deps = buildWebhookParts(config, core, sending, temporal);
  const tests = new TestDeliveries(deps, () => undefined);
  const api = buildApi(config, core, temporal, { deps, tests });
  // Open resources would keep the process running.
  await Promise.all([temporal.notifier.stop(), tests.stop(), sending.close()]);
  await Promise.all([core.database.close(), temporal.client.close()]);
  const { BASE_URL: baseUrl, DOCS_URL: docsUrl } = config;
  return { routes: api.routes, openApi: openApiDocument(api, baseUrl, docsUrl), baseUrl, docsUrl };
}

/** The document, with the address for examples. */
export async function serviceDocument(): Promise<object> {
  return (await describeApi({ BASE_URL: EXAMPLE_BASE_URL, DOCS_URL: `${EXAMPLE_BASE_URL}/docs` }))
    .openApi;
}
