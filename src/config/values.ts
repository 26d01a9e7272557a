import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { normaliseRange } from '../core/address-ranges.js';
import { isCountry } from '../core/checked-text.js';
import { type Keyring, PLAIN_KEY_ID, type SecretKey } from '../core/fingerprint.js';
import { ASSETS } from '../core/amount.js';
import { SECRET_KEY_BYTES } from '../core/secret-box.js';
import { KEY_TYPES, type KeyType } from '../db/entities/payouts.js';
import { STAFF_RIGHTS, type StaffRight } from '../db/entities/staff.js';
import { parseMysqlUrl } from '../db/servers.js';
import {
  gatewayOf,
  httpRail,
  isOwnRail,
  OWN_RAILS,
  railNamed,
  type RailRoute,
} from '../payouts/rails/rail.js';
import {
  type AllRailTerms,
  DEFAULT_KEY_FORMATS,
  DEFAULT_RESOLVE_WITHIN_MS,
  DESTINATION_TYPES,
  keyFormats,
  type RailTerms,
} from '../payouts/rails/destinations.js';
import { TASK_QUEUES, type TaskQueue } from '../temporal/contracts.js';
import { parseAllowedHost } from '../webhooks/address-guard.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The message lists every error, one line each. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export function assertNoFaults(faults: readonly string[]): void {
  if (faults.length > 0)
    throw new ConfigError(`the configuration has errors:\n${faults.join('\n')}`);
}

/** Reads and validates the variables of the schema. Throws ConfigError. */
export function readVariables<S extends z.ZodObject>(
  schema: S,
  environment: Environment,
): z.infer<S> {
  const set = withFiles(Object.keys(schema.shape), environment);
  const result = schema.safeParse(set);
  if (result.success) return result.data;
  // Only the first fault of each variable, which usually causes the later ones.
  const first = new Map(
    result.error.issues.toReversed().map((issue) => [String(issue.path[0]), issue]),
  );
  const faults = Array.from(first, ([name, issue]) => {
    const problem = set[name] === undefined ? 'is not set' : issue.message;
    return `  ${name}: ${problem} (${schema.shape[name]?.description ?? ''})`;
  });
  throw new ConfigError(`the configuration has errors:\n${faults.join('\n')}`);
}

/** Returns the value of each variable: that of NAME, or the content of the file NAME_FILE. */
function withFiles(
  names: readonly string[],
  environment: Environment,
): Record<string, string | (() => string)> {
  const set: Record<string, string | (() => string)> = {};
  for (const name of names) {
    const value = environment[name];
    const file = environment[`${name}_FILE`];
    // In a compose file, an empty variable means "not set".
    if (value !== undefined && value !== '') set[name] = value;
    else if (file !== undefined && file !== '' && RENEWABLE.test(name))
      set[name] = () => readSecret(name, file);
    else if (file !== undefined && file !== '') {
      const secret = readSecret(name, file);
      // An empty file also means "not set".
      if (secret !== '') set[name] = secret;
    }
  }
  return set;
}

/** Files that are read again at each use, because certificates are renewed. */
const RENEWABLE = /_TLS_(CA|CERTIFICATE|KEY)$/;

function readSecret(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch {
    throw new ConfigError(
      `the configuration has an error:\n  ${name}_FILE: ${file} cannot be read`,
    );
  }
}

export const nonEmpty = z.string().min(1);
export const count = (min: number, max: number): z.ZodType<number, string> =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform((text) => Number.parseInt(text, 10))
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));
export const port = count(0, 65_535);

/** `mysql://user:password@host:port,host:port/database`, without options. */
export const mysqlUrl = z
  .string()
  .refine(
    (url) => parseMysqlUrl(url) !== null,
    'must be mysql://user:password@host:port, with commas between hosts, and takes no options',
  );
export const mysqlDatabaseUrl = mysqlUrl.refine(
  (url) => /^[A-Za-z0-9_]{1,64}$/.test(parseMysqlUrl(url)?.database ?? ''),
  'must end in /<database>, a plain name',
);
export const hostAndPort = z.string().regex(/^[A-Za-z0-9._-]+:\d{1,5}$/, 'must be host:port');
export const webUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });

