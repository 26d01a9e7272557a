import type { Command } from 'commander';
import { z } from 'zod';
import type { Actor } from '../access/audit-log.js';
import { type OpsConfig, readOpsConfig } from '../config/config.js';
import type { Keyring } from '../core/fingerprint.js';
import type { StaffIdentity } from '../staff/rules.js';
import { buildOpsParts, encryptionKeysOf, type OpsDeps } from './context.js';
import { UsageError } from './failures.js';
import { addParagraphs, HELP, PROGRAM, versionText } from './help.js';
import { kebabCase, optionsOf } from './inputs.js';
import { linesWithEscapes, Output } from './output.js';
import {
  type AuthorisationDeps,
  assertStillAuthorised,
  authorise,
  declareNeeds,
  type DeclaredNeeds,
  findActor,
  findAdministrator,
  namedNeeds,
  needsCode,
  type Needs,
  rightOf,
  type SignedIn,
} from './staff/authorisation.js';
import { databaseKey, SESSION_FILE, SessionFile } from './staff/session-file.js';

export interface Ops extends OpsDeps {
  readonly output: Output;
  readonly sessions: SessionFile;
  /** Returns the person signed in. Throws OpsError if no person is. */
  readonly signedIn: () => Promise<SignedIn>;
  /** Throws ConfigError if the keys are not configured. */
  readonly encryptionKeys: () => Keyring;
  readonly config: OpsConfig;
}

export interface AuthorisedOps extends Ops {
  /** Returns the member of the staff who has the right that the command needs. */
  readonly by: () => StaffIdentity;
  readonly actor: () => Actor;
  /** True if the database's administrator acts, because no person may manage the staff yet. */
  readonly isFirst: boolean;
}

type InputOf<S extends z.ZodRawShape> = z.infer<z.ZodObject<S>>;

interface CommandFace<S extends z.ZodRawShape> {
  readonly summary: string;
  readonly isDefault?: true;
  readonly explanation?: string | undefined;
  /** Whole command lines after `npm run ops -- `. */
  readonly examples: readonly [string, ...string[]];
  /** Arguments and options (`option`) by their camelCase names; absent without any. */
  readonly input?: S;
}

/** A command that only reads. The database's address is enough, so its user need not sign in. */
interface QuerySpec<S extends z.ZodRawShape> extends CommandFace<S> {
  readonly run: (ops: Ops, input: InputOf<S>) => Promise<void>;
}

/** A command that changes data, and the right that it requires. */
interface CommandSpec<S extends z.ZodRawShape> extends CommandFace<S> {
  readonly needs: Needs<InputOf<S>>;
  /** Throws UsageError if the options do not go together, before the user's rights are checked. */
  readonly check?: (input: InputOf<S>) => void;
  /** Returns the subject of the command, for the record of a refusal. */
  readonly subject?: (input: InputOf<S>) => string;
  /** Whether the database's administrator may run it while no person may manage the staff. */
  readonly firstByAdministrator?: true;
  readonly run: (ops: AuthorisedOps, input: InputOf<S>) => Promise<void>;
}

/** A command that needs neither database nor configuration. */
interface LocalCommandSpec<S extends z.ZodRawShape> extends CommandFace<S> {
  readonly run: (output: Output, input: InputOf<S>) => Promise<void> | void;
}

const globals = z.object({
  json: z.boolean().default(false),
  yes: z.boolean().default(false),
  as: z.string().optional(),
  code: z.string().optional(),
  watch: z.boolean().default(false),
});
type GlobalOptions = z.infer<typeof globals>;

export function withGlobalOptions(program: Command): Command {
  return program
    .configureHelp(HELP)
    .configureOutput({ writeErr: (text) => process.stderr.write(linesWithEscapes(text)) })
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
  return (parent, name) => addCommands(parent.command(name).description(summary), commands);
}

/** Defines a command that only reads. Lists take the option --watch. */
export function query<S extends z.ZodRawShape>(spec: QuerySpec<S>): CommandDefinition {
  return define(spec, 'nothing', (options, input) =>
    withOps(options, (ops) => {
      if (!options.watch) return spec.run(ops, input);
      return ops.output.watch(async () => {
        await ops.databaseClock.read(ops.database.lookup);
        await spec.run(ops, input);
      });
    }),
  );
}

export function command<S extends z.ZodRawShape>(spec: CommandSpec<S>): CommandDefinition {
  return define(spec, namedNeeds(spec.needs), (options, input, name) => {
    spec.check?.(input);
    return withOps(options, (ops, acting) => runAuthorised(spec, input, name, ops, acting));
  });
}

export function localCommand<S extends z.ZodRawShape>(
  spec: LocalCommandSpec<S>,
): CommandDefinition {
  return define(spec, 'nothing', (options, input) => spec.run(new Output(options), input));
}

