import { format } from 'prettier';
import { z } from 'zod';
import {
  MIGRATION_VARIABLES,
  OPS_VARIABLES,
  SUPPORT_VARIABLES,
  VARIABLES,
  WORKER_VARIABLES,
} from '../../src/config/config.js';

/** docs/configuration.md, generated from the schemas that read the environment. */

const PROGRAMS = {
  API: VARIABLES,
  worker: WORKER_VARIABLES,
  desk: SUPPORT_VARIABLES,
  migrate: MIGRATION_VARIABLES,
  ops: OPS_VARIABLES,
} as const;
type Program = keyof typeof PROGRAMS;
type Variables = Readonly<Record<string, z.ZodType>>;

const NAMES = Object.keys(PROGRAMS) as readonly Program[];
const SECRET = 'secret: ';

/** Sections of the page, each with the reason to set its variables. */
const SECTIONS: Readonly<
  Record<string, { readonly reason: string; readonly names: readonly string[] }>
> = {
  'What every installation sets': {
    reason: 'Where the service, MySQL and Temporal are, its keys, and where payouts go.',
    names: [
      'MYSQL_URL',
      'MYSQL_ADMIN_URL',
      'TEMPORAL_ADDRESS',
      'TEMPORAL_NAMESPACE',
      'ENCRYPTION_KEYS',
      'FINGERPRINT_KEYS',
      'CURSOR_KEYS',
      'BASE_URL',
      'DOCS_URL',
      'SUPPORT_URL',
      'HOST',
      'ADMIN_HOST',
      'TRUSTED_PROXIES',
      'STOP_DELAY_MS',
      'PAYOUT_RAILS',
    ],
  },
  'Network and TLS': {
    reason:
      'Set them if MySQL or Temporal is reached over TLS, ports are taken, or deliveries take a special way.',
    names: [
      'MYSQL_TLS',
      'MYSQL_TLS_CA',
      'MYSQL_TLS_CERTIFICATE',
      'MYSQL_TLS_KEY',
      'TEMPORAL_API_KEY',
      'TEMPORAL_TLS',
      'TEMPORAL_TLS_CA',
      'TEMPORAL_TLS_CERTIFICATE',
      'TEMPORAL_TLS_KEY',
      'TEMPORAL_TLS_SERVER_NAME',
      'PORT',
      'ADMIN_PORT',
      'WEBHOOK_ALLOWED_HOSTS',
      'WEBHOOK_PROXY_URL',
    ],
  },
  Size: {
    reason: 'Set them for the number and size of the machines, and for the size of the ledger.',
    names: [
      'MYSQL_READ_CONNECTIONS',
      'MYSQL_TRANSACTION_CONNECTIONS',
      'API_PROCESSES',
      'REDIS_URL',
      'WORKER_QUEUES',
      'COMMAND_TIMEOUT_MS',
      'SHUTDOWN_GRACE_MS',
      'AUDIT_PASS_EVERY_S',
      'WORKFLOW_LOOK_AGAIN_S',
    ],
  },
  'Limits of tenants': {
    reason: 'Set them if your tenants need more, or are to have less.',
    names: ['RATE_LIMITS', 'NEW_RECIPIENTS'],
  },
  Payouts: {
    reason: 'Set them for each gateway, as agreed with its bank.',
    names: [
      'PAYOUT_RAIL_URLS',
      'PAYOUT_RAIL_KEYS',
      'PAYOUT_RAIL_TERMS',
      'PAYOUT_RAIL_ALLOWED_HOSTS',
      'PAYOUT_RAIL_CALLS',
      'PAYOUT_RAIL_PROBE_S',
      'PAYOUT_RAIL_QUIET_S',
      'PAYOUT_RAIL_RETURN_WINDOW_S',
      'PAYOUT_RAIL_STATEMENT_DELAY_S',
      'PAYOUT_STUCK_AFTER_S',
    ],
  },
  Retention: {
    reason: 'Set them as the law and your storage require.',
    names: [
      'UPLOADS_KEPT_DAYS',
      'PROBLEM_ROWS_KEPT_DAYS',
      'BATCH_ROWS_KEPT_DAYS',
      'STATEMENTS_KEPT_DAYS',
      'RAIL_EVENTS_KEPT_DAYS',
    ],
  },
  Staff: {
    reason: "Set them to sign in through the company's identity provider, and for automation.",
    names: [
      'SUPPORT_OIDC_ISSUER',
      'SUPPORT_OIDC_CLIENT_ID',
      'SUPPORT_OIDC_CLIENT_SECRET',
      'SUPPORT_OIDC_SCOPE',
      'SUPPORT_OIDC_NAME_CLAIM',
      'SUPPORT_OIDC_RIGHTS_CLAIM',
      'SUPPORT_OIDC_RIGHTS',
      'SUPPORT_CODE_SIGN_IN',
      'SUPPORT_TEMPORAL_UI_URL',
      'OPS_KEY',
      'OPS_SESSIONS',
    ],
  },
  'Logs, traces and releases': {
    reason: 'Set them to find faults, and to use worker versioning.',
    names: [
      'LOG_LEVEL',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_TRACES_SAMPLER_ARG',
      'TEMPORAL_WORKER_VERSION',
    ],
  },
};

