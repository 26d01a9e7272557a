import type { Reader } from './database.js';
import { isUnavailable } from './failures.js';
import { GRANTS, MEMBERS_RIGHT, MEMBERS_TABLE } from './grants.js';

/**
 * Proves that the application's user may do no more than the list says (grants.ts): a right that somebody added by hand, or
 * that an older list gave, would let whoever has the application's password rewrite what happened.
 */

/** The application's user may do more than it should. The message has the statements that take it away. */
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

/**
 * Throws ExcessiveRights, or what SHOW GRANTS failed with. While MySQL is away nothing is known, so nothing is thrown: it is
 * looked at as soon as MySQL is back, and `later` told then.
 */
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

/** Throws ExcessiveRights, and what the statements fail with. */
export async function checkRights(reader: Pick<Reader, 'query'>): Promise<void> {
  const [named] = await reader.query('SELECT DATABASE() AS name');
  const lines = (await reader.query('SHOW GRANTS')).flatMap((row) => Object.values(row).map(String));
  const excess = excessiveRights(String(named?.name), lines);
  if (excess.length > 0) throw new ExcessiveRights(excess);
}

const NAME = "(?:`(?:[^`]|``)*`|'(?:[^']|'')*'|[A-Za-z0-9_]+)";
const GRANTEE = `${NAME}(?:@${NAME})?`;
/** MariaDB puts the password's hash behind the grantee, which must not reach a message. */
const RIGHTS = new RegExp(`^GRANT (.+?) ON (.+?) TO (${GRANTEE})( .*)?$`, 's');
const ROLES = new RegExp(`^GRANT (${GRANTEE}(?:, ?${GRANTEE})*) TO (${GRANTEE})( .*)?$`, 's');
/** What takes away, and what says which of the granted roles is active. */
const HARMLESS = /^(REVOKE|SET DEFAULT ROLE) /;

/** What lines of SHOW GRANTS, of MariaDB or MySQL, allow beyond the list in this database, as statements that revoke it. */
export function excessiveRights(database: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const [, rights, object, grantee = '', more = ''] = RIGHTS.exec(line) ?? [];
    if (rights !== undefined && object !== undefined) {
      const excess = beyondList(rights, allowedOn(database, object));
      const revoked = excess.length === 0 ? [] : [excess.join(', ')];
      if (rights !== 'PROXY' && / WITH .*\bGRANT OPTION\b/s.test(more)) revoked.push('GRANT OPTION');
      return revoked.map((right) => `REVOKE ${right} ON ${object} FROM ${grantee}`);
    }
    const [, roles, holder = ''] = ROLES.exec(line) ?? [];
    if (roles !== undefined) return [`REVOKE ${roles} FROM ${holder}`];
    if (HARMLESS.test(line)) return [];
    throw new Error('SHOW GRANTS answered a line of which it is not known what it allows');
  });
}

/** On a table that the list does not have: a later release has brought it, and goes on with it when this one is gone. */
const OF_LATER_TABLES = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** The rights of the list on an object as SHOW GRANTS writes it. */
function allowedOn(database: string, object: string): readonly string[] {
  if (object === MEMBERS_TABLE) return [MEMBERS_RIGHT];
  const [start, end] = [`\`${database}\`.\``, '`'];
  if (!object.startsWith(start) || !object.endsWith(end)) return [];
  return GRANTS[object.slice(start.length, -end.length)]?.split(', ') ?? OF_LATER_TABLES;
}

/** USAGE is the right to log in and nothing else. */
function beyondList(rights: string, allowed: readonly string[]): string[] {
  // Columns stand in parentheses behind a right: SELECT (a, b).
  const each = rights.split(/, ?(?![^(]*\))/).filter((right) => right !== 'USAGE');
  return each.filter((right) => !allowed.includes(right.replace(/ \(.*$/s, '')));
}
