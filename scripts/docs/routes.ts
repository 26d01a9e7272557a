import { pino } from 'pino';
import { buildApi, buildBridge, buildConfiguredSending, buildCore, buildWebhookParts } from '../../src/app.js';
import { readConfig } from '../../src/config.js';
import { openApiDocument } from '../../src/http/openapi.js';
import type { Route } from '../../src/http/route.js';
import { Webhooks } from '../../src/webhooks/service.js';

/** What the API is, without a service that runs: nothing here connects to anything. */
export interface Described {
  readonly routes: readonly Route[];
  readonly openApi: object;
  readonly baseUrl: string;
  readonly docsUrl: string;
}

const A_KEY = `none:${Buffer.alloc(32).toString('base64')}`;
/** What a configuration must have, and nothing here uses. */
const UNUSED = {
  MYSQL_URL: 'mysql://nobody:nothing@127.0.0.1:1/nothing',
  FINGERPRINT_KEYS: A_KEY,
  CURSOR_KEYS: A_KEY,
  ENCRYPTION_KEYS: A_KEY,
};

/** By BASE_URL and DOCS_URL of the environment. Throws ConfigError where they are no addresses. */
export function describeApi({ BASE_URL, DOCS_URL }: NodeJS.ProcessEnv): Described {
  const config = readConfig({ ...UNUSED, BASE_URL, DOCS_URL });
  const logger = pino({ level: 'silent' });
  const core = buildCore(config, logger);
  const bridge = buildBridge(config, core, logger);
  const parts = buildWebhookParts(config, core, buildConfiguredSending(config), () => undefined);
  const api = buildApi(config, core, bridge, new Webhooks(parts, () => undefined));
  const { BASE_URL: baseUrl, DOCS_URL: docsUrl } = config;
  return { routes: api.routes, openApi: openApiDocument(api, baseUrl, docsUrl), baseUrl, docsUrl };
}
