import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import Provider, { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { listenAt } from './service-process.js';

/** A company's identity provider: a real one, on this machine, at which everybody signs in by being named. */
export interface TestProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Who sits at the browser. */
  person: ProviderPerson | null;
  /** Changes what the ID token says, and signs it anew: by the provider's own key, or another. Null: it says what it says. */
  tamper: ((claims: Record<string, unknown>) => Record<string, unknown>) | null;
  isForged: boolean;
  /** Takes connections, and answers each of them 503. */
  isAway: boolean;
  stop(): Promise<void>;
}

interface ProviderPerson {
  readonly subject: string;
  readonly name: string;
  readonly groups?: readonly string[];
}

const CLIENT = {
  clientId: 'support-desk',
  clientSecret: createHash('sha256').update('client').digest('hex'),
};

/** `callbackUrl` is the desk's. */
export async function startProvider(callbackUrl: string): Promise<TestProvider> {
  const server = createServer();
  // Another site than 127.0.0.1, as browsers count sites.
  const issuer = `http://localhost:${await listenAt(server, 'localhost')}`;
  const keys = { own: newKey(), other: newKey() };
  const people = new Map<string, ProviderPerson>();
  const state: TestProvider = {
    ...{ issuer, ...CLIENT, person: null, tamper: null, isForged: false, isAway: false },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const provider = new Provider(issuer, configuration(callbackUrl, keys.own, people));
  provider.use(async (context, next) => {
    await next();
    const { body } = context;
    const isToken =
      context.path === '/token' && typeof body === 'object' && body !== null && 'id_token' in body;
    if (!isToken || typeof body.id_token !== 'string') return;
    const claims = JSON.parse(
      Buffer.from(body.id_token.split('.')[1] ?? '', 'base64url').toString(),
    ) as Record<string, unknown>;
    if (state.tamper !== null || state.isForged)
      body.id_token = signed(
        state.tamper?.(claims) ?? claims,
        state.isForged ? keys.other : keys.own,
      );
  });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (state.isAway) {
      response.writeHead(503).end();
    } else if (request.url?.startsWith('/interaction/') === true && state.person !== null) {
      people.set(state.person.subject, state.person);
      void provider.interactionFinished(request, response, {
        login: { accountId: state.person.subject },
      });
    } else {
      void answer(request, response);
    }
  });
  return state;
}

interface SigningKey {
  readonly privateKey: KeyObject;
  readonly kid: string;
}

function newKey(): SigningKey {
  return { privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey, kid: 'one' };
}

function signed(
  claims: Readonly<Record<string, unknown>>,
  { privateKey, kid }: SigningKey,
): string {
  const encoded = (part: unknown): string =>
    Buffer.from(JSON.stringify(part)).toString('base64url');
  const text = `${encoded({ alg: 'RS256', kid, typ: 'JWT' })}.${encoded(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
}

function configuration(
  callbackUrl: string,
  { privateKey, kid }: SigningKey,
  people: ReadonlyMap<string, ProviderPerson>,
): Configuration {
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };
  return {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [callbackUrl],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ['of the tests'] },
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
    // As providers of companies mostly do: the claims about a person are in the ID token.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, subject) => {
      const { name, groups = [] } = people.get(subject) ?? { name: '' };
      return {
        accountId: subject,
        claims: () => ({ sub: subject, preferred_username: name, groups: [...groups] }),
      };
    },
    loadExistingGrant: async (context) => {
      const { session, provider } = context.oidc;
      // A code counts only as long as its session has its grant, so all tabs share one.
      const known = session?.grantIdFor(CLIENT.clientId);
      const shared = known === undefined ? undefined : await provider.Grant.find(known);
      if (shared !== undefined) return shared;
      const { clientId } = CLIENT;
      const grant = new provider.Grant({ clientId, accountId: session?.accountId ?? '' });
      grant.addOIDCScope('openid profile');
      await grant.save();
      return grant;
    },
    ttl: {
      AccessToken: 60,
      AuthorizationCode: 60,
      IdToken: 60,
      Interaction: 600,
      Session: 600,
      Grant: 600,
    },
    renderError: (context: KoaContextWithOIDC, { error }, failure) => {
      if (!(failure instanceof errors.OIDCProviderError)) throw failure;
      context.body = error;
    },
  };
}
