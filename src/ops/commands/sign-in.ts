import { hostname } from 'node:os';
import { toRfc3339 } from '../../core/instant.js';
import { findSession, revokeSessions, SESSION_MS, signIn } from '../../staff/sessions.js';
import { command, type Ops, query } from '../command.js';
import { OpsError, UsageError } from '../failures.js';
import { flag, optional, optionalText, text } from '../inputs.js';
import { readStandardInput } from '../standard-input.js';
import type { Fields } from '../fields.js';
import { codeError, findActor, type SignedIn, withCode } from '../staff/authorisation.js';

export const signInCommands = {
  'login <name>': command({
    summary: 'sign in with a code from your authenticator; later commands act as you',
    explanation: `
A session lasts 8 hours, on this machine and for this database. Several people may be signed in: --as NAME selects one;
without it, the last to sign in acts. Programs do not sign in: they use a service's key in OPS_KEY (staff add-service --help).`,
    examples: ['login maria', 'login maria --code 492039'],
    input: {
      name: text,
      code: optional(
        '<code> the code; without it you are asked, or it is read from standard input',
      ),
    },
    needs: 'own proof',
    run: login,
  }),
  logout: command({
    summary: 'end your session',
    examples: ['logout', 'logout --as maria --everywhere'],
    input: {
      as: optionalText,
      everywhere: flag('also your sessions on other machines and at the support desk'),
    },
    needs: 'own proof',
    run: logout,
  }),
  whoami: query({
    summary: 'show who acts here, their rights, when their session ends, and who else is signed in',
    examples: ['whoami', 'whoami --as maria'],
    input: { as: optionalText },
    run: async (ops) => {
      const found = await findActor(ops);
      const stored = ops.sessions.list().filter(({ name }) => name !== found.identity.name);
      const open = await Promise.all(
        stored.map(({ token }) => findSession(ops, token, 'ops', SESSION_MS, { isUse: false })),
      );
      const others = open.flatMap((one) => one?.identity.name ?? []);
      ops.output.one({ ...signedInFields(found), others });
    },
  }),
};

function signedInFields({ identity, session }: SignedIn): Fields {
  const { name, kind, rights } = identity;
  return { name, kind, can: rights, expires_at: toRfc3339(session?.expiresAt ?? null) };
}

async function login(ops: Ops, { name, code: given }: { name: string; code?: string | undefined }) {
  const { database, clock, output, sessions } = ops;
  const deps = { database, clock, encryptionKeys: ops.encryptionKeys() };
  // A session that could not be stored would waste a code.
  sessions.assertUsable();
  const code = given === undefined && !output.canAsk ? readCode : ops.code;
  const result = await withCode({ ...ops, code }, name, (code) =>
    signIn(deps, { name, code, channel: 'ops', place: hostname() }),
  );
  if ('refusal' in result) throw codeError(result.refusal);
  const { token, session, identity } = result;
  sessions.keep({ name: identity.name, token, expires_at: toRfc3339(session.expiresAt) }, clock());
  output.one(signedInFields(result));
}

async function readCode(): Promise<string> {
  const code = await readStandardInput();
  if (code === '')
    throw new UsageError(
      '--code is required without a terminal, unless standard input has the code',
    );
  return code;
}

/** Sessions that have ended or are unknown to the database are removed from the file as well. */
async function logout(
  ops: Ops,
  { as, everywhere }: { as?: string | undefined; everywhere: boolean },
): Promise<void> {
  const stored = ops.sessions.find(as);
  if (stored === undefined)
    throw new OpsError(as === undefined ? 'nobody is signed in' : `${as} is not signed in here`);
  const found = await findSession(ops, stored.token, 'ops');
  let ended = 0;
  if (found !== null) {
    const { identity, session } = found;
    const which = everywhere ? { staffId: session.staffId } : { id: session.id };
    ended = await revokeSessions(ops, which, identity);
  }
  ops.sessions.drop(stored.name);
  const next = await findActor({ ...ops, as: undefined }).catch(() => null);
  const acts_now = next?.identity.name ?? null;
  const after = acts_now === null ? 'nobody is signed in now' : `${acts_now} acts from now on`;
  ops.output.happened(`${stored.name} has signed out; ${after}.`);
  ops.output.one({ name: stored.name, ended_sessions: ended, acts_now });
  if (ended === 0) ops.output.say('The session had already ended.');
}
