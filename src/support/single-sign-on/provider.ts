import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  clockTolerance,
  type Configuration,
  discovery,
  enableNonRepudiationChecks,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { StaffRight } from '../../db/entities/staff.js';
import type { ProvenSubject, ProviderSettings, RightsOfClaim } from '../../staff/subjects.js';

/**
 * Sign-in with the company's identity provider by OpenID Connect: code flow with PKCE, state and
 * nonce. The provider sends the ID token directly, and its signature is checked too.
 * (docs/contract.md, Staff)
 */

export interface Flow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export class ProviderUnavailable extends Error {
  override name = 'ProviderUnavailable';
}

/** Thrown if the response does not prove the person's identity. */
export class NotProven extends Error {
  override name = 'NotProven';
}

const TIMEOUT_S = 5;
const TOLERANCE_S = 5;

export class IdentityProvider {
  private known: Promise<Configuration> | null = null;

  constructor(
    private readonly settings: ProviderSettings,
    private readonly callbackUrl: string,
  ) {}

  /** Returns the URL to redirect the browser to. Throws `ProviderUnavailable`. */
  async begin(): Promise<{ readonly url: URL; readonly flow: Flow }> {
    const configuration = await this.configuration();
    const flow = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: this.callbackUrl,
      scope: this.settings.scope,
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    });
    return { url, flow };
  }

  /** Returns the identity proven by this query. Throws `ProviderUnavailable` and `NotProven`. */
  async finish(query: URLSearchParams, { state, nonce, verifier }: Flow): Promise<ProvenSubject> {
    const configuration = await this.configuration();
    const url = new URL(this.callbackUrl);
    url.search = query.toString();
    const tokens = await authorizationCodeGrant(configuration, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    }).catch((failure: unknown) => {
      throw isProviderUnavailable(failure)
        ? new ProviderUnavailable('no token', { cause: failure })
        : new NotProven('', { cause: failure });
    });
    const claims: Readonly<Record<string, unknown>> | undefined = tokens.claims();
    if (claims === undefined) throw new NotProven('no ID token');
    return this.subjectOf(claims);
  }

  private subjectOf(claims: Readonly<Record<string, unknown>>): ProvenSubject {
    const { nameClaim, rights } = this.settings;
    const { iss: issuer, sub: subject, [nameClaim]: name } = claims;
    if (typeof issuer !== 'string' || typeof subject !== 'string')
      throw new NotProven('no subject');
    return {
      issuer,
      subject,
      name: typeof name === 'string' ? name : null,
      rights: rights === null ? null : rightsOf(rights, claims[rights.claim]),
    };
  }

  /** Returns the provider's configuration, cached. Fetches it again after a failure. */
  private configuration(): Promise<Configuration> {
    this.known ??= this.discover().catch((failure: unknown) => {
      this.known = null;
      throw new ProviderUnavailable('no configuration', { cause: failure });
    });
    return this.known;
  }

  private discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.settings;
    const url = new URL(issuer);
    const execute = [enableNonRepudiationChecks];
    // The configuration accepts http only for the loopback interface.
    if (url.protocol === 'http:') execute.push(allowInsecureRequests);
    const metadata = {
      [clockTolerance]: TOLERANCE_S,
      ...(clientSecret === null ? {} : { client_secret: clientSecret }),
    };
    const authentication = clientSecret === null ? None() : undefined;
    return discovery(url, clientId, metadata, authentication, { execute, timeout: TIMEOUT_S });
  }
}

/** Returns the rights of all values of the claim, which is one value or a list. */
function rightsOf({ byValue }: RightsOfClaim, claim: unknown): readonly StaffRight[] {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return [
    ...new Set(
      values.flatMap((value) => (typeof value === 'string' ? (byValue.get(value) ?? []) : [])),
    ),
  ];
}

/** Whether the provider is unavailable: a broken connection, a timeout or a 5xx. */
function isProviderUnavailable(failure: unknown): boolean {
  if (!(failure instanceof Error)) return false;
  const { cause } = failure;
  if (cause instanceof Response) return cause.status >= 500;
  if ('status' in failure && typeof failure.status === 'number') return failure.status >= 500;
  return failure instanceof TypeError || ('code' in failure && failure.code === 'OAUTH_TIMEOUT');
}
