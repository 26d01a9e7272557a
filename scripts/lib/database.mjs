import { ADMIN_USER, APP_USER } from './mysql.mjs';
import { UserError } from './progress.mjs';

/** The service's database, if a URL names no other. */
export const DATABASE = 'money';
const ACCESS_DENIED = 1045;

/** A MySQL URL from its parts. */
export function mysqlUrl({ user, password, host, port, database = '' }) {
  return `mysql://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}:${port}/${database}`;
}

/** The application's and the administrator's URLs on the private server. */
export function privateUrls(port, secrets) {
  const at = { host: '127.0.0.1', port, database: DATABASE };
  return {
    url: mysqlUrl({ ...at, user: APP_USER, password: secrets.mysql_app_password }),
    adminUrl: mysqlUrl({ ...at, user: ADMIN_USER, password: secrets.mysql_admin_password }),
  };
}

/**
 * Prepares the server that MYSQL_URL and MYSQL_ADMIN_URL name: the database, and the application's user if it cannot
 * log in yet. An administrator's MYSQL_URL alone is enough; the user is then named money_app.
 */
export async function prepareNamedServer(secrets) {
  const named = parse('MYSQL_URL', process.env.MYSQL_URL);
  const admin = process.env.MYSQL_ADMIN_URL
    ? parse('MYSQL_ADMIN_URL', process.env.MYSQL_ADMIN_URL)
    : named;
  const app =
    admin === named ? { ...named, user: APP_USER, password: secrets.mysql_app_password } : named;
  const connection = await connectTo(admin);
  try {
    if (admin === named) await assertAdministrator(connection);
    await connection.query('CREATE DATABASE IF NOT EXISTS ?? CHARACTER SET utf8mb4', [
      named.database,
    ]);
    if (!(await canLogIn(app))) await makeUser(connection, app, admin === named);
  } finally {
    await connection.end();
  }
  return { url: mysqlUrl(app), adminUrl: mysqlUrl({ ...admin, database: named.database }) };
}

function parse(name, value) {
  if (!URL.canParse(value) || new URL(value).protocol !== 'mysql:') {
    throw new UserError(`${name} must look like mysql://user:password@host:3306/${DATABASE}.`);
  }
  const url = new URL(value);
  return {
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    host: url.hostname,
    port: url.port || '3306',
    database: url.pathname.slice(1) || DATABASE,
  };
}

async function connectTo({ user, password, host, port }) {
  // Imported here because the scripts start before the packages are installed.
  const { createConnection } = await import('mysql2/promise');
  try {
    return await createConnection({
      user,
      password,
      host,
      port: Number(port),
      connectTimeout: 10_000,
    });
  } catch (error) {
    throw new UserError(
      `MySQL at ${host}:${port} refused the connection of ${user}: ${error.message || error.code}.`,
      {
        cause: error,
      },
    );
  }
}

async function canLogIn(app) {
  try {
    await (await connectTo(app)).end();
    return true;
  } catch (error) {
    if (error.cause?.errno === ACCESS_DENIED) return false;
    throw error;
  }
}

async function assertAdministrator(connection) {
  const [rows] = await connection.query('SHOW GRANTS');
  const rights = rows
    .flatMap((row) => Object.values(row))
    .filter((grant) => / ON \*\.\* /.test(grant));
  if (rights.some((grant) => /^GRANT .*\b(ALL PRIVILEGES|CREATE USER)\b/.test(grant))) return;
  throw new UserError(
    'MYSQL_URL alone must name an administrator, who can create tables and users. Or set MYSQL_URL to the application user and MYSQL_ADMIN_URL to the administrator.',
  );
}

/** Creates the user, to whom the migrations grant its rights. Sets the password only of a user of this script. */
async function makeUser(connection, { user, password }, isOurs) {
  await connection.query('CREATE USER IF NOT EXISTS ?@? IDENTIFIED BY ?', [user, '%', password]);
  if (isOurs) await connection.query('ALTER USER ?@? IDENTIFIED BY ?', [user, '%', password]);
}
