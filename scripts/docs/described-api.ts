import { pino } from 'pino';
import { buildApi } from '../../src/processes/build-api.js';
import { buildSender, buildWebhooks } from '../../src/processes/build-webhooks.js';
import { buildCore, closeCore } from '../../src/processes/build-core.js';
import { readConfig } from '../../src/config/config.js';
import { openApiDocument } from './openapi/generate.js';
import type { ApiDocument } from './openapi/document.js';
import type { ApiEvent, Route } from '../../src/http/route.js';

/** The API's description, without a running service. */
export interface DescribedApi {
  readonly routes: readonly Route[];
  readonly events: readonly ApiEvent[];
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
  const core = buildCore(config, pino({ level: 'silent' }));
  const sender = buildSender(config);
  const webhooks = buildWebhooks(core, sender);
  const api = buildApi(config, core, webhooks);
  // Open resources would keep the process running.
  await Promise.all([webhooks.tests.stop(), sender.close(), closeCore(core)]);
  const { BASE_URL: baseUrl, DOCS_URL: docsUrl } = config;
  const { routes, events } = api;
  return { routes, events, openApi: openApiDocument(api, baseUrl, docsUrl), baseUrl, docsUrl };
}

/** Returns the OpenAPI document, with the address for examples. */
export async function serviceDocument(): Promise<object> {
  return (await describeApi({ BASE_URL: EXAMPLE_BASE_URL, DOCS_URL: `${EXAMPLE_BASE_URL}/docs` }))
    .openApi;
}
