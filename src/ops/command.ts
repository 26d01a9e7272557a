import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { z } from 'zod';
import { type Actor, operatorActor } from '../access/audit-log.js';
import { type OpsConfig, readOpsConfig } from '../config.js';
import { checkedText } from '../core/checked-text.js';
import type { Keyring } from '../core/fingerprint.js';
import type { Gateways } from '../payouts/rails/registry.js';
import { findStaff } from '../staff/people.js';
import type { StaffIdentity } from '../staff/rules.js';
import { identityOf } from '../staff/verification.js';
import { buildOpsParts, encryptionKeysOf, type OpsParts } from './context.js';
import { OpsError, UsageError } from './failures.js';
import { linesWithEscapes, Output } from './output.js';

/** What a command works with. */
export interface Ops extends OpsParts {
  readonly output: Output;
  /** Who acts, as the records will name them. Throws ApiError invalid_field. */
  readonly operator: () => string;
  /** The same as one of the staff. Throws OpsError. */
  readonly staff: () => Promise<StaffIdentity>;
  /** The same as the audit log names them. Throws ApiError invalid_field. */
  readonly actor: () => Actor;
  /** Throws ConfigError where they are not configured. */
  readonly encryptionKeys: () => Keyring;
  /** Where gateways are, and the keys shared with them. */
  readonly gateways: Gateways;
  /** How long a gateway that cannot void may still pay, in milliseconds, by the rail's name in payouts. */
  readonly railQuietMs: ReadonlyMap<string, number>;
  /** How long after an outcome a rail may date its line in a statement, likewise. */
  readonly railStatementDelayMs: ReadonlyMap<string, number>;
}

/** One command as its users see it: what it is called, what its help teaches, what it takes. */
interface CommandFace<S extends z.ZodObject> {
  /** With its arguments: `revoke <key-id>`. */
  readonly usage: string;
  readonly summary: string;
  /** Flags as commander reads them (`--tenant <tenant>`), each with its description. */
  readonly options: readonly (readonly [flags: string, description: string])[];
  /** What help says beside the options, where they do not say it all. */
  readonly explanation?: string;
  /** Whole command lines after `npm run ops -- `. */
  readonly examples: readonly [string, ...string[]];
  /** Arguments and options by their camelCase names. */
  readonly input: S;
}

/** A command, and what it does with the service's parts. */
export interface CommandSpec<S extends z.ZodObject> extends CommandFace<S> {
  readonly run: (ops: Ops, input: z.infer<S>) => Promise<void>;
}

/** A command for which there need be no service: it has no database and no configuration. */
export interface LocalCommandSpec<S extends z.ZodObject> extends CommandFace<S> {
  readonly run: (output: Output, input: z.infer<S>) => Promise<void>;
}

const globals = z.object({
  json: z.boolean().default(false),
  yes: z.boolean().default(false),
  operator: z.string().optional(),
});

/** The options of every command. */
export function withGlobalOptions(program: Command): Command {
  return program
    .configureOutput({ writeErr: (text) => process.stderr.write(linesWithEscapes(text)) })
    .option('--json', 'print JSON instead of a table')
    .option('--yes', 'do not ask before what cannot be undone')
    .option('--operator <name>', 'who acts (default: OPS_OPERATOR, else your user on this machine)');
}

export function group(program: Command, name: string, summary: string): Command {
  return program.command(name).description(summary).configureHelp({ showGlobalOptions: true });
}

export function addCommand<S extends z.ZodObject>(parent: Command, spec: CommandSpec<S>): void {
  define(parent, spec, (options, input) => withOps(options, (ops) => spec.run(ops, input)));
}

export function addLocalCommand<S extends z.ZodObject>(parent: Command, spec: LocalCommandSpec<S>): void {
  define(parent, spec, (options, input) => spec.run(new Output(options), input));
}

type GlobalOptions = z.infer<typeof globals>;

function define<S extends z.ZodObject>(
  parent: Command,
  spec: CommandFace<S>,
  act: (options: GlobalOptions, input: z.infer<S>) => Promise<void>,
): void {
  const command = parent.command(spec.usage).description(spec.summary).configureHelp({ showGlobalOptions: true });
  for (const [flags, description] of spec.options) command.option(flags, description);
  const examples = spec.examples.map((example) => `  $ npm run ops -- ${example}`).join('\n');
  command.addHelpText(
    'after',
    `${spec.explanation === undefined ? '' : `${spec.explanation}\n`}\nExamples:\n${examples}`,
  );
  command.action(async () => {
    const named = argumentsOf(command);
    const given = { ...command.optsWithGlobals(), ...named };
    const input = checked(spec.input, given, new Set(Object.keys(named)));
    await act(checked(globals, given), input);
  });
}

function argumentsOf(command: Command): Record<string, unknown> {
  return Object.fromEntries(
    command.registeredArguments.map((argument, index) => [
      argument.name().replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      command.processedArgs[index] as unknown,
    ]),
  );
}

function checked<S extends z.ZodObject>(
  schema: S,
  given: Readonly<Record<string, unknown>>,
  positional: ReadonlySet<string> = new Set(),
): z.infer<S> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => {
    const name = String(issue.path[0] ?? '');
    const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const shown = positional.has(name) ? `<${words}>` : `--${words}`;
    return given[name] === undefined ? `${shown} is required` : `${shown}: ${issue.message}`;
  });
  throw new UsageError(problems.join('; '));
}

async function withOps(options: GlobalOptions, work: (ops: Ops) => Promise<void>): Promise<void> {
  const config = readOpsConfig();
  const output = new Output(options);
  const parts = buildOpsParts(config, (line) => output.say(line));
  const operator = (): string => operatorName(options.operator, config);
  const actor = (): Actor => operatorActor(operator());
  const staff = (): Promise<StaffIdentity> => staffNamed(parts, operator());
  try {
    const gateways = { urls: config.PAYOUT_RAIL_URLS, keys: config.PAYOUT_RAIL_KEYS };
    const { PAYOUT_RAIL_QUIET_S: railQuietMs, PAYOUT_RAIL_STATEMENT_DELAY_S: railStatementDelayMs } = config;
    const rails = { gateways, railQuietMs, railStatementDelayMs };
    await work({ ...parts, ...rails, output, operator, actor, staff, encryptionKeys: () => encryptionKeysOf(config) });
  } finally {
    await parts.desk.drained();
    await parts.database.close();
  }
}

async function staffNamed({ database }: OpsParts, name: string): Promise<StaffIdentity> {
  const person = await findStaff(database.reader, name);
  if (person?.active !== true) throw new OpsError(`${name} is not active staff`);
  return identityOf(person, 'ops');
}

const MAX_OPERATOR = 80;

function operatorName(given: string | undefined, config: OpsConfig): string {
  return checkedText('operator', given ?? config.OPS_OPERATOR ?? userInfo().username, MAX_OPERATOR);
}
