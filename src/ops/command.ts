import type { Command } from 'commander';
import { z } from 'zod';
import type { Actor } from '../access/audit-log.js';
import { type OpsConfig, readOpsConfig } from '../config/config.js';
import type { StaffIdentity } from '../staff/rules.js';
import { buildOpsParts, encryptionKeysOf, type OpsDeps } from './context.js';
import { UsageError } from './failures.js';
import { findSubject, type Resolved, resolveLookups } from './lookups.js';
import { addParagraphs, HELP, PROGRAM, versionText, withAdvice } from './help.js';
import {
  AMOUNT_FORMS,
  commaSeparated,
  declareAcceptedValues,
  kebabCase,
  optionsOf,
} from './inputs.js';
import { withSuggestions } from './similar.js';
import { TIME_FORMS } from './times.js';
import { linesWithEscapes, Output } from './output.js';
import {
  type AuthorisationDeps,
  type Authorised,
  assertStillAuthorised,
  authorise,
  declareNeeds,
  declaredNeedsOf,
  type DeclaredNeeds,
  findAdministrator,
  needsCode,
  needsText,
  type Needs,
} from './staff/authorisation.js';
import { databaseKey, SESSION_FILE, SessionFile } from './staff/session-file.js';

export interface Ops extends OpsDeps, AuthorisationDeps {
  readonly output: Output;
  readonly config: OpsConfig;
}

export interface AuthorisedOps extends Ops {
  /**
   * Returns the member of the staff who has the right that the command needs. The first call asks
   * for a code if two people must act, so commands ask their question before it.
   */
  readonly by: () => Promise<StaffIdentity>;
  /** Returns the same member before any code, to refuse early. */
  readonly user: () => StaffIdentity;
  /** Returns the member, or the database's administrator (`isAdministrator`), if no code is needed. */
  readonly actor: () => Actor;
  /** True if the database's administrator acts, because no person may manage the staff yet. */
  readonly isAdministrator: boolean;
}

type InputOf<S extends z.ZodRawShape> = z.infer<z.ZodObject<S>>;

interface CommandDescription<S extends z.ZodRawShape> {
  readonly summary: string;
  readonly isDefault?: true;
  readonly explanation?: string | undefined;
  /** Whole command lines after `npm run ops -- `. */
  readonly examples: readonly [string, ...string[]];
  /** Arguments and options (`option`) by their camelCase names; absent without any. */
  readonly input?: S;
}

/** Runs a command. `tenant` is what the user wrote for it; empty without the option. */
type Run<Deps, S extends z.ZodRawShape> = (
  ops: Deps,
  input: Resolved<InputOf<S>>,
  tenant: string,
) => Promise<void>;

/** A command that only reads. The database's address is enough, so its user need not sign in. */
interface QuerySpec<S extends z.ZodRawShape> extends CommandDescription<S> {
  readonly run: Run<Ops, S>;
}

/** A command that changes data, and the right that it requires. */
interface CommandSpec<S extends z.ZodRawShape> extends CommandDescription<S> {
  readonly needs: Needs<InputOf<S>>;
  /** Throws UsageError if the options do not go together, before the user's rights are checked. */
  readonly check?: (input: InputOf<S>) => void;
  /** Whether the database's administrator may run it while no person may manage the staff. */
  readonly firstByAdministrator?: true;
  readonly run: Run<AuthorisedOps, S>;
}

/** A command that needs neither database nor configuration. */
interface LocalCommandSpec<S extends z.ZodRawShape> extends CommandDescription<S> {
  readonly run: (output: Output, input: InputOf<S>) => Promise<void> | void;
}

/** Options that any command may have. `tenant` and `reference` are what the user wrote. */
const common = z.object({
  json: z.boolean().default(false),
  csv: z.boolean().default(false),
  columns: commaSeparated,
  yes: z.boolean().default(false),
  as: z.string().optional(),
  code: z.string().optional(),
  watch: z.boolean().default(false),
  follow: z.boolean().default(false),
  tenant: z.string().default(''),
  reference: z.string().optional(),
});

interface Invocation extends z.infer<typeof common> {
  /** The command, such as `tenants add`. */
  readonly command: string;
  /** The subject of the command, as the user named it, for the record of a refusal. */
  readonly subject: string;
  /** The argument or option that names it. */
  readonly subjectName: string;
}

export function withGlobalOptions(program: Command): Command {
  return program
    .configureHelp(HELP)
    .configureOutput({
      writeErr: (text) => process.stderr.write(linesWithEscapes(text)),
      outputError: (text, write) => write(withAdvice(text)),
    })
    .helpOption('-h, --help', 'show this help')
    .version(versionText(), '--version', 'print the versions of the program and of its API')
    .option('--json', 'print JSON instead of a table, and nothing else, on standard output')
    .option('--yes', 'do not ask before what cannot be undone')
    .option('--as <name>', 'signed-in person to act as (default: the last who signed in)');
}

