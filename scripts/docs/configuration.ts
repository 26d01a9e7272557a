import { format } from 'prettier';
import { z } from 'zod';
import {
  MIGRATION_VARIABLES,
  OPS_VARIABLES,
  SUPPORT_VARIABLES,
  VARIABLES,
  WORKER_VARIABLES,
} from '../../src/config.js';

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

const HEAD = `# Configuration

Generated from \`src/config.ts\` by \`npm run docs:configuration\`; a test fails when the page is stale. Change the code, not the page.

Configuration comes from the environment alone. A process that starts with a wrong configuration reports every fault at once and exits.
Any variable \`NAME\` may be given as \`NAME_FILE\`, the path of a file that holds the value. Empty counts as not set. Variables
marked **secret** belong in such files.

The programs are the API (\`dist/src/server.js\`), the worker (\`dist/src/worker.js\`), the support desk (\`dist/src/support.js\`), the migrations (\`dist/src/migrate.js\`) and the
operators' command line (\`npm run ops\`). What each variable is for, by the programs that read it:
`;

/** The page as it should be in the repository. */
export function configurationPage(): Promise<string> {
  const names = [...new Set(NAMES.flatMap((program) => Object.keys(PROGRAMS[program])))];
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const users = NAMES.filter((program) => name in PROGRAMS[program]).join(', ');
    groups.set(users, [...(groups.get(users) ?? []), name]);
  }
  const sections = Array.from(groups, ([users, own]) => section(users, own));
  return format([HEAD, ...sections].join('\n'), { parser: 'markdown', printWidth: 120 });
}

function section(users: string, names: readonly string[]): string {
  const rows = names.toSorted().map((name) => `| ${[`\`${name}\``, meaningOf(name), valueOf(name)].join(' | ')} |`);
  return [`## ${users}`, '', '| Variable | Meaning | Value |', '| --- | --- | --- |', ...rows, ''].join('\n');
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
  return escaped(text.startsWith(SECRET) ? `**secret**; ${text.slice(SECRET.length)}` : text);
}

/** The range and the default, or that it must be set. */
function valueOf(name: string): string {
  const schema = schemaOf(name);
  return [rangeOf(schema), defaultOf(schema)].filter((part) => part !== '').join('; ');
}

function rangeOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) return rangeOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) return rangeOf(schema.out as z.ZodType);
  if (schema instanceof z.ZodEnum) return schema.options.map((option) => `\`${String(option)}\``).join(', ');
  if (schema instanceof z.ZodNumber) return `${numberText(schema.minValue)} to ${numberText(schema.maxValue)}`;
  return '';
}

function numberText(value: number | null): string {
  return value === null ? 'any' : String(value);
}

function defaultOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodOptional) return 'none by default';
  if (!(schema instanceof z.ZodDefault)) return '**required**';
  const value: unknown = schema.def.defaultValue;
  if (typeof value === 'number') return `default ${numberText(value)}`;
  if (typeof value === 'string') return `default \`${escaped(value)}\``;
  if (Array.isArray(value) && value.length > 0) return `default \`${value.join(',')}\``;
  return 'empty by default';
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('*=', '\\*=').replaceAll(':*', ':\\*');
}