/** `id:base64,id2:base64`. The first key makes new values; all keys verify and decrypt. */
const keyring = (fits: (bytes: number) => boolean, size: string): z.ZodType<Keyring, string> =>
  z.string().transform((text, context): Keyring => {
    const keys = text.split(',').map((part): SecretKey => {
      const [id = '', secret = ''] = part.split(/:(.*)/s);
      return { id, secret: Buffer.from(secret, 'base64') };
    });
    for (const key of keys)
      if (!/^[A-Za-z0-9_-]{1,32}$/.test(key.id) || !fits(key.secret.length))
        context.addIssue(`must be id:base64 pairs with commas between, ${size} each`);
    if (keys.some(({ id }) => id === PLAIN_KEY_ID))
      context.addIssue(`must not use the id ${PLAIN_KEY_ID}`);
    if (new Set(keys.map(({ id }) => id)).size < keys.length)
      context.addIssue('must not repeat an id');
    const [first, ...rest] = keys;
    return first === undefined ? z.NEVER : [first, ...rest];
  });
export const signingKeys = keyring((bytes) => bytes >= 16, 'at least 16 bytes');
export const encryptionKeys = keyring(
  (bytes) => bytes === SECRET_KEY_BYTES,
  `${SECRET_KEY_BYTES} bytes`,
);

/** Parses comma-separated pairs of a name and a value; the value may contain `=`. */
export function parsePairs(text: string): (readonly [name: string, value: string])[] {
  return text.split(',').map((part) => {
    const [name = '', value = ''] = part.split(/=(.*)/s);
    return [name.trim(), value.trim()];
  });
}

const RAIL_NAME = /^[a-z0-9-]{1,30}$/;

/** `acme/CO=http:bank-a,acme/*=simulated,*=simulated` */
export const railRoutes = z.string().transform((text, context): readonly RailRoute[] =>
  parsePairs(text).map(([whose, rail]) => {
    const at = whose.lastIndexOf('/');
    const [tenant, country] = at < 0 ? [whose, '*'] : [whose.slice(0, at), whose.slice(at + 1)];
    if (tenant === '' || (country !== '*' && !isCountry(country)))
      context.addIssue(`${whose} must be *, tenant/COUNTRY, tenant/* or */COUNTRY`);
    if (!isOwnRail(rail) && !RAIL_NAME.test(gatewayOf(rail) ?? ''))
      context.addIssue(
        `${rail} is not a rail: use ${OWN_RAILS.join(', ')} and ${httpRail('<name>')}`,
      );
    return { tenant, country, rail };
  }),
);

/** `bank-a=https://gateway.example/v1`: where each gateway is. */
export const railUrls = z.string().transform((text, context): ReadonlyMap<string, string> => {
  const found = new Map(parsePairs(text));
  for (const [name, url] of found)
    if (!RAIL_NAME.test(name) || !webUrl.safeParse(url).success)
      context.addIssue(
        `${name} must be a name of small letters, digits and dashes, with = and an http or https address`,
      );
  return found;
});

/** `bank-a=3600,simulated=0`, in seconds. Returns milliseconds. */
export const railSeconds = (min: number, max: number) =>
  z.string().transform((text, context): ReadonlyMap<string, number> => {
    const seconds = count(min, max);
    return new Map(
      parsePairs(text).map(([name, value]) => {
        const read = seconds.safeParse(value);
        if (!RAIL_NAME.test(name) || !read.success)
          context.addIssue(`must be name=seconds with commas between, from ${min} to ${max}`);
        return [railNamed(name), (read.data ?? 0) * 1_000];
      }),
    );
  });

const rawAmount = z
  .string()
  .regex(/^[1-9][0-9]{0,18}$/, 'amounts must be whole numbers in quotes')
  .transform(BigInt);
const amountBounds = z.strictObject({
  min: rawAmount.default(0n),
  max: rawAmount.nullable().default(null),
});
const formats = z
  .partialRecord(z.enum(KEY_TYPES), z.string())
  .default(DEFAULT_KEY_FORMATS)
  .transform((sources, context): ReadonlyMap<KeyType, RegExp> => {
    try {
      return keyFormats(sources);
    } catch {
      context.addIssue('a format of keys is not a pattern');
      return z.NEVER;
    }
  });
