import type { Command } from 'commander';
import { z } from 'zod';
import { AUDIT_ACTIONS, PERFORMED_ACTIONS } from '../access/audit-actions.js';
import {
  type AmountRange,
  type Asset,
  ASSET_NAMES,
  ASSETS,
  decimalText,
  EXAMPLE_ASSET,
  formatAmount,
  parseRaw,
} from '../core/amount.js';
import { cleanText, faultInWords, MAX_REASON, parsedTextSchema } from '../core/checked-text.js';
import { isMetadataKey } from '../core/metadata.js';
import { reasonInWords } from '../core/field-reasons.js';
import { normaliseText } from '../core/text.js';
import { check, readJson } from '../http/input.js';
import { metadataField } from '../http/schemas.js';
import { type Role, ROLES, SCOPES } from '../core/permissions.js';
import { EVENT_TYPES } from '../db/entities/events.js';
import { STAFF_RIGHTS } from '../db/entities/staff.js';
import { amountsBeginning } from '../support/reading/term-search.js';
import { UsageError } from './failures.js';
import { PROGRAM } from './help.js';
import { Lookup, named } from './lookups.js';
import type { Output } from './output.js';
import { didYouMean, similarTo } from './similar.js';

/** Parses and checks options. Every message completes a line that begins with the option's name. */

export const text = z.string();
export const optionalText = z.string().optional();

/**
 * Defines an option named after its field (`dryRun`: --dry-run). `help` begins with the name of its
 * value, if it has one: `<time> when it expires`.
 */
export function option(help: string): typeof text;
export function option<S extends z.ZodType>(help: string, schema: S): S;
export function option(help: string, schema: z.ZodType = text): z.ZodType {
  return schema.describe(help);
}

export const optional = (help: string) => option(help, optionalText);
export const flag = (help: string) => option(help, z.boolean().default(false));

/** Parses a reason in one line of at most `most` characters. */
const reasonText = (most = MAX_REASON) =>
  text.transform((given, context) => {
    const cleaned = cleanText(given, most);
    if ('clean' in cleaned) return cleaned.clean;
    context.addIssue(faultInWords(cleaned.fault, most));
    return z.NEVER;
  });

const reasonHelp = (purpose = '; the audit log keeps it', most = MAX_REASON) =>
  `<text> why, up to ${most} characters${purpose}; asked for at a terminal`;

/** Defines a reason that a command asks for by `reasonOf`, once it knows that it can act. */
export const askedReason = (purpose?: string, most = MAX_REASON) =>
  option(reasonHelp(purpose, most), reasonText(most).optional());

/** Defines a reason that is asked for before the command runs, once its resources are found. */
export const reason = (purpose?: string) =>
  option(
    reasonHelp(purpose),
    optionalText.transform((given) => new Lookup((_, __, output) => reasonOf(given, output))),
  );

/** Returns the reason, asked for if it is missing. Throws UsageError. */
export async function reasonOf(
  given: string | undefined,
  output?: Output,
  most = MAX_REASON,
): Promise<string> {
  for (let question = 'Reason'; ;) {
    const asked = given ?? (await output?.ask(question, '--reason is required'));
    const result = reasonText(most).safeParse(asked);
    if (result.success) return result.data;
    const fault = result.error.issues[0]?.message ?? 'is not valid';
    if (given !== undefined || output === undefined) throw new UsageError(`--reason: ${fault}`);
    question = `The reason: ${fault}. Reason`;
  }
}

export function optionsOf(schema: z.ZodObject): (readonly [flags: string, help: string])[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const help = z.globalRegistry.get(field)?.description;
    if (help === undefined) return [];
    const [value = ''] = /^<[^>]+>/.exec(help) ?? [];
    const isRequired = !field.safeParse(undefined).success;
    const description = `${help.slice(value.length).trimStart()}${isRequired ? ' (required)' : ''}`;
    return [[`--${kebabCase(name)} ${value}`.trimEnd(), description] as const];
  });
}

/** The values of enumerations by the names of a command's arguments and options. */
type AcceptedValues = Readonly<Record<string, readonly string[]>>;
const accepted = new WeakMap<Command, AcceptedValues>();

export function acceptedValuesOf(command: Command): AcceptedValues {
  return accepted.get(command) ?? {};
}

export function declareAcceptedValues(command: Command, schema: z.ZodObject): void {
  const values = Object.entries(schema.shape).map(([name, field]) => [
    kebabCase(name),
    enumerated(field),
  ]);
  accepted.set(command, Object.fromEntries(values) as AcceptedValues);
}