/** Adds a command, or a group of them, to its parent. */
export type CommandDefinition = (parent: Command, usage: string) => void;

/** Commands by their names with their arguments: `revoke <key-id>`. */
export type Commands = Readonly<Record<string, CommandDefinition>>;

export function addCommands(parent: Command, commands: Commands): void {
  for (const [usage, addTo] of Object.entries(commands)) addTo(parent, usage);
}

export function group(summary: string, commands: Commands): CommandDefinition {
  return (parent, name) => addCommands(withSuggestions(parent.command(name), summary), commands);
}

/** Defines a command that only reads. Lists take the option --watch. */
export function query<S extends z.ZodRawShape>(spec: QuerySpec<S>): CommandDefinition {
  return define(spec, 'nothing', (invocation, input) =>
    withOps(invocation, (ops) => {
      if (!invocation.watch) return runWithResources(spec.run, ops, input, invocation);
      return ops.output.watch(async () => {
        await ops.databaseClock.read(ops.database.lookup);
        await runWithResources(spec.run, ops, input, invocation);
      });
    }),
  );
}

export function command<S extends z.ZodRawShape>(spec: CommandSpec<S>): CommandDefinition {
  return define(spec, declaredNeedsOf(spec.needs), (invocation, input) => {
    spec.check?.(input);
    return withOps(invocation, (ops) => runAuthorised(spec, input, invocation, ops));
  });
}

export function managerCommand<S extends z.ZodRawShape>(
  spec: Omit<CommandSpec<S>, 'needs'>,
): CommandDefinition {
  return command({ ...spec, needs: 'manage' });
}

export function localCommand<S extends z.ZodRawShape>(
  spec: LocalCommandSpec<S>,
): CommandDefinition {
  return define(spec, 'nothing', (invocation, input) => spec.run(new Output(invocation), input));
}

/** Runs a command with the resources that its input names. */
async function runWithResources<Deps extends Ops, S extends z.ZodRawShape>(
  run: Run<Deps, S>,
  ops: Deps,
  input: InputOf<S>,
  { tenant }: Invocation,
): Promise<void> {
  await run(ops, await resolveLookups(ops.database.reader, input, tenant, ops.output), tenant);
}

/** Decides whether the user may run a command; no other place does. */
async function runAuthorised<S extends z.ZodRawShape>(
  spec: CommandSpec<S>,
  input: InputOf<S>,
  invocation: Invocation,
  ops: Ops,
): Promise<void> {
  const { needs } = spec;
  const run = (deps: Ops, user: Authorised | null, actor: Actor | null): Promise<void> =>
    runWithResources(spec.run, authorisedOps(deps, user, actor), input, invocation);
  const need = typeof needs === 'string' ? needs : await needs.for(input, ops.database.reader);
  if (need === null || need === 'own proof') return run(ops, null, null);
  const first =
    spec.firstByAdministrator === true ? await findAdministrator(ops.config, ops) : null;
  if (first !== null) {
    const { deps, actor } = first;
    ops.output.actsAs(actor.name);
    return run({ ...ops, ...deps }, null, actor).finally(() => deps.database.close());
  }
  const { tenant, subject, subjectName } = invocation;
  const found = () =>
    // Ids on standard input are not read for a refusal.
    subject === '-'
      ? Promise.resolve({ tenantId: null, id: null })
      : findSubject(ops.database.reader, input, tenant, subjectName);
  const user = await authorise(ops, need, { ...invocation, findSubject: found });
  const { identity } = user;
  ops.output.actsAs(identity.name, () => assertStillAuthorised(ops, need, identity));
  return run(ops, user, needsCode(need) ? null : identity);
}

function authorisedOps(ops: Ops, user: Authorised | null, actor: Actor | null): AuthorisedOps {
  const required = <T>(value: T | null): T => {
    if (value === null)
      throw new Error(
        'the command writes to the audit log but declares no right or action that it needs',
      );
    return value;
  };
  let proven: Promise<StaffIdentity> | undefined;
  return {
    ...ops,
    by: () => (proven ??= required(user).prove()),
    user: () => required(user).identity,
    actor: () => required(actor),
    isAdministrator: user === null && actor !== null,
  };
}

const CODE_OPTION = [
  '--code <code>',
  'what your authenticator shows now; without it you are asked',
] as const;
const NO_CODE = '--code is required without a terminal';
/** Commands that show a list, by their first word; the others have one of the options. */
const LISTS = /^(list|rows|stuck|waiting|movements|deliveries|sessions)\b/;
const ALSO_WATCHED = /^status\b/;
const ALSO_CSV = /^(search|audit-log)\b/;
/** Commands that describe --csv themselves. */
const OWN_CSV = /^(problems|trial-balance|closing)\b/;
const CSV_OPTION = ['--csv', 'print CSV for a spreadsheet, with all fields'] as const;
const COLUMNS_OPTION = [
  '--columns <names>',
  'show only these, in this order: id,status,amount; their names are those of the JSON',
] as const;
const WATCH_OPTION = ['--watch', 'show it again every 2 seconds until you press Ctrl-C'] as const;

