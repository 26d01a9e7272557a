import type { Reader } from './database.js';
import { isUnavailable } from './failures.js';
import { GRANTS, MEMBERS_RIGHT, MEMBERS_TABLE } from './grants.js';

/** With more rights than listed (grants.ts), the application's password could rewrite the past. */

/** The message contains the statements that revoke the excessive rights. */
export class ExcessiveRights extends Error {
  override name = 'ExcessiveRights';

  constructor(statements: readonly string[]) {
    super(
      `the database user that MYSQL_URL names may do more than the service should be able to. Take that away,\n` +
        statements.map((statement) => `  ${statement};\n`).join('') +
        'and run the migrations again. Where that user is an administrator, name another by MYSQL_URL instead.',
    );
  }
}

const LOOK_AGAIN_MS = 5_000;

/** Throws ExcessiveRights. While MySQL is away, checks again later, and reports to `later`. */
export async function assertLeastRights(
  reader: Pick<Reader, 'query'>,
  later: (failure: unknown) => void,
): Promise<void> {
  try {
    await checkRights(reader);
  } catch (failure) {
    if (!isUnavailable(failure)) throw failure;
    setTimeout(() => void assertLeastRights(reader, later).catch(later), LOOK_AGAIN_MS).unref();
  }
}

export async function checkRights(reader: Pick<Reader, 'query'>): Promise<void> {
  const [named] = await reader.query('SELECT DATABASE() AS name');
  const lines = (await reader.query('SHOW GRANTS')).flatMap((row) =>
    Object.values(row).map(String),
  );
  const excess = excessiveRights(String(named?.name), lines);
  if (excess.length > 0) throw new ExcessiveRights(excess);
}

const NAME = "(?:`(?:[^`]|``)*`|'(?:[^']|'')*'|[A-Za-z0-9_]+)";
const GRANTEE = `${NAME}(?:@${NAME})?`;
/** MariaDB puts the password's hash after the grantee; it must not reach a message. */
const RIGHTS = new RegExp(`^GRANT (.+?) ON (.+?) TO (${GRANTEE})( .*)?$`, 's');
const ROLES = new RegExp(`^GRANT (${GRANTEE}(?:, ?${GRANTEE})*) TO (${GRANTEE})( .*)?$`, 's');
/** Statements that revoke, or that select which granted role is active. */
const HARMLESS = /^(REVOKE|SET DEFAULT ROLE) /;

/** Returns the statements that revoke what these lines of SHOW GRANTS allow beyond the list. */
export function excessiveRights(database: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const [, rights, object, grantee = '', more = ''] = RIGHTS.exec(line) ?? [];
    if (rights !== undefined && object !== undefined) {
      const excess = beyondList(rights, allowedOn(database, object));
      const revoked = excess.length === 0 ? [] : [excess.join(', ')];
      if (rights !== 'PROXY' && / WITH .*\bGRANT OPTION\b/s.test(more))
        revoked.push('GRANT OPTION');
      return revoked.map((right) => `REVOKE ${right} ON ${object} FROM ${grantee}`);
    }
    const [, roles, holder = ''] = ROLES.exec(line) ?? [];
    if (roles !== undefined) return [`REVOKE ${roles} FROM ${holder}`];
    if (HARMLESS.test(line)) return [];
    throw new Error('SHOW GRANTS answered a line of which it is not known what it allows');
  });
}

/** Rights accepted on tables that only a later release has. */
const OF_LATER_TABLES = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** Returns the listed rights on an object, named as in SHOW GRANTS. */
function allowedOn(database: string, object: string): readonly string[] {
  if (object === MEMBERS_TABLE) return [MEMBERS_RIGHT];
  const [start, end] = [`\`${database}\`.\``, '`'];
  if (!object.startsWith(start) || !object.endsWith(end)) return [];
  return GRANTS[object.slice(start.length, -end.length)]?.split(', ') ?? OF_LATER_TABLES;
}

function beyondList(rights: string, allowed: readonly string[]): string[] {
  // Columns follow a right in parentheses: SELECT (a, b).
  const each = rights.split(/, ?(?![^(]*\))/).filter((right) => right !== 'USAGE');
  return each.filter((right) => !allowed.includes(right.replace(/ \(.*$/s, '')));
}