function enumerated(field: z.ZodType | z.core.$ZodType): readonly string[] {
  if (field instanceof z.ZodEnum) return field.options.map(String);
  const isWrapped = field instanceof z.ZodOptional || field instanceof z.ZodDefault;
  return isWrapped ? enumerated(field.unwrap()) : (listedNames.get(field)?.names ?? []);
}

/** The names of which an input takes several. */
const listedNames = z.registry<{ readonly names: readonly string[] }>();

export function kebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

const EXAMPLE_AMOUNT = formatAmount({ raw: 150_000n, asset: EXAMPLE_ASSET });
const notAnAmount = (given: unknown): string =>
  `${String(given)} is not an amount: give an integer in the smallest unit, such as 150000 for ${EXAMPLE_AMOUNT}, or write it as shown`;
/** Explains `<amount>` in the help of commands. */
export const AMOUNT_FORMS = `An amount is a number in the smallest unit of its asset (150000 is ${EXAMPLE_AMOUNT}), or as lists show it, with all decimals.`;

/** Amounts of any asset: one in the smallest unit, or those that begin as the desk's search finds them, such as `25,000`. */
export const amounts = parsedTextSchema(
  parseAmounts,
  (given) => `${notAnAmount(given)}, such as 1,500.00 or 1,500`,
);

function parseAmounts(given: string): readonly AmountRange[] | null {
  const exact = parseRaw(given);
  if (exact !== null) return ASSETS.map((asset) => ({ asset, least: exact, most: exact }));
  const begun = /^[0-9]*$/.test(given) ? [] : amountsBeginning(given, null);
  return begun.length > 0 ? begun : null;
}

/** Returns an amount of the asset, in its smallest unit. Throws UsageError. */
export type AmountIn = (asset: Asset) => bigint;

/**
 * One amount of the asset that another option names: an integer in its smallest unit, or exactly as
 * lists and files show it. Anything shorter could be misread, since 1.500 is 1,500 to some people.
 */
export const amount = parsedTextSchema((given): AmountIn | null => {
  const exact = parseRaw(given);
  if (exact !== null) return () => exact;
  const raw = parseRaw(given.replace(/[,.]| [A-Z]+$/g, '').replace(/^0+(?=[0-9])/, ''));
  if (raw === null) return null;
  return (asset) => {
    const shown = formatAmount({ raw, asset });
    if ([shown, shown.replace(/ .*/, ''), decimalText({ raw, asset })].includes(given)) return raw;
    const example = formatAmount({ raw: 150_000n, asset });
    throw new UsageError(
      `${given} is not an amount of ${asset}: write it with all decimals, such as ${example}`,
    );
  };
}, notAnAmount);

export const assetName = z.enum(ASSETS, { error: `must be ${ASSET_NAMES}` });
export const asset = option(`<asset> ${ASSET_NAMES}`, assetName);

/** The word `default` gives null. */
export const amountOrDefault = z
  .union([z.literal('default').transform(() => null), amount], {
    error: ({ input }) => `${notAnAmount(input)}, or the word default`,
  })
  .optional();
export const countOrDefault = z
  .string()
  .regex(/^(?:default|[0-9]{1,13})$/, 'must be a number, or the word default')
  .transform((given) => (given === 'default' ? null : BigInt(given)))
  .optional();

export const tenant = option('<tenant> id or name of the tenant', named.tenant);
export const optionalTenant = (help: string) =>
  option(`<tenant> ${help} this tenant (id or name)`, named.tenant.optional());
export const onlyTenant = optionalTenant('only what belongs to');
/** The tenant option of a command that names an account. */
export const tenantOfAlias = optional(
  '<tenant> id or name of its tenant; needed with an alias or phone that several tenants have',
);

export const oneOf = <const S extends string>(words: readonly S[]) =>
  z.enum(words, {
    error: ({ input }) => `must be one of ${words.join(', ')}${didYouMean(input, words)}`,
  });
export const eitherOf = <const S extends string>(first: S, second: S) =>
  z.enum([first, second], { error: `must be ${first} or ${second}` });
export const status = <const S extends string>(statuses: readonly S[]) =>
  option(`<status> only those ${statuses.join(', ')}`, oneOf(statuses).optional());

/** Parses a comma-separated subset of these names, in the order of `names`. */
function someOf<const T extends string>(names: readonly T[], noSuch: (unknown: string) => string) {
  const parsed = z.string().transform((given, context): readonly T[] => {
    const requested = given.split(',').map((name) => name.trim());
    const unknown = requested.find((name) => !(names as readonly string[]).includes(name));
    if (unknown === undefined) return names.filter((name) => requested.includes(name));
    context.addIssue(noSuch(unknown));
    return z.NEVER;
  });
  return parsed.register(listedNames, { names });
}