function define<S extends z.ZodRawShape>(
  spec: CommandDescription<S>,
  needs: DeclaredNeeds,
  run: (invocation: Invocation, input: InputOf<S>) => Promise<void> | void,
): CommandDefinition {
  return (parent, usage) => {
    const own = parent
      .command(usage, { isDefault: spec.isDefault === true })
      .description(spec.summary);
    declareNeeds(own, needs);
    const schema = z.object(spec.input ?? ({} as S));
    declareAcceptedValues(own, schema);
    const hasCsv = LISTS.test(usage) || ALSO_CSV.test(usage);
    const more = [
      ...(Array.isArray(needs) && needs.some(needsCode) ? [CODE_OPTION] : []),
      ...(hasCsv ? [CSV_OPTION] : []),
      ...(hasCsv || OWN_CSV.test(usage) ? [COLUMNS_OPTION] : []),
      ...(LISTS.test(usage) || ALSO_WATCHED.test(usage) ? [WATCH_OPTION] : []),
    ];
    const options = [...optionsOf(schema), ...more];
    for (const [flags, description] of options) own.option(flags, description);
    const forms = Object.entries({ '<time>': TIME_FORMS, '<amount>': AMOUNT_FORMS })
      .filter(([value]) => options.some(([flags]) => flags.endsWith(value)))
      .map(([, text]) => text);
    const examples = spec.examples.map((example) => `  $ ${PROGRAM} ${example}`).join('\n');
    addParagraphs(own, spec.explanation, ...forms, needsText(needs), `Examples:\n${examples}`);
    own.action(async () => {
      const named = argumentsOf(own);
      const given = { ...own.optsWithGlobals(), ...named };
      const input = parseInput(schema, given, new Set(Object.keys(named)));
      const options = parseInput(common, given);
      if (needs === 'nothing' && options.as !== undefined && !('as' in schema.shape))
        throw new UsageError("unknown option '--as': this command acts in nobody's name");
      if (options.csv && (options.json || options.watch))
        throw new UsageError('--csv goes with neither --json nor --watch');
      if (options.follow && (options.csv || options.watch || options.columns.length > 0))
        throw new UsageError('--follow goes with none of --csv, --watch and --columns');
      const [[firstName = '', first] = []] = Object.entries(named);
      const hasReference = options.reference !== undefined;
      const subject = options.reference ?? [first].flat().join(' ');
      const subjectName = hasReference ? 'reference' : firstName;
      await run({ ...options, command: nameOf(own), subject, subjectName }, input);
    });
  };
}

function argumentsOf(command: Command): Record<string, unknown> {
  return Object.fromEntries(
    command.registeredArguments.map((argument, index) => [
      argument.name().replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      command.processedArgs[index] as unknown,
    ]),
  );
}

function parseInput<S extends z.ZodObject>(
  schema: S,
  given: Readonly<Record<string, unknown>>,
  positional: ReadonlySet<string> = new Set(),
): z.infer<S> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => {
    const name = String(issue.path[0] ?? '');
    const label = positional.has(name) ? `<${kebabCase(name)}>` : `--${kebabCase(name)}`;
    return given[name] === undefined ? `${label} is required` : `${label}: ${issue.message}`;
  });
  throw new UsageError(problems.join('; '));
}

function nameOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null
    ? command.name()
    : `${nameOf(parent)} ${command.name()}`;
}

async function withOps(invocation: Invocation, work: (ops: Ops) => Promise<void>): Promise<void> {
  const config = readOpsConfig();
  const output = new Output(invocation);
  const deps = buildOpsParts(config, (line) => output.say(line));
  const path = config.OPS_SESSIONS ?? SESSION_FILE;
  const asksForCode = invocation.code === undefined && output.canAsk;
  const code = async (name: string, remark = ''): Promise<string> =>
    invocation.code ?? output.ask(`${remark}Code of ${name}'s authenticator`, NO_CODE);
  try {
    // Commands date changes and decide what has expired. (docs/operations/database.md, Clocks)
    await deps.databaseClock.read(deps.database.lookup);
    await work({
      ...deps,
      config,
      output,
      code,
      asksForCode,
      key: config.OPS_KEY,
      as: invocation.as,
      sessions: new SessionFile(path, databaseKey(config.MYSQL_URL)),
      encryptionKeys: () => encryptionKeysOf(config),
    });
  } finally {
    await deps.writer.idle();
    await deps.database.close();
  }
}