/** Decides whether the user may run a command; no other place does. */
async function runAuthorised<S extends z.ZodRawShape>(
  spec: CommandSpec<S>,
  input: InputOf<S>,
  name: string,
  ops: Ops,
  acting: AuthorisationDeps,
): Promise<void> {
  const { needs } = spec;
  const chosen = typeof needs === 'string' ? needs : needs.for(input);
  if (chosen === null || chosen === 'own proof')
    return spec.run(authorisedOps(ops, null, null), input);
  const first =
    spec.firstByAdministrator === true ? await findAdministrator(ops.config, ops) : null;
  if (first !== null) {
    const { deps, actor } = first;
    return spec
      .run(authorisedOps({ ...ops, ...deps }, null, actor), input)
      .finally(() => deps.database.close());
  }
  const subject = spec.subject?.(input) ?? '';
  const identity = await authorise(acting, chosen, { command: name, subject });
  ops.output.assertStillAuthorised = () => assertStillAuthorised(acting, chosen, identity);
  return spec.run(authorisedOps(ops, identity, identity), input);
}

function authorisedOps(
  ops: Ops,
  identity: StaffIdentity | null,
  actor: Actor | null,
): AuthorisedOps {
  const known = <T>(who: T | null): T => {
    if (who === null)
      throw new Error(
        'the command writes to the audit log but declares no right or action that it needs',
      );
    return who;
  };
  const isFirst = identity === null && actor !== null;
  return { ...ops, by: () => known(identity), actor: () => known(actor), isFirst };
}

const CODE = [
  '--code <code>',
  'what your authenticator shows now; without it you are asked',
] as const;
/** Commands that show a list, by their first word. */
const LISTS = /^(list|stuck|deliveries|sessions|status)\b/;
const WATCH = ['--watch', 'show it again every 2 seconds until you press Ctrl-C'] as const;

function define<S extends z.ZodRawShape>(
  spec: CommandFace<S>,
  needs: DeclaredNeeds,
  run: (options: GlobalOptions, input: InputOf<S>, name: string) => Promise<void> | void,
): CommandDefinition {
  return (parent, usage) => {
    const own = parent
      .command(usage, { isDefault: spec.isDefault === true })
      .description(spec.summary);
    declareNeeds(own, needs);
    const schema = z.object(spec.input ?? ({} as S));
    const more = [
      ...(Array.isArray(needs) && needs.some(needsCode) ? [CODE] : []),
      ...(needs === 'nothing' && LISTS.test(usage) ? [WATCH] : []),
    ];
    for (const [flags, description] of [...optionsOf(schema), ...more])
      own.option(flags, description);
    const examples = spec.examples.map((example) => `  $ ${PROGRAM} ${example}`).join('\n');
    addParagraphs(own, spec.explanation, needsText(needs), `Examples:\n${examples}`);
    own.action(async () => {
      const named = argumentsOf(own);
      const given = { ...own.optsWithGlobals(), ...named };
      const input = parseInput(schema, given, new Set(Object.keys(named)));
      await run(parseInput(globals, given), input, nameOf(own));
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

function needsText(needs: DeclaredNeeds): string | undefined {
  if (needs === 'nothing' || needs === 'own proof') return undefined;
  const rights = [...new Set(needs.map(rightOf))].join(' or ');
  const code = needs.some(needsCode) ? ', and asks for a code: two people must act' : '';
  return `Needs the right to ${rights}${code} (${PROGRAM} login --help).`;
}

async function withOps(
  options: GlobalOptions,
  work: (ops: Ops, acting: AuthorisationDeps) => Promise<void>,
): Promise<void> {
  const config = readOpsConfig();
  const output = new Output(options);
  const deps = buildOpsParts(config, (line) => output.say(line));
  const encryptionKeys = (): Keyring => encryptionKeysOf(config);
  const path = config.OPS_SESSIONS ?? SESSION_FILE;
  const sessions = new SessionFile(path, databaseKey(config.MYSQL_URL));
  const code = async (name: string): Promise<string | null> =>
    options.code ??
    (output.canAsk ? output.ask(`Code of ${name}'s authenticator`, '--code is required') : null);
  const acting = { ...deps, sessions, key: config.OPS_KEY, as: options.as, code, encryptionKeys };
  try {
    // Commands date changes and decide what has expired. (docs/operations/database.md, Clocks)
    await deps.databaseClock.read(deps.database.lookup);
    const signedIn = (): Promise<SignedIn> => findActor(acting);
    await work({ ...deps, config, output, sessions, signedIn, encryptionKeys }, acting);
  } finally {
    await deps.writer.idle();
    await deps.database.close();
  }
}