/** One status, or several with commas between them. `elsewhere`: advice on words that some people take for a status. */
export const severalStatuses = <const S extends string>(
  statuses: readonly S[],
  elsewhere: Readonly<Record<string, string>> = {},
) => {
  const several = `must be one of ${statuses.join(', ')}, or several with commas between them`;
  const noSuch = (unknown: string): string =>
    `${several}${elsewhere[unknown] ?? didYouMean(unknown, statuses)}`;
  return option(
    `<status> only those ${statuses.join(', ')}; several with commas`,
    someOf(statuses, noSuch).optional(),
  );
};

export const wholeNumber = (min: number, max: number): z.ZodType<number, string> =>
  parsedTextSchema(
    (given) => (/^[0-9]{1,9}$/.test(given) && +given >= min && +given <= max ? +given : null),
    (given) => `must be a number from ${min} to ${max}, not ${given}`,
  );

export const limit = option(
  '<count> how many at most (default: 100)',
  wholeNumber(1, 99_999).prefault('100'),
);

export const scopes = z
  .string()
  .transform((given) => (given === 'all' ? SCOPES.join(',') : given))
  .pipe(
    someOf(
      SCOPES,
      (unknown) => `${unknown} is not a scope: give all, or some of ${SCOPES.join(',')}`,
    ),
  );

export const staffRights = someOf(
  STAFF_RIGHTS,
  (unknown) => `${unknown} is not a right of the staff: give some of ${STAFF_RIGHTS.join(',')}`,
);

export const commaSeparated = z
  .string()
  .default('')
  .transform((given) => given.split(',').flatMap((part) => part.trim() || []));

/** Returns the name, or for `payout.*` all of the kind. */
function namesOfKind<S extends string>(given: string, names: readonly S[]): readonly S[] {
  const kind = /^(.+\.)\*$/.exec(given)?.[1];
  return names.filter((one) => (kind ? one.startsWith(kind) : one === given));
}

/** Types of events: one, or with `payout.*` all of the kind. */
export const eventTypes = text
  .transform((given, context) => {
    const found = namesOfKind(given, EVENT_TYPES);
    if (found.length === 0) {
      const one = `must be one of ${EVENT_TYPES.join(', ')}, or all of a kind, such as 'payout.*'`;
      context.addIssue(`${one}${didYouMean(given, EVENT_TYPES)}`);
    }
    return found;
  })
  .register(listedNames, { names: EVENT_TYPES });

/** Actions in the audit log: one, or with `payout.*` all of the kind. */
export const auditActions = text
  .transform((given, context): readonly string[] => {
    const found = namesOfKind(given, AUDIT_ACTIONS);
    if (found.length > 0) return found;
    const [near, ofKind] = [given, given.split('.')[0] ?? ''].map((name) =>
      similarTo(name, PERFORMED_ACTIONS),
    );
    const similar = near?.length === 0 ? ofKind : near;
    const meant = similar?.length
      ? `did you mean ${similar.join(', ')}?`
      : `the shell completes actions (${PROGRAM} completion --help); a refused one is such as transfer.approve_refused`;
    context.addIssue(`${given} is not an action: ${meant}`);
    return z.NEVER;
  })
  .register(listedNames, { names: AUDIT_ACTIONS });

/** Parses `owner=owner,payroll=operator`: members' names with their roles. */
export const grants = commaSeparated.transform((pairs, context) =>
  pairs.map((pair): { name: string; role: Role } => {
    const at = pair.lastIndexOf('=');
    const role = ROLES.find((one) => one === pair.slice(at + 1));
    if (at > 0 && role !== undefined) return { name: pair.slice(0, at), role };
    context.addIssue(
      `${pair} is not a grant: write member=role, where the role is one of ${ROLES.join(', ')}`,
    );
    return z.NEVER;
  }),
);

/** Parses a JSON object of metadata. */
export const metadata = z.string().transform((given, context) => {
  const checked = check(metadataField, parseJson(given));
  if (checked.ok) return checked.value ?? null;
  const [{ field, reason } = { field: '', reason: '' }] = checked.problems;
  context.addIssue(`is not valid metadata: ${field} ${reasonInWords(reason)}`);
  return z.NEVER;
});

/** Parses `invoice=A-17`. */
export const pair = z.string().transform((given, context) => {
  const [, key = '', value = ''] = /^([^=]*)=(.+)$/s.exec(given) ?? [];
  if (isMetadataKey(key)) return [key, normaliseText(value)] as const;
  context.addIssue(`${given} is not a pair of metadata: write it as invoice=A-17`);
  return z.NEVER;
});

function parseJson(text: string): unknown {
  try {
    return readJson(Buffer.from(text));
  } catch {
    return text;
  }
}