const oneRailTerms = z
  .strictObject({
    destinations: z.partialRecord(
      z.enum(DESTINATION_TYPES),
      z.partialRecord(z.enum(ASSETS), amountBounds),
    ),
    key_formats: formats,
    resolve_within_ms: z.int().min(100).max(3_000).default(DEFAULT_RESOLVE_WITHIN_MS),
  })
  .transform((read): RailTerms => ({
    limits: read.destinations,
    keyFormats: read.key_formats,
    resolveWithinMs: read.resolve_within_ms,
  }));

/** `{"bank-a": {"destinations": {"bre_b_key": {}}}}`: what each rail takes. (docs/payouts.md, Rails) */
export const railTerms = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue('must be JSON');
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string().regex(RAIL_NAME), oneRailTerms))
  .transform(
    (read): AllRailTerms =>
      new Map(Object.entries(read).map(([name, terms]) => [railNamed(name), terms])),
  );

/** `bank-a=k1:base64,bank-a=k2:base64`: the first key of each gateway signs, all of them verify. */
export const railKeys = z.string().transform((text, context): ReadonlyMap<string, Keyring> => {
  const byName = new Map<string, string[]>();
  for (const [name, key] of parsePairs(text)) byName.set(name, [...(byName.get(name) ?? []), key]);
  const rings = Array.from(byName, ([name, keys]): [string, Keyring] => {
    const ring = signingKeys.safeParse(keys.join(','));
    if (!RAIL_NAME.test(name) || !ring.success)
      context.addIssue('must be name=id:base64 with commas between, at least 16 bytes each');
    return [name, ring.success ? ring.data : [{ id: '', secret: Buffer.alloc(0) }]];
  });
  return new Map(rings);
});

/** `support=approve+cancel,leads=all`: the rights that each value of a claim grants. */
export const claimRights = z.string().transform(
  (text, context): ReadonlyMap<string, readonly StaffRight[]> =>
    new Map(
      parsePairs(text).map(([value, granted]): [string, readonly StaffRight[]] => {
        const words = granted === 'all' ? [...STAFF_RIGHTS] : granted.split('+');
        const rights = STAFF_RIGHTS.filter((right) => words.includes(right));
        if (value === '' || rights.length !== new Set(words).size)
          context.addIssue(
            `must be value=right+right with commas between, or value=all, of ${STAFF_RIGHTS.join(', ')}`,
          );
        return [value, rights];
      }),
    ),
);

/** Comma-separated items that `parse` accepts. */
const listOf = <T>(parse: (part: string) => T | null, fault: string) =>
  z.string().transform((list, context): readonly T[] =>
    list.split(',').flatMap((part): T[] => {
      const item = parse(part.trim());
      if (item !== null) return [item];
      context.addIssue(`${part} ${fault}`);
      return [];
    }),
  );

export const addressRanges = z.string().transform((text, context): readonly string[] =>
  text
    .split(',')
    .flatMap((part) => part.trim() || [])
    .map((range) => {
      const normal = normaliseRange(range);
      if (normal === null) context.addIssue(`${range} is neither an address nor a range`);
      return normal ?? '';
    }),
);

/** PEM, or a function that reads it from a file, which may be renewed. */
export const pem = z
  .union([
    z.string().transform((text) => () => text),
    z.custom<() => string>((value) => typeof value === 'function'),
  ])
  .refine((read) => read().startsWith('-----BEGIN '), 'must be in PEM');

export const taskQueues = listOf(
  (part): TaskQueue | null => TASK_QUEUES.find((known) => known === part) ?? null,
  `is not a task queue: use ${TASK_QUEUES.join(', ')}`,
);

/** Hosts that an operator allows: `http://127.0.0.1:*`. */
export const allowedHosts = listOf(
  parseAllowedHost,
  'is not a host with a scheme: write http://localhost:* or https://10.0.0.5:8443',
);