const HEAD = `# Configuration

Generated from \`src/config/config.ts\` by \`npm run docs:configuration\`; a test fails when the page is stale. Change the code, not the page.

Every program reads its configuration from the environment only. Any variable \`NAME\` may be given as \`NAME_FILE\`, the path of
a file that holds the value, which variables marked **secret** should use. Empty counts as not set. A variable without a default is unset.

\`docs/operations/install.md\` describes the programs. An installation sets the variables of the first section; all other defaults fit most.
`;

/** The page as it should be in the repository. Throws if a variable is in no section or in two. */
export function configurationPage(): Promise<string> {
  const listed = Object.values(SECTIONS).flatMap(({ names }) => names);
  const known = new Set(NAMES.flatMap((program) => Object.keys(PROGRAMS[program])));
  const wrong = [...new Set([...listed, ...known])].filter(
    (name) =>
      !known.has(name) ||
      listed.indexOf(name) !== listed.lastIndexOf(name) ||
      !listed.includes(name),
  );
  if (wrong.length > 0)
    throw new Error(`scripts/docs/configuration.ts must list once: ${wrong.join(', ')}`);
  const sections = Object.entries(SECTIONS).map(([title, { reason, names }]) =>
    section(title, reason, names),
  );
  return format([HEAD, ...sections].join('\n'), {
    parser: 'markdown',
    printWidth: 150,
    proseWrap: 'always',
  });
}

function section(title: string, reason: string, names: readonly string[]): string {
  const lines = names.map((name) => {
    const meaning = [meaningOf(name), valueOf(name)].filter((part) => part !== '').join('; ');
    return `- \`${name}\` (${programsOf(name)}): ${meaning}`;
  });
  return [`## ${title}`, '', reason, '', ...lines, ''].join('\n');
}

function programsOf(name: string): string {
  const programs = NAMES.filter((program) => name in PROGRAMS[program]);
  return programs.length === NAMES.length ? 'all' : programs.join(', ');
}

/** The variable's schema in the first program that has it: it means the same in all of them. */
function schemaOf(name: string): z.ZodType {
  for (const program of NAMES) {
    const schema = (PROGRAMS[program] as Variables)[name];
    if (schema !== undefined) return schema;
  }
  throw new Error(`no program has ${name}`);
}

function meaningOf(name: string): string {
  const text = schemaOf(name).description ?? '';
  return escapeCell(text.startsWith(SECRET) ? `**secret**; ${text.slice(SECRET.length)}` : text);
}

/** The range and the default, or that it must be set. */
function valueOf(name: string): string {
  const schema = schemaOf(name);
  return [rangeOf(schema), defaultOf(schema)].filter((part) => part !== '').join('; ');
}

function rangeOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional)
    return rangeOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return rangeOf(schema.out as z.ZodType);
  if (schema instanceof z.ZodEnum)
    return schema.options.map((option) => `\`${String(option)}\``).join(', ');
  if (schema instanceof z.ZodNumber)
    return `${numberText(schema.minValue)} to ${numberText(schema.maxValue)}`;
  return '';
}

function numberText(value: number | null): string {
  return value === null ? 'any' : String(value);
}

function defaultOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodOptional) return '';
  if (!(schema instanceof z.ZodDefault)) return '**required**';
  const value: unknown = schema.def.defaultValue;
  if (typeof value === 'number') return `default ${numberText(value)}`;
  if (typeof value === 'string') return `default \`${escapeCell(value)}\``;
  if (Array.isArray(value) && value.length > 0) return `default \`${value.join(',')}\``;
  return '';
}

function escapeCell(text: string): string {
  return text.replaceAll('*=', '\\*=').replaceAll(':*', ':\\*');
}
